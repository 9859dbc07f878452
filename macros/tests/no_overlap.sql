{% test no_overlap(model, partition_by=none, window_start='window_start', window_end='window_end') %}
  {%- do adapter.dispatch('sparkstream_check_arguments', 'sparkstream')(
    'no_overlap', kwargs, ['model', 'partition_by', 'window_start', 'window_end'], varargs
  ) if execute -%}
  {{- return(adapter.dispatch('test_no_overlap', 'sparkstream')(
    model, partition_by, window_start, window_end
  ) if execute else '') -}}
{% endtest %}

{% macro default__test_no_overlap(model, partition_by, window_start, window_end) %}
  {%- set column = adapter.dispatch('sparkstream_column', 'sparkstream') -%}
  {%- set start = column(window_start, 'no_overlap', 'window_start') -%}
  {%- set end = column(window_end, 'no_overlap', 'window_end') -%}
  {%- set keys = adapter.dispatch('sparkstream_keys', 'sparkstream')(partition_by, 'no_overlap') -%}
SELECT *
FROM (
  SELECT
    *,
    max({{ end }}) OVER (
      {{ 'PARTITION BY ' ~ keys | join(', ') ~ ' ' if keys }}ORDER BY {{ start }}, {{ end }}
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS earlier_window_end
  FROM {{ model }}
  WHERE {{ start }} IS NOT NULL AND {{ end }} IS NOT NULL
)
WHERE earlier_window_end > {{ start }}
{% endmacro %}
