-- Bids on items of category 10, with the item. (join and filter)
SELECT
    B.auction, B.bidder, B.price, B.channel, B.url, B.`dateTime` AS bid_dateTime, B.extra AS bid_extra,
    A.itemName, A.description, A.initialBid, A.reserve, A.`dateTime` AS auction_dateTime, A.expires, A.seller,
    A.category, A.extra AS auction_extra
FROM {{ ref('bid') }} AS B
INNER JOIN {{ ref('auction') }} AS A ON A.id = B.auction
WHERE A.category = 10
