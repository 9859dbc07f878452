SELECT window_start, window_end, SUM(price) AS total_price
FROM {{ cumulate(ref('flink_bid'), 'bidtime', '2 minutes', '10 minutes') }}
GROUP BY window_start, window_end
