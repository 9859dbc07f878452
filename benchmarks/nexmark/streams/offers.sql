-- The bids on each auction while it was open: what queries 4, 6 and 9 are about. No auction is open for more than an
-- hour; without this bound a stream would have to keep every auction that ever was.
SELECT
    A.id, A.itemName, A.description, A.initialBid, A.reserve, A.`dateTime`, A.expires, A.seller, A.category, A.extra,
    B.auction, B.bidder, B.price, B.`dateTime` AS bid_dateTime, B.extra AS bid_extra
FROM {{ ref('auction') }} AS A
INNER JOIN {{ ref('bid') }} AS B
    ON B.auction = A.id
    AND B.`dateTime` BETWEEN A.`dateTime` AND A.expires
    AND B.`dateTime` <= A.`dateTime` + INTERVAL '1' HOUR
