select
    auction,
    day,
    count(*) as total_bids,
    sum((rank = 1)::bigint) as rank1_bids,
    sum((rank = 2)::bigint) as rank2_bids,
    sum((rank = 3)::bigint) as rank3_bids,
    min(price) as min_price,
    max(price) as max_price,
    cast(sum(price) // count(*) as bigint) as avg_price,
    cast(sum(price) as bigint) as sum_price
from ranked
group by auction, day
