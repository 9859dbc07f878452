{% call window_sql(dialect='flink') %}
SELECT * FROM {{ ref('flink_left_table') }}
{% endcall %}
