{% macro rate(value=none, time=none, per='1 second') -%}
  {%- do adapter.dispatch('sparkstream_check_arguments', 'sparkstream')(
    'rate', kwargs, ['value', 'time', 'per'], varargs
  ) if execute -%}
  {{ return(adapter.dispatch('rate', 'sparkstream')(value, time, per) if execute else '') }}
{%- endmacro %}

{% macro default__rate(value, time, per) -%}
  {%- set micros = adapter.dispatch('sparkstream_interval', 'sparkstream')(per, 'rate', 'per', positive=true) -%}
  {{ return(adapter.dispatch('sparkstream_increase', 'sparkstream')(
    'rate', value, time, '__a.total / nullif(__a.t - __a.first, 0) * ' ~ micros ~ 'D'
  )) }}
{%- endmacro %}
