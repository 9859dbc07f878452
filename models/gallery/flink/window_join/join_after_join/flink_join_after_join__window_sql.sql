{% call window_sql(dialect='flink') %}
SELECT J.lid, J.rid, X.id AS xid
FROM (SELECT L.id AS lid, R.id AS rid, L.window_start, L.window_end FROM (SELECT * FROM TABLE(TUMBLE(TABLE {{ ref('flink_left_table') }}, DESCRIPTOR(row_time), INTERVAL '5' MINUTES))) L JOIN (SELECT * FROM TABLE(TUMBLE(TABLE {{ ref('flink_right_table') }}, DESCRIPTOR(row_time), INTERVAL '5' MINUTES))) R ON L.num = R.num AND L.window_start = R.window_start AND L.window_end = R.window_end) J
LEFT JOIN (SELECT * FROM TABLE(TUMBLE(TABLE {{ ref('flink_left_table') }}, DESCRIPTOR(row_time), INTERVAL '5' MINUTES))) X
ON X.window_start = J.window_start AND X.window_end = J.window_end
{% endcall %}
