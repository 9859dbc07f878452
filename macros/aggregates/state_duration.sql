{% macro state_duration(state=none, time=none, value=none, until=none) -%}
  {%- do adapter.dispatch('sparkstream_check_arguments', 'sparkstream')(
    'state_duration', kwargs, ['state', 'time', 'value', 'until'], varargs
  ) if execute -%}
  {{ return(adapter.dispatch('state_duration', 'sparkstream')(state, time, value, until) if execute else '') }}
{%- endmacro %}

{% macro default__state_duration(state, time, value, until) -%}
  {%- set checked = adapter.dispatch('sparkstream_value', 'sparkstream') -%}
  {%- set operand = adapter.dispatch('sparkstream_operand', 'sparkstream') -%}
  {%- set value = operand(checked(value, 'state_duration', 'value')) -%}
  {%- set state = operand(checked(state, 'state_duration', 'state')) -%}
  {%- set end = adapter.dispatch('sparkstream_until', 'sparkstream')(until, 'state_duration') -%}
  {%- set held = 'coalesce(__a.total, 0D) + if(__a.v > 0D, __p.t - __a.t, 0L)' -%}
  {%- set result = '__a.total / 1000000D' -%}
  {%- if end is not none -%}
    {%- set result = '(__a.total + if(__a.v > 0D, greatest(' ~ end ~ ' - __a.t, 0L), 0L)) / 1000000D' -%}
  {%- endif -%}
  {{ return(adapter.dispatch('sparkstream_along', 'sparkstream')(
    'state_duration', 'if(' ~ state ~ ' = ' ~ value ~ ', 1, 0)', time, held, result, among=state
  )) }}
{%- endmacro %}
