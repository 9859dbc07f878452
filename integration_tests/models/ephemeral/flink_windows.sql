{{ config(materialized='ephemeral', meta={'sql_dialect': 'flink'}) }}
SELECT window_start, window_end, COUNT(*) AS bids, SUM(price) AS total
FROM TUMBLE(TABLE {{ ref('timed_bids') }}, DESCRIPTOR(bidtime), INTERVAL '10' MINUTES)
GROUP BY window_start, window_end
