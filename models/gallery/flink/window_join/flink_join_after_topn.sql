SELECT L.id AS l_id, R.id AS r_id, window_start
FROM {{ window_join(
    window_top_n(tumble(ref('flink_left_table'), 'row_time', '5 minutes'), 1, order_by='num desc'),
    window_top_n(tumble(ref('flink_right_table'), 'row_time', '5 minutes'), 1, order_by='num desc')) }}
