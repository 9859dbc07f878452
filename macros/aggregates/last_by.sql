{% macro last_by(value=none, time=none) -%}
  {%- do adapter.dispatch('sparkstream_check_arguments', 'sparkstream')(
    'last_by', kwargs, ['value', 'time'], varargs
  ) if execute -%}
  {{ return(adapter.dispatch('last_by', 'sparkstream')(value, time) if execute else '') }}
{%- endmacro %}

{% macro default__last_by(value, time) -%}
  {{ return(adapter.dispatch('sparkstream_ordered', 'sparkstream')('last_by', 'max', value, time)) }}
{%- endmacro %}
