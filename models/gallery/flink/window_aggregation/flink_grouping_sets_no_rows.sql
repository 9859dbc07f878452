SELECT window_start, window_end, supplier_id, SUM(price) AS total_price
FROM {{ tumble(ref('flink_bid_without_rows'), 'bidtime', '10 minutes') }}
GROUP BY window_start, window_end, GROUPING SETS ((supplier_id), ())
