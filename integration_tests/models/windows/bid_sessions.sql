{{ config(materialized='table', meta={'sql_dialect': 'flink'}) }}
SELECT bidder, window_start, window_end, COUNT(*) AS bids, SUM(price) AS total
FROM SESSION(TABLE {{ ref('bids') }} PARTITION BY bidder, DESCRIPTOR(bidtime), INTERVAL '2' MINUTES)
GROUP BY bidder, window_start, window_end
