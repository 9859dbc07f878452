SELECT
    id, itemName, description, initialBid, reserve, `dateTime`, expires, seller, category, extra,
    auction, bidder, price, bid_dateTime, bid_extra
FROM (
    SELECT *, ROW_NUMBER() OVER (PARTITION BY id ORDER BY price DESC, bid_dateTime) AS place
    FROM {{ ref('offers') }}
) AS placed
WHERE place = 1
