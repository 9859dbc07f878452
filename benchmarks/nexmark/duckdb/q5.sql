-- A bid is in the five windows that end 2 to 10 seconds after the start of its two seconds.
with counts as (
    select epoch_ms(dateTime) // 2000 * 2000 + 2000 * n as window_end, auction, count(*) as num
    from bid, range(1, 6) as windows(n)
    group by all
)
select
    make_timestamp_ms(window_end - 10000) as window_start,
    make_timestamp_ms(window_end) as window_end,
    auction,
    num
from counts
qualify rank() over (partition by counts.window_end order by num desc) = 1
