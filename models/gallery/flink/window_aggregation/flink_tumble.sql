SELECT window_start, window_end, SUM(price) AS total_price
FROM {{ tumble(ref('flink_bid'), 'bidtime', '10 minutes') }}
GROUP BY window_start, window_end
