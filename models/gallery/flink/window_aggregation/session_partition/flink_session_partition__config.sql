{{ config(sql_dialect='flink') }}
SELECT window_start, window_end, supplier_id, SUM(price) AS total_price
FROM SESSION(TABLE {{ ref('flink_bid') }} PARTITION BY supplier_id, DESCRIPTOR(bidtime), INTERVAL '2' MINUTES)
GROUP BY window_start, window_end, supplier_id
