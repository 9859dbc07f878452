SELECT order_id, SUM(amount) OVER (PARTITION BY product ORDER BY order_time RANGE BETWEEN INTERVAL '30' MINUTE PRECEDING AND CURRENT ROW) AS s
FROM {{ ref('flink_product_orders') }}
