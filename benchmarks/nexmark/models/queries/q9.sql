-- Which bid won each auction? (Top-1 of a join)
SELECT
    id, itemName, description, initialBid, reserve, `dateTime`, expires, seller, category, extra,
    auction, bidder, price, bid_dateTime, bid_extra
FROM (
    SELECT
        A.*,
        B.auction, B.bidder, B.price, B.`dateTime` AS bid_dateTime, B.extra AS bid_extra,
        ROW_NUMBER() OVER (PARTITION BY A.id ORDER BY B.price DESC, B.`dateTime`) AS place
    FROM {{ ref('auction') }} AS A
    INNER JOIN {{ ref('bid') }} AS B
        ON B.auction = A.id AND B.`dateTime` BETWEEN A.`dateTime` AND A.expires
) AS placed
WHERE place <= 1
