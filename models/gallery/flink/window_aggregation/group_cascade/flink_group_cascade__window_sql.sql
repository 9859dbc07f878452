{% call window_sql(dialect='flink') %}
SELECT TUMBLE_START(rt, INTERVAL '10' MINUTE) AS ws, TUMBLE_END(rt, INTERVAL '10' MINUTE) AS we, SUM(p) AS total_price
FROM (SELECT TUMBLE_ROWTIME(bidtime, INTERVAL '5' MINUTE) AS rt, SUM(price) AS p FROM {{ ref('flink_bid') }} GROUP BY TUMBLE(bidtime, INTERVAL '5' MINUTE)) AS t
GROUP BY TUMBLE(rt, INTERVAL '10' MINUTE)
{% endcall %}
