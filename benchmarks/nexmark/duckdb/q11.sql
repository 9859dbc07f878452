-- A bid begins a session if its bidder's bid before is more than ten seconds away; at ten seconds, Flink's sessions
-- touch, and are one.
with marked as (
    from bid
    select bidder, dateTime,
        coalesce(epoch_ms(dateTime) - epoch_ms(lag(dateTime) over bids) > 10000, true) as begins
    window bids as (partition by bidder order by dateTime)
),
numbered as (
    from marked
    select *, count(*) filter (begins) over (partition by bidder order by dateTime) as number
)
select bidder, count(*) as bid_count, min(dateTime) as starttime, max(dateTime) + interval 10 seconds as endtime
from numbered
group by bidder, number
