{% macro time_weighted_average(value=none, time=none, until=none, method='locf') -%}
  {%- do adapter.dispatch('sparkstream_check_arguments', 'sparkstream')(
    'time_weighted_average', kwargs, ['value', 'time', 'until', 'method'], varargs
  ) if execute -%}
  {{ return(adapter.dispatch('time_weighted_average', 'sparkstream')(value, time, until, method) if execute else '') }}
{%- endmacro %}

{% macro default__time_weighted_average(value, time, until, method) -%}
  {%- if method not in ['locf', 'linear'] -%}
    {{ exceptions.raise_compiler_error(
      "time_weighted_average's method can't be " ~ method
      ~ "\n  write 'locf' (a value holds until the next one) or 'linear' (on the line between two)"
    ) }}
  {%- elif method == 'linear' and until is not none -%}
    {{ exceptions.raise_compiler_error(
      "time_weighted_average's until is for method='locf': there is no line behind the last value\n  leave it out"
    ) }}
  {%- endif -%}
  {%- set height = '__a.v' if method == 'locf' else '(__a.v + __p.v) / 2' -%}
  {%- set area = 'coalesce(__a.total, 0D) + coalesce(' ~ height ~ ' * (__p.t - __a.t), 0D)' -%}
  {%- set end = adapter.dispatch('sparkstream_until', 'sparkstream')(until, 'time_weighted_average') -%}
  {%- set stop, whole = '__a.t', '__a.total' -%}
  {%- if end is not none -%}
    {%- set stop = 'greatest(' ~ end ~ ', __a.t)' -%}
    {%- set whole = '(__a.total + __a.v * (' ~ stop ~ ' - __a.t))' -%}
  {%- endif -%}
  {%- set result = 'CASE WHEN ' ~ stop ~ ' > __a.first THEN ' ~ whole ~ ' / (' ~ stop ~ ' - __a.first) ELSE __a.v END' -%}
  {{ return(adapter.dispatch('sparkstream_along', 'sparkstream')(
    'time_weighted_average', value, time, area, result
  )) }}
{%- endmacro %}
