SELECT supplier_id, TUMBLE_START(bidtime, INTERVAL '10' MINUTE) AS ws, TUMBLE_END(bidtime, INTERVAL '10' MINUTE) AS we, TUMBLE_ROWTIME(bidtime, INTERVAL '10' MINUTE) AS wr, SUM(price) AS total_price
FROM {{ ref('flink_bid') }} GROUP BY supplier_id, TUMBLE(bidtime, INTERVAL '10' MINUTE)
