{% macro merge_ohlc(time='window_start', volume=false, prefix='') -%}
  {%- do adapter.dispatch('sparkstream_check_arguments', 'sparkstream')(
    'merge_ohlc', kwargs, ['time', 'volume', 'prefix'], varargs
  ) if execute -%}
  {{ return(adapter.dispatch('merge_ohlc', 'sparkstream')(time, volume, prefix) if execute else '') }}
{%- endmacro %}

{% macro default__merge_ohlc(time, volume, prefix) -%}
  {%- set ordered = adapter.dispatch('sparkstream_ordered', 'sparkstream') -%}
  {%- set name = adapter.dispatch('sparkstream_prefixed', 'sparkstream') -%}
  {%- set open, high = name('merge_ohlc', prefix, 'open'), name('merge_ohlc', prefix, 'high') -%}
  {%- set low, close = name('merge_ohlc', prefix, 'low'), name('merge_ohlc', prefix, 'close') -%}
  {%- set columns = [
    ordered('merge_ohlc', 'min', open, time) ~ ' AS ' ~ open,
    'max(' ~ high ~ ') AS ' ~ high,
    'min(' ~ low ~ ') AS ' ~ low,
    ordered('merge_ohlc', 'max', close, time) ~ ' AS ' ~ close
  ] -%}
  {%- if volume -%}
    {%- set name = name('merge_ohlc', prefix, 'volume') -%}
    {%- do columns.append('sum(' ~ name ~ ') AS ' ~ name) -%}
  {%- endif -%}
  {{ return(columns | join(', ')) }}
{%- endmacro %}
