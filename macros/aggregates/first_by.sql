{% macro first_by(value=none, time=none) -%}
  {%- do adapter.dispatch('sparkstream_check_arguments', 'sparkstream')(
    'first_by', kwargs, ['value', 'time'], varargs
  ) if execute -%}
  {{ return(adapter.dispatch('first_by', 'sparkstream')(value, time) if execute else '') }}
{%- endmacro %}

{% macro default__first_by(value, time) -%}
  {{ return(adapter.dispatch('sparkstream_ordered', 'sparkstream')('first_by', 'min', value, time)) }}
{%- endmacro %}
