SELECT * FROM {{ ref('flink_left_table') }}
