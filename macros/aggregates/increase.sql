{% macro increase(value=none, time=none) -%}
  {%- do adapter.dispatch('sparkstream_check_arguments', 'sparkstream')(
    'increase', kwargs, ['value', 'time'], varargs
  ) if execute -%}
  {{ return(adapter.dispatch('increase', 'sparkstream')(value, time) if execute else '') }}
{%- endmacro %}

{% macro default__increase(value, time) -%}
  {{ return(adapter.dispatch('sparkstream_increase', 'sparkstream')('increase', value, time, '__a.total')) }}
{%- endmacro %}
