SELECT L.num AS l_num, L.c AS l_c, R.num AS r_num, R.c AS r_c, L.window_start, R.window_end
FROM (SELECT num, window_start, window_end, COUNT(*) AS c FROM {{ tumble(ref('flink_left_table'), 'row_time', '5 minutes') }} GROUP BY num, window_start, window_end) L
FULL JOIN (SELECT num, window_start, window_end, COUNT(*) AS c FROM {{ tumble(ref('flink_right_table'), 'row_time', '5 minutes') }} GROUP BY num, window_start, window_end) R
ON L.num = R.num AND L.window_start = R.window_start AND L.window_end = R.window_end
