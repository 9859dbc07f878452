select * from {{ ref('flink_windows') }}
