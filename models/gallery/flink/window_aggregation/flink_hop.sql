SELECT window_start, window_end, SUM(price) AS total_price
FROM {{ hop(ref('flink_bid'), 'bidtime', '5 minutes', '10 minutes') }}
GROUP BY window_start, window_end
