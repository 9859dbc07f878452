{{ config(sql_dialect='flink') }}
SELECT *
FROM (
    SELECT * FROM TABLE(TUMBLE(TABLE {{ ref('flink_left_table') }}, DESCRIPTOR(row_time), INTERVAL '5' MINUTES))
) L WHERE L.num NOT IN (
  SELECT num FROM (
    SELECT * FROM TABLE(TUMBLE(TABLE {{ ref('flink_right_table') }}, DESCRIPTOR(row_time), INTERVAL '5' MINUTES))
  ) R WHERE L.window_start = R.window_start AND L.window_end = R.window_end)
