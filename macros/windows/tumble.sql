{% macro tumble(relation, timecol, size, offset=none) -%}
  {%- if not execute -%}{{ return('') }}{%- endif -%}
  {%- do adapter.dispatch('sparkstream_check_arguments', 'sparkstream')(
    'tumble', kwargs, ['relation', 'timecol', 'size', 'offset']
  ) -%}
  {%- set increment = adapter.dispatch('sparkstream_increment', 'sparkstream')(
    'tumble', relation, timecol, size=size, offset=offset
  ) -%}
  {%- set sql = adapter.dispatch('tumble', 'sparkstream')(increment.relation, timecol, size, offset) -%}
  {{ return(adapter.dispatch('sparkstream_incremental', 'sparkstream')(sql, increment)) }}
{%- endmacro %}

{% macro sparkstream__tumble(relation, timecol, size, offset=none) -%}
  {%- set window_function = adapter.dispatch('sparkstream_window_function', 'sparkstream') -%}
  {{ return(window_function('tumble', relation, timecol, [('size', size), ('offset', offset)])) }}
{%- endmacro %}

{% macro default__tumble(relation, timecol, size, offset=none) -%}
  {%- set interval = adapter.dispatch('sparkstream_interval', 'sparkstream') -%}
  {%- set written = adapter.dispatch('sparkstream_written', 'sparkstream') -%}
  {%- set comment = adapter.dispatch('sparkstream_comment', 'sparkstream') -%}
  {%- set spark_window = adapter.dispatch('sparkstream_spark_window', 'sparkstream') -%}
  {%- set relation = adapter.dispatch('sparkstream_relation', 'sparkstream')(relation, 'tumble') -%}
  {%- set timecol = adapter.dispatch('sparkstream_column', 'sparkstream')(timecol, 'tumble', 'timecol') -%}
  {%- set size = interval(size, 'tumble', 'size', positive=true) -%}
  {%- set offset = 0 if offset is none else interval(offset, 'tumble', 'offset') -%}
  {%- if offset | abs >= size -%}
    {{ exceptions.raise_compiler_error(
      "tumble's offset must be smaller than its size, " ~ written(size)
      ~ "\n  write an offset between '-" ~ written(size) ~ "' and '" ~ written(size) ~ "'"
    ) }}
  {%- endif -%}
(
  {{ comment('tumble: windows of ' ~ written(size), offset, timecol) }}
  SELECT
    * EXCEPT (__window),
    coalesce(__window.start, {{ timecol }}) AS window_start,
    coalesce(__window.end, {{ timecol }}) AS window_end,
    coalesce(__window.end, {{ timecol }}) - INTERVAL '0.001' SECOND AS window_time
  FROM (
    SELECT *, {{ spark_window(timecol, size, offset) }} AS __window
    FROM {{ relation }}
  )
)
{%- endmacro %}
