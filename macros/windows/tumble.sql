{% macro tumble(relation, timecol, size, offset=none) -%}
  {{ return(adapter.dispatch('tumble', 'sparkstream')(relation, timecol, size, offset) if execute else '') }}
{%- endmacro %}

{% macro sparkstream__tumble(relation, timecol, size, offset=none) -%}
  {{ return(sparkstream_window_function('tumble', relation, timecol, [('size', size), ('offset', offset)])) }}
{%- endmacro %}

{% macro default__tumble(relation, timecol, size, offset=none) -%}
  {%- set relation = sparkstream_relation(relation, 'tumble') -%}
  {%- set timecol = sparkstream_column(timecol, 'tumble', 'timecol') -%}
  {%- set size = sparkstream_positive_interval(size, 'tumble', 'size') -%}
  {%- set offset = 0 if offset is none else sparkstream_interval(offset, 'tumble', 'offset') -%}
  {%- if offset | abs >= size -%}
    {%- set longest = sparkstream_interval_words(size) -%}
    {{ exceptions.raise_compiler_error(
      "tumble's offset must be smaller than its size, " ~ longest
      ~ "\n  write an offset between '-" ~ longest ~ "' and '" ~ longest ~ "'"
    ) }}
  {%- endif -%}
  {{ return(sparkstream_tumble_query(relation, timecol, size, offset)) }}
{%- endmacro %}

{#- Private. size, offset: microseconds. -#}
{% macro sparkstream_tumble_query(relation, timecol, size, offset) -%}
(
  /* tumble: windows of {{ sparkstream_interval_words(size) }}{{ sparkstream_offset_words(offset) }} on {{ sparkstream_in_comment(timecol) }} */
  SELECT
    * EXCEPT (__window),
    coalesce(__window.start, {{ timecol }}) AS window_start,
    coalesce(__window.end, {{ timecol }}) AS window_end,
    coalesce(__window.end - INTERVAL '0.001' SECOND, {{ timecol }}) AS window_time
  FROM (
    SELECT *, {{ sparkstream_spark_window(timecol, size, offset) }} AS __window
    FROM {{ relation }}
  )
)
{%- endmacro %}
