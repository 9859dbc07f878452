-- What does a table on the side say of each bid? (join with a bounded table; it does not change while the query runs,
-- so it needs no FOR SYSTEM_TIME AS OF)
SELECT B.auction, B.bidder, B.price, B.`dateTime`, S.`value`
FROM {{ ref('bid') }} AS B
INNER JOIN {{ ref('side_input') }} AS S ON S.key = MOD(B.auction, 10000)
