WITH winners AS (
    SELECT id, seller, expires, price
    FROM (
        SELECT *, ROW_NUMBER() OVER (PARTITION BY id ORDER BY price DESC, bid_dateTime) AS place
        FROM {{ ref('offers') }}
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
