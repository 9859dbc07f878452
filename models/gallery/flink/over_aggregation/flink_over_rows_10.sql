SELECT order_id, SUM(amount) OVER (PARTITION BY product ORDER BY order_time ROWS BETWEEN 10 PRECEDING AND CURRENT ROW) AS s
FROM {{ ref('flink_product_orders_14') }}
