SELECT J.lid, J.rid, X.id AS xid
FROM (SELECT L.id AS lid, R.id AS rid, L.window_start, L.window_end FROM (SELECT * FROM {{ tumble(ref('flink_left_table'), 'row_time', '5 minutes') }}) L JOIN (SELECT * FROM {{ tumble(ref('flink_right_table'), 'row_time', '5 minutes') }}) R ON L.num = R.num AND L.window_start = R.window_start AND L.window_end = R.window_end) J
LEFT JOIN (SELECT * FROM {{ tumble(ref('flink_left_table'), 'row_time', '5 minutes') }}) X
ON X.window_start = J.window_start AND X.window_end = J.window_end
