SELECT * FROM {{ ref('flink_right_table') }}
