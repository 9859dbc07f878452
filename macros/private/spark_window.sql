{#- Spark's window() over the wall clock of a time column; not part of the package's interface.
    It takes no offset of a whole size or more, nor below zero; windows repeat every size, so the remainder will do.
    size, offset: microseconds. -#}
{% macro default__sparkstream_spark_window(timecol, size, offset=0) %}
  {%- set written = adapter.dispatch('sparkstream_written', 'sparkstream') -%}
  {%- set length = "'" ~ written(size) ~ "'" -%}
  {%- set start = ", " ~ length ~ ", '" ~ written(offset % size) ~ "'" if offset % size else '' -%}
  {{ return('window(CAST(' ~ timecol ~ ' AS TIMESTAMP_NTZ), ' ~ length ~ start ~ ')') }}
{% endmacro %}

{#- The comment above a window's SQL: which window it is. -#}
{% macro default__sparkstream_comment(text, offset, timecol, keys=[]) %}
  {%- set written = adapter.dispatch('sparkstream_written', 'sparkstream') -%}
  {%- set shift = ', offset ' ~ ('-' if offset < 0 else '') ~ written(offset | abs) if offset else '' -%}
  {%- set per = ', per ' ~ keys | join(', ') if keys else '' -%}
  {%- set on = (timecol ~ per).replace('*/', '* /').replace('/*', '/ *') -%}
  {{ return('/* ' ~ text ~ shift ~ ' on ' ~ on ~ ' */') }}
{% endmacro %}

{#- Whether the session's clock shows UTC, so that it never skips an hour: Spark knows before it runs anything. -#}
{% macro default__sparkstream_shows_utc() %}
  {{ return("current_timezone() IN ('UTC', 'Etc/UTC', 'GMT')") }}
{% endmacro %}
