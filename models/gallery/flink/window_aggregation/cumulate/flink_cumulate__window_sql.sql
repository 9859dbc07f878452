{% call window_sql(dialect='flink') %}
SELECT window_start, window_end, SUM(price) AS total_price
FROM CUMULATE(TABLE {{ ref('flink_bid') }}, DESCRIPTOR(bidtime), INTERVAL '2' MINUTES, INTERVAL '10' MINUTES)
GROUP BY window_start, window_end
{% endcall %}
