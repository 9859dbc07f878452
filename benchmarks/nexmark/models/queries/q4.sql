-- What does an item of each category go for on average? (join over the time an auction is open, two aggregations,
-- AVG of BIGINT is BIGINT)
SELECT category, AVG(final) AS average
FROM (
    SELECT A.id, A.category, MAX(B.price) AS final
    FROM {{ ref('auction') }} AS A
    INNER JOIN {{ ref('bid') }} AS B
        ON B.auction = A.id AND B.`dateTime` BETWEEN A.`dateTime` AND A.expires
    GROUP BY A.id, A.category
) AS sold
GROUP BY category
