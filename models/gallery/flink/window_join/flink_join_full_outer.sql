SELECT L.num AS L_Num, L.id AS L_Id, R.num AS R_Num, R.id AS R_Id, L.window_start, L.window_end
FROM {{ window_join(
    tumble(ref('flink_left_table'), 'row_time', '5 minutes'),
    tumble(ref('flink_right_table'), 'row_time', '5 minutes'),
    on='num', type='full') }}
