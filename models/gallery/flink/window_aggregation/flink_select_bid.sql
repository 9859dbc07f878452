SELECT * FROM {{ ref('flink_bid') }}
