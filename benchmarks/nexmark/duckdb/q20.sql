with items as (from auction where category = 10)
from bid
join items on items.id = bid.auction
select
    bid.auction, bidder, price, channel, url, bid.dateTime as bid_dateTime, bid.extra as bid_extra,
    itemName, description, initialBid, reserve, items.dateTime as auction_dateTime, expires, seller, category,
    items.extra as auction_extra
