{% test window_complete(
  model, size, slide=none, step=none, offset=none, partition_by=none, span='key', since=none, until=none,
  window_end='window_end'
) %}
  {%- do adapter.dispatch('sparkstream_check_arguments', 'sparkstream')(
    'window_complete', kwargs, ['model', 'size', 'slide', 'step', 'offset', 'partition_by', 'span', 'since', 'until', 'window_end'], varargs
  ) if execute -%}
  {{- return(adapter.dispatch('test_window_complete', 'sparkstream')(
    model, size, slide, step, offset, partition_by, span, since, until, window_end
  ) if execute else '') -}}
{% endtest %}

{% macro default__test_window_complete(
  model, size, slide, step, offset, partition_by, span, since, until, window_end
) %}
  {%- set tested_window = adapter.dispatch('sparkstream_tested_window', 'sparkstream') -%}
  {%- set floor = adapter.dispatch('sparkstream_floor', 'sparkstream') -%}
  {%- set written = adapter.dispatch('sparkstream_written', 'sparkstream') -%}
  {%- if span not in ['key', 'model'] -%}
    {{ exceptions.raise_compiler_error("window_complete knows no span '" ~ span ~ "'\n  write span: key or span: model") }}
  {%- endif -%}
  {%- set window = tested_window('window_complete', size, slide, step, offset) -%}
  {%- set end = adapter.dispatch('sparkstream_column', 'sparkstream')(window_end, 'window_complete', 'window_end') -%}
  {%- set keys = adapter.dispatch('sparkstream_keys', 'sparkstream')(partition_by, 'window_complete') -%}
  {%- set key_list = adapter.dispatch('sparkstream_key_list', 'sparkstream')(keys) -%}
  {%- set period, origin = window.period, window.origin -%}
  {%- set one_period = written(period, literal=true) -%}
  {%- set conditions = [end ~ ' IS NOT NULL'] -%}
  {#- Ends of windows that aren't there: the one before the first that has to be, and the one after the last. -#}
  {%- set before, after = [], [] -%}
  {%- set moment = adapter.dispatch('sparkstream_moment', 'sparkstream') -%}
  {%- if since is not none -%}
    {%- set since = moment(since, 'window_complete', 'since') -%}
    {%- do conditions.append(end ~ ' > ' ~ since) -%}
    {%- do before.append(floor(since, period, origin)) -%}
  {%- elif span == 'model' -%}
    {%- do before.append(floor('(SELECT min(__end) FROM windows)', period, origin) ~ ' - ' ~ one_period) -%}
  {%- endif -%}
  {%- if until is not none -%}
    {%- set until = moment(until, 'window_complete', 'until') -%}
    {%- do conditions.append(end ~ ' <= ' ~ until) -%}
    {%- do after.append(floor(until, period, origin) ~ ' + ' ~ one_period) -%}
  {%- elif span == 'model' -%}
    {%- do after.append(floor('(SELECT max(__end) FROM windows)', period, origin) ~ ' + ' ~ one_period) -%}
  {%- endif -%}
WITH windows AS (
  SELECT DISTINCT {{ key_list }}{{ end }} AS __end
  FROM {{ model }}
  WHERE {{ conditions | join(' AND ') }}
),
ends AS (
  SELECT {{ key_list }}__end FROM windows
  {%- for outside in before + after %}
  UNION ALL
  SELECT {{ key_list }}{{ outside }}
    {%- if keys %} FROM (SELECT DISTINCT {{ keys | join(', ') }} FROM {{ model }}){% endif %}
  {%- endfor %}
),
chain AS (
  SELECT *, lead(__end) OVER ({{ 'PARTITION BY ' ~ keys | join(', ') ~ ' ' if keys }}ORDER BY __end) AS __next
  FROM ends
)
SELECT
  {{ key_list }}__end AS after_window_end,
  __next AS before_window_end,
  ({{ floor('__next', period, origin) }} - ({{ floor('__end', period, origin) }})) DIV {{ one_period }} - 1 AS missing
FROM chain
WHERE __next > {{ floor('__end', period, origin) }} + {{ one_period }}
{% endmacro %}
