{% macro hop(relation, timecol, slide, size, offset=none) -%}
  {%- if not execute -%}{{ return('') }}{%- endif -%}
  {%- do adapter.dispatch('sparkstream_check_arguments', 'sparkstream')(
    'hop', kwargs, ['relation', 'timecol', 'slide', 'size', 'offset'], varargs
  ) -%}
  {%- set increment = adapter.dispatch('sparkstream_increment', 'sparkstream')(
    'hop', relation, timecol, size=size, slide=slide, offset=offset
  ) -%}
  {%- set sql = adapter.dispatch('hop', 'sparkstream')(increment.relation, timecol, slide, size, offset) -%}
  {{ return(adapter.dispatch('sparkstream_incremental', 'sparkstream')(sql, increment)) }}
{%- endmacro %}

{% macro sparkstream__hop(relation, timecol, slide, size, offset=none) -%}
  {%- set window_function = adapter.dispatch('sparkstream_window_function', 'sparkstream') -%}
  {{ return(window_function('hop', relation, timecol, [('slide', slide), ('size', size), ('offset', offset)])) }}
{%- endmacro %}

{% macro default__hop(relation, timecol, slide, size, offset=none) -%}
  {%- set interval = adapter.dispatch('sparkstream_interval', 'sparkstream') -%}
  {%- set written = adapter.dispatch('sparkstream_written', 'sparkstream') -%}
  {%- set comment = adapter.dispatch('sparkstream_window_comment', 'sparkstream') -%}
  {%- set relation = adapter.dispatch('sparkstream_relation', 'sparkstream')(relation, 'hop') -%}
  {%- set timecol = adapter.dispatch('sparkstream_column', 'sparkstream')(timecol, 'hop', 'timecol') -%}
  {%- set slide = interval(slide, 'hop', 'slide', positive=true) -%}
  {%- set size = interval(size, 'hop', 'size', positive=true) -%}
  {%- set offset = 0 if offset is none else interval(offset, 'hop', 'offset') -%}
  {%- do adapter.dispatch('sparkstream_check_windows', 'sparkstream')('hop', 'slide', slide, size) -%}
  {%- if slide > size -%}
    {%- do exceptions.warn(
      "hop(..., slide, size): the slide '" ~ written(slide) ~ "' is longer than the size '" ~ written(size)
      ~ "', so rows between two windows are in none"
      ~ "\n  if you mean windows of " ~ written(slide) ~ " every " ~ written(size) ~ ", write hop(..., '"
      ~ written(size) ~ "', '" ~ written(slide) ~ "')"
    ) -%}
  {%- endif -%}
  {{ return(adapter.dispatch('sparkstream_hop_query', 'sparkstream')(
    comment('hop: windows of ' ~ written(size) ~ ' every ' ~ written(slide), timecol, offset),
    relation, timecol, slide, size, offset
  )) }}
{%- endmacro %}
