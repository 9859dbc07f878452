-- What did the last 10 auctions of a seller bring on average, each time one closes? (OVER with ROWS over the winning
-- bids; a stream can't take a winner back that OVER has seen, a table has the last winners only)
WITH winners AS (
    SELECT id, seller, expires, price
    FROM (
        SELECT A.id, A.seller, A.expires, B.price,
            ROW_NUMBER() OVER (PARTITION BY A.id ORDER BY B.price DESC, B.`dateTime`) AS place
        FROM {{ ref('auction') }} AS A
        INNER JOIN {{ ref('bid') }} AS B
            ON B.auction = A.id AND B.`dateTime` BETWEEN A.`dateTime` AND A.expires
    ) AS placed
    WHERE place = 1
)

SELECT
    seller,
    id,
    expires,
    AVG(price) OVER (
        PARTITION BY seller ORDER BY expires, id ROWS BETWEEN 9 PRECEDING AND CURRENT ROW
    ) AS average
FROM winners
