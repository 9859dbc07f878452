SELECT *
FROM (
    SELECT * FROM << TUMBLE(TABLE {{ ref('flink_left_table') }}, DESCRIPTOR(row_time), INTERVAL '5' MINUTES) >>
) L WHERE EXISTS (
  SELECT * FROM (
    SELECT * FROM << TUMBLE(TABLE {{ ref('flink_right_table') }}, DESCRIPTOR(row_time), INTERVAL '5' MINUTES) >>
  ) R WHERE L.num = R.num AND L.window_start = R.window_start AND L.window_end = R.window_end)
