{% call window_sql(dialect='flink') %}
SELECT L.num as L_Num, L.id as L_Id, R.num as R_Num, R.id as R_Id, L.window_start, L.window_end
FROM (
    SELECT * FROM TABLE(TUMBLE(TABLE {{ ref('flink_left_table') }}, DESCRIPTOR(row_time), INTERVAL '5' MINUTES))
) L
JOIN (
    SELECT * FROM TABLE(TUMBLE(TABLE {{ ref('flink_right_table') }}, DESCRIPTOR(row_time), INTERVAL '5' MINUTES))
) R
ON L.num = R.num AND L.window_start = R.window_start AND L.window_end = R.window_end
{% endcall %}
