{{ config(sql_dialect='flink') }}
SELECT window_start, window_end, item, supplier_id, SUM(price) AS total_price
FROM TUMBLE(TABLE {{ ref('flink_bid') }}, DESCRIPTOR(bidtime), INTERVAL '10' MINUTES)
GROUP BY window_start, window_end, CUBE (supplier_id, item)
