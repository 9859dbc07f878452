SELECT *
FROM {{ window_join(
    tumble(ref('flink_left_table'), 'row_time', '5 minutes'),
    tumble(ref('flink_right_table'), 'row_time', '5 minutes'),
    on='num', type='semi') }}
