{# Computes the last day anew. #}
{{ config(materialized='incremental', incremental_strategy='insert_overwrite', partition_by='day') }}
{% call sparkstream.window_sql(dialect='flink') %}
SELECT window_start, window_end, COUNT(*) AS bids, SUM(price) AS total, CAST(window_start AS DATE) AS `day`
FROM HOP(TABLE {{ ref('bids') }}, DESCRIPTOR(bidtime), INTERVAL '5' MINUTES, INTERVAL '10' MINUTES)
WHERE window_end <= TIMESTAMP '{{ var('until') }}'
{% if is_incremental() %}
  AND CAST(window_start AS DATE) >= (SELECT MAX(`day`) FROM {{ this }})
{% endif %}
GROUP BY window_start, window_end
{% endcall %}
