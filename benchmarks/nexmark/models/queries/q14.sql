-- Which bids are between 10,000 and 500,000 euros, at what time of day, and how often has their text a c? (arithmetic,
-- CASE, HOUR, text)
SELECT
    auction,
    bidder,
    0.908 * price AS price,
    CASE
        WHEN HOUR(`dateTime`) BETWEEN 8 AND 18 THEN 'dayTime'
        WHEN HOUR(`dateTime`) <= 6 OR HOUR(`dateTime`) >= 20 THEN 'nightTime'
        ELSE 'otherTime'
    END AS bidTimeType,
    `dateTime`,
    extra,
    CHAR_LENGTH(extra) - CHAR_LENGTH(REPLACE(extra, 'c', '')) AS c_counts
FROM {{ ref('bid') }}
WHERE 0.908 * price > 1000000 AND 0.908 * price < 50000000
