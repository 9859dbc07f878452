{{ config(sql_dialect='flink') }}
SELECT window_start, window_end, SUM(partial_price) AS total_price
FROM TUMBLE(TABLE {{ ref('flink_cascade_view__config') }}, DESCRIPTOR(rowtime), INTERVAL '10' MINUTES)
GROUP BY window_start, window_end
