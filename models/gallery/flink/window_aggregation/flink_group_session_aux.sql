SELECT supplier_id, SESSION_START(bidtime, INTERVAL '2' MINUTE) AS ws, SESSION_END(bidtime, INTERVAL '2' MINUTE) AS we, SESSION_ROWTIME(bidtime, INTERVAL '2' MINUTE) AS wr, SUM(price) AS total_price
FROM {{ ref('flink_bid') }} GROUP BY supplier_id, SESSION(bidtime, INTERVAL '2' MINUTE)
