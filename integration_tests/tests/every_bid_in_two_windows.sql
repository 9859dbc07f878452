{{ config(meta={'sql_dialect': 'flink'}) }}
SELECT id, COUNT(*) AS windows
FROM HOP(TABLE {{ ref('bids') }}, DESCRIPTOR(bidtime), INTERVAL '5' MINUTES, INTERVAL '10' MINUTES)
GROUP BY id
HAVING COUNT(*) <> 2
