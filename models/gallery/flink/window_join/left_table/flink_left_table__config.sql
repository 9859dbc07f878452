{{ config(sql_dialect='flink') }}
SELECT * FROM {{ ref('flink_left_table') }}
