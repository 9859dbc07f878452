{% call window_sql(dialect='flink') %}
SELECT window_start, window_end, SUM(partial_price) AS total_price
FROM TUMBLE(TABLE {{ ref('flink_cascade_view__window_sql') }}, DESCRIPTOR(rowtime), INTERVAL '10' MINUTES)
GROUP BY window_start, window_end
{% endcall %}
