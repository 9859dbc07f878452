SELECT window_start, window_end, supplier_id, SUM(price) AS total_price
FROM {{ session(ref('flink_bid'), 'bidtime', '2 minutes', partition_by='supplier_id') }}
GROUP BY window_start, window_end, supplier_id
