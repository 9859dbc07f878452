{{ config(meta={'sql_dialect': 'flink'}) }}
SELECT
  user,
  TUMBLE_START(order_time, INTERVAL '1' DAY) AS wStart,
  SUM(amount) FROM {{ ref('flink_orders') }}
GROUP BY
  TUMBLE(order_time, INTERVAL '1' DAY),
  user
