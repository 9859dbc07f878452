{% macro tumble(relation, timecol, size, offset=none) -%}
  {%- if not execute -%}{{ return('') }}{%- endif -%}
  {%- do adapter.dispatch('sparkstream_check_arguments', 'sparkstream')(
    'tumble', kwargs, ['relation', 'timecol', 'size', 'offset'], varargs
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
  {%- set comment = adapter.dispatch('sparkstream_window_comment', 'sparkstream') -%}
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
  {{ return(adapter.dispatch('sparkstream_tumble_query', 'sparkstream')(
    comment('tumble: windows of ' ~ written(size), timecol, offset), relation, timecol, size, offset
  )) }}
{%- endmacro %}
