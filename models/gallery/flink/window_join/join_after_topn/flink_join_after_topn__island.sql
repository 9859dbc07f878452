SELECT L.id AS l_id, R.id AS r_id, L.window_start
FROM (SELECT num, id, window_start, window_end FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY num DESC) AS rn FROM << TUMBLE(TABLE {{ ref('flink_left_table') }}, DESCRIPTOR(row_time), INTERVAL '5' MINUTES) >>) WHERE rn = 1) L
JOIN (SELECT num, id, window_start, window_end FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY num DESC) AS rn FROM << TUMBLE(TABLE {{ ref('flink_right_table') }}, DESCRIPTOR(row_time), INTERVAL '5' MINUTES) >>) WHERE rn = 1) R
ON L.window_start = R.window_start AND L.window_end = R.window_end
