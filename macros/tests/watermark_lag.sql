{% test watermark_lag(model, max_lag, source=none, timecol=none, partition_by=none, window_end='window_end') %}
  {%- do adapter.dispatch('sparkstream_check_arguments', 'sparkstream')(
    'watermark_lag', kwargs, ['model', 'max_lag', 'source', 'timecol', 'partition_by', 'window_end'], varargs
  ) if execute -%}
  {{- return(adapter.dispatch('test_watermark_lag', 'sparkstream')(
    model, max_lag, source, timecol, partition_by, window_end
  ) if execute else '') -}}
{% endtest %}

{% macro default__test_watermark_lag(model, max_lag, source, timecol, partition_by, window_end) %}
  {%- set column = adapter.dispatch('sparkstream_column', 'sparkstream') -%}
  {%- set written = adapter.dispatch('sparkstream_written', 'sparkstream') -%}
  {%- set max_lag = adapter.dispatch('sparkstream_interval', 'sparkstream')(max_lag, 'watermark_lag', 'max_lag') -%}
  {%- set end = column(window_end, 'watermark_lag', 'window_end') -%}
  {%- set keys = adapter.dispatch('sparkstream_keys', 'sparkstream')(partition_by, 'watermark_lag') -%}
  {%- set key_list = adapter.dispatch('sparkstream_key_list', 'sparkstream') -%}
  {%- if (source is none) != (timecol is none) -%}
    {{ exceptions.raise_compiler_error(
      "watermark_lag has a source or a timecol, but not both"
      ~ "\n  write source: ref('...') and timecol: ..., or neither to compare with the clock"
    ) }}
  {%- endif -%}
  {%- set group = ' GROUP BY ' ~ keys | join(', ') if keys else '' -%}
WITH windows AS (
  SELECT {{ key_list(keys) }}max({{ end }}) AS latest_window_end FROM {{ model }}{{ group }}
),
latest AS (
  {%- if source is none %}
  SELECT *, coalesce(localtimestamp(), latest_window_end) AS latest_time FROM windows
  {%- else %}
  {%- set timecol = column(timecol, 'watermark_lag', 'timecol') %}
  {%- set on = [] %}
  {%- for key in keys %}{%- do on.append('rows.' ~ key ~ ' <=> windows.' ~ key) -%}{%- endfor %}
  SELECT rows.*, windows.latest_window_end
  FROM (SELECT {{ key_list(keys) }}max({{ timecol }}) AS latest_time FROM {{ source }}{{ group }}) AS rows
  LEFT JOIN windows ON {{ on | join(' AND ') or 'TRUE' }}
  {%- endif %}
)
SELECT {{ key_list(keys) }}latest_time, latest_window_end, latest_time - latest_window_end AS lag
FROM latest
WHERE latest_time IS NOT NULL
  AND coalesce(latest_time - latest_window_end > {{ written(max_lag, literal=true) }}, TRUE)
{% endmacro %}
