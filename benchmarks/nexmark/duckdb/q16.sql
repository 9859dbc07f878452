select
    channel,
    day,
    max(minute) as minute,
    count(*) as total_bids,
    sum((rank = 1)::bigint) as rank1_bids,
    sum((rank = 2)::bigint) as rank2_bids,
    sum((rank = 3)::bigint) as rank3_bids,
    len(list_distinct(list(bidder))) as total_bidders,
    coalesce(len(list_distinct(list(bidder) filter (rank = 1))), 0) as rank1_bidders,
    coalesce(len(list_distinct(list(bidder) filter (rank = 2))), 0) as rank2_bidders,
    coalesce(len(list_distinct(list(bidder) filter (rank = 3))), 0) as rank3_bidders,
    len(list_distinct(list(auction))) as total_auctions,
    coalesce(len(list_distinct(list(auction) filter (rank = 1))), 0) as rank1_auctions,
    coalesce(len(list_distinct(list(auction) filter (rank = 2))), 0) as rank2_auctions,
    coalesce(len(list_distinct(list(auction) filter (rank = 3))), 0) as rank3_auctions
from ranked
group by channel, day
