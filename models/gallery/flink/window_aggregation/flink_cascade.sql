SELECT window_start, window_end, SUM(partial_price) AS total_price
FROM {{ tumble(ref('flink_cascade_view'), 'rowtime', '10 minutes') }}
GROUP BY window_start, window_end
