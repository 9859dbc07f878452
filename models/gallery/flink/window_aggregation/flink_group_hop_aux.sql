SELECT supplier_id, HOP_START(bidtime, INTERVAL '5' MINUTE, INTERVAL '10' MINUTE) AS ws, HOP_END(bidtime, INTERVAL '5' MINUTE, INTERVAL '10' MINUTE) AS we, HOP_ROWTIME(bidtime, INTERVAL '5' MINUTE, INTERVAL '10' MINUTE) AS wr, SUM(price) AS total_price
FROM {{ ref('flink_bid') }} GROUP BY supplier_id, HOP(bidtime, INTERVAL '5' MINUTE, INTERVAL '10' MINUTE)
