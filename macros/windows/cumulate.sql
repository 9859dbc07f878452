{% macro cumulate(relation, timecol, step, size, offset=none) -%}
  {%- if not execute -%}{{ return('') }}{%- endif -%}
  {%- do adapter.dispatch('sparkstream_check_arguments', 'sparkstream')(
    'cumulate', kwargs, ['relation', 'timecol', 'step', 'size', 'offset'], varargs
  ) -%}
  {%- set increment = adapter.dispatch('sparkstream_increment', 'sparkstream')(
    'cumulate', relation, timecol, size=size, step=step, offset=offset
  ) -%}
  {%- set sql = adapter.dispatch('cumulate', 'sparkstream')(increment.relation, timecol, step, size, offset) -%}
  {{ return(adapter.dispatch('sparkstream_incremental', 'sparkstream')(sql, increment)) }}
{%- endmacro %}

{% macro sparkstream__cumulate(relation, timecol, step, size, offset=none) -%}
  {%- set window_function = adapter.dispatch('sparkstream_window_function', 'sparkstream') -%}
  {{ return(window_function('cumulate', relation, timecol, [('step', step), ('size', size), ('offset', offset)])) }}
{%- endmacro %}

{% macro default__cumulate(relation, timecol, step, size, offset=none) -%}
  {%- set interval = adapter.dispatch('sparkstream_interval', 'sparkstream') -%}
  {%- set written = adapter.dispatch('sparkstream_written', 'sparkstream') -%}
  {%- set comment = adapter.dispatch('sparkstream_window_comment', 'sparkstream') -%}
  {%- set relation = adapter.dispatch('sparkstream_relation', 'sparkstream')(relation, 'cumulate') -%}
  {%- set timecol = adapter.dispatch('sparkstream_column', 'sparkstream')(timecol, 'cumulate', 'timecol') -%}
  {%- set step = interval(step, 'cumulate', 'step', positive=true) -%}
  {%- set size = interval(size, 'cumulate', 'size', positive=true) -%}
  {%- set offset = 0 if offset is none else interval(offset, 'cumulate', 'offset') -%}
  {%- do adapter.dispatch('sparkstream_check_windows', 'sparkstream')('cumulate', 'step', step, size) -%}
  {%- if size % step -%}
    {{ exceptions.raise_compiler_error(
      "cumulate's size (" ~ written(size) ~ ") must be a whole multiple of its step (" ~ written(step) ~ ")"
      ~ "\n  write a size such as '" ~ written([step, size - size % step] | max) ~ "'"
    ) }}
  {%- endif -%}
  {{ return(adapter.dispatch('sparkstream_cumulate_query', 'sparkstream')(
    comment('cumulate: windows that grow by ' ~ written(step) ~ ' up to ' ~ written(size), timecol, offset),
    relation, timecol, step, size, offset
  )) }}
{%- endmacro %}
