{% test window_aligned(
  model, size, slide=none, step=none, offset=none, window_start='window_start', window_end='window_end'
) %}
  {%- do adapter.dispatch('sparkstream_check_arguments', 'sparkstream')(
    'window_aligned', kwargs, ['model', 'size', 'slide', 'step', 'offset', 'window_start', 'window_end'], varargs
  ) if execute -%}
  {{- return(adapter.dispatch('test_window_aligned', 'sparkstream')(
    model, size, slide, step, offset, window_start, window_end
  ) if execute else '') -}}
{% endtest %}

{% macro default__test_window_aligned(model, size, slide, step, offset, window_start, window_end) %}
  {%- set column = adapter.dispatch('sparkstream_column', 'sparkstream') -%}
  {%- set beyond = adapter.dispatch('sparkstream_beyond', 'sparkstream') -%}
  {%- set written = adapter.dispatch('sparkstream_written', 'sparkstream') -%}
  {%- set window = adapter.dispatch('sparkstream_tested_window', 'sparkstream')(
    'window_aligned', size, slide, step, offset
  ) -%}
  {%- set start = column(window_start, 'window_aligned', 'window_start') -%}
  {%- set end = column(window_end, 'window_aligned', 'window_end') -%}
  {%- set size = written(window.size, literal=true) -%}
  {#- Where clocks go forward, a bound in the hour that isn't there stands an hour later. Read with the clock of
      day before, it is where it was meant to be. -#}
  {%- set bounds = {'__start': start, '__end': end} -%}
  {%- set starts_there, fits = [], [] -%}
  {%- for clock in ['', '_before'] -%}
    {%- set begin = '__start' ~ clock -%}
    {%- set there = begin ~ ' = ' ~ start ~ ' AND ' ~ beyond(begin, window.every, window.offset) ~ ' = 0' -%}
    {%- do starts_there.append('(' ~ there ~ ')') -%}
    {%- if window.step -%}
      {%- for end_clock in ['', '_before'] -%}
        {%- set stop = '__end' ~ end_clock -%}
        {%- do fits.append(
          '(' ~ there ~ ' AND ' ~ stop ~ ' = ' ~ end ~ ' AND ' ~ beyond(stop, window.step, window.offset) ~ ' = 0'
          ~ ' AND ' ~ stop ~ ' > ' ~ begin ~ ' AND ' ~ stop ~ ' <= ' ~ begin ~ ' + ' ~ size ~ ')'
        ) -%}
      {%- endfor -%}
    {%- else -%}
      {%- do fits.append('(' ~ there ~ ' AND ' ~ begin ~ ' + ' ~ size ~ ' = ' ~ end ~ ')') -%}
    {%- endif -%}
  {%- endfor -%}
SELECT
  CASE
    WHEN {{ start }} IS NULL OR {{ end }} IS NULL THEN 'a bound is NULL'
    WHEN NOT ({{ starts_there | join(' OR ') }}) THEN 'no window begins here'
    ELSE 'no window that begins here ends there'
  END AS fault,
  * EXCEPT (__start, __start_before, __end, __end_before)
FROM (
  SELECT
    *
    {%- for name, bound in bounds.items() %},
    CAST({{ bound }} AS TIMESTAMP_NTZ) AS {{ name }},
    CAST({{ bound }} - INTERVAL '12' HOUR AS TIMESTAMP_NTZ) + INTERVAL '12' HOUR AS {{ name }}_before
    {%- endfor %}
  FROM {{ model }}
)
WHERE NOT coalesce({{ fits | join('\n  OR ') }}, FALSE)
{% endmacro %}
