-- Which were the ten highest bids on each auction? (Top-N with the rank; the earlier of two equal bids goes first)
SELECT *
FROM (
    SELECT *, ROW_NUMBER() OVER (PARTITION BY auction ORDER BY price DESC, `dateTime`) AS rank_number
    FROM {{ ref('bid') }}
) AS placed
WHERE rank_number <= 10
