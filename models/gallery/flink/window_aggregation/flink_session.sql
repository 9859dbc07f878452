SELECT window_start, window_end, SUM(price) AS total_price
FROM {{ session(ref('flink_bid'), 'bidtime', '2 minutes') }}
GROUP BY window_start, window_end
