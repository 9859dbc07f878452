{% macro ohlc(value=none, time=none, volume=none, prefix='') -%}
  {%- do adapter.dispatch('sparkstream_check_arguments', 'sparkstream')(
    'ohlc', kwargs, ['value', 'time', 'volume', 'prefix'], varargs
  ) if execute -%}
  {{ return(adapter.dispatch('ohlc', 'sparkstream')(value, time, volume, prefix) if execute else '') }}
{%- endmacro %}

{% macro default__ohlc(value, time, volume, prefix) -%}
  {%- set ordered = adapter.dispatch('sparkstream_ordered', 'sparkstream') -%}
  {%- set name = adapter.dispatch('sparkstream_prefixed', 'sparkstream') -%}
  {%- set price = adapter.dispatch('sparkstream_value', 'sparkstream')(value, 'ohlc', 'value') -%}
  {%- set columns = [
    ordered('ohlc', 'min', value, time) ~ ' AS ' ~ name('ohlc', prefix, 'open'),
    'max(' ~ price ~ ') AS ' ~ name('ohlc', prefix, 'high'),
    'min(' ~ price ~ ') AS ' ~ name('ohlc', prefix, 'low'),
    ordered('ohlc', 'max', value, time) ~ ' AS ' ~ name('ohlc', prefix, 'close')
  ] -%}
  {%- if volume is not none -%}
    {%- set volume = adapter.dispatch('sparkstream_value', 'sparkstream')(volume, 'ohlc', 'volume') -%}
    {%- do columns.append('sum(' ~ volume ~ ') AS ' ~ name('ohlc', prefix, 'volume')) -%}
  {%- endif -%}
  {{ return(columns | join(', ')) }}
{%- endmacro %}
