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
  {%- set end = adapter.dispatch('sparkstream_until', 'sparkstream')(until, 'time_weighted_average') -%}
  {%- set start = "named_struct('area', 0D, 'first', CAST(NULL AS BIGINT), 't', CAST(NULL AS BIGINT), 'v', CAST(NULL AS DOUBLE))" -%}
  {%- set next = "named_struct('area', __a.area + coalesce(" ~ height ~ " * (__p.t - __a.t), 0D), "
    ~ "'first', coalesce(__a.first, __p.t), 't', __p.t, 'v', __p.v)" -%}
  {%- set result = 'CASE WHEN __a.t > __a.first THEN __a.area / (__a.t - __a.first) ELSE __a.v END' -%}
  {%- if end is not none -%}
    {%- set result = 'CASE WHEN greatest(' ~ end ~ ', __a.t) > __a.first'
      ~ ' THEN (__a.area + __a.v * (greatest(' ~ end ~ ', __a.t) - __a.t)) / (greatest(' ~ end ~ ', __a.t) - __a.first) ELSE __a.v END' -%}
  {%- endif -%}
  {{ return(adapter.dispatch('sparkstream_along', 'sparkstream')(
    'time_weighted_average', value, time, start, next, result
  )) }}
{%- endmacro %}
