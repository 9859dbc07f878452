{% macro over(
  call, partition_by=none, order_by=none, frame='rows', start='unbounded', end='current row',
  maxsize=none, exclude=none, union=none, instance_not_in_window=false
) -%}
  {%- do adapter.dispatch('sparkstream_check_arguments', 'sparkstream')(
    'over', kwargs, ['call', 'partition_by', 'order_by', 'frame', 'start', 'end', 'maxsize', 'exclude', 'union', 'instance_not_in_window'], varargs
  ) if execute -%}
  {{ return(adapter.dispatch('over', 'sparkstream')(
    call, partition_by, order_by, frame, start, end, maxsize, exclude, union, instance_not_in_window
  ) if execute else '') }}
{%- endmacro %}

{% macro sparkstream__over(
  call, partition_by, order_by, frame, start, end, maxsize, exclude, union, instance_not_in_window
) -%}
  {{ return(adapter.dispatch('sparkstream_over', 'sparkstream')(
    call, partition_by, order_by, frame, start, end, maxsize, exclude, union, instance_not_in_window
  ).sql) }}
{%- endmacro %}

{% macro default__over(
  call, partition_by, order_by, frame, start, end, maxsize, exclude, union, instance_not_in_window
) -%}
  {%- set window = adapter.dispatch('sparkstream_over', 'sparkstream')(
    call, partition_by, order_by, frame, start, end, maxsize, exclude, union, instance_not_in_window
  ) -%}
  {%- if window.ours -%}
    {%- do adapter.dispatch('sparkstream_needs_the_adapter', 'sparkstream')(
      "over's " ~ window.ours | join(', '),
      'Spark has no such frame, and the adapter ' ~ adapter.type() ~ " can't translate it",
      "write the frame in SQL and send statements through `sparkstream gateway`,"
      ~ "\n  or take a frame that Spark has: frame='rows' or frame='range'"
    ) -%}
  {%- endif -%}
  {{ return(window.sql) }}
{%- endmacro %}
