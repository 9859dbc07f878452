{#
  Aggregates that follow a group's rows in the order of their time; not part of the package's interface.

  `min` and `max` of a struct of time and value have the value with the first and the last time. They are aggregates that
  Spark, its streams and the optimiser's slices know. What goes along the rows collects a group's points in an array.
#}

{#- An argument that is an SQL expression. -#}
{% macro default__sparkstream_value(text, macro_name, argument) %}
  {%- if text is not string and text is not number -%}
    {{ exceptions.raise_compiler_error(
      macro_name ~ "'s " ~ argument ~ " is missing\n  write a column or an SQL expression in quotes, such as " ~ argument ~ "='price'"
    ) }}
  {%- endif -%}
  {{ return(adapter.dispatch('sparkstream_piece', 'sparkstream')(text | string | trim, macro_name, argument)) }}
{% endmacro %}

{#- The name of a column that a macro gives, with the user's prefix. -#}
{% macro default__sparkstream_prefixed(macro_name, prefix, name) %}
  {{ return(adapter.dispatch('sparkstream_column', 'sparkstream')(prefix ~ name, macro_name, 'prefix')) }}
{% endmacro %}

{#- The value with the first (`aggregate` is min) or the last time (max); of several with one time the smallest or largest.
    `time` is an expression or a list of them. Rows without a value or a time don't count. -#}
{% macro default__sparkstream_ordered(macro_name, aggregate, value, time) %}
  {%- set operand = adapter.dispatch('sparkstream_operand', 'sparkstream') -%}
  {%- set checked = adapter.dispatch('sparkstream_value', 'sparkstream') -%}
  {%- set value = operand(checked(value, macro_name, 'value')) -%}
  {%- set times = [] -%}
  {%- for one in (time if time is sequence and time is not string else [time]) -%}
    {%- do times.append(operand(checked(one, macro_name, 'time'))) -%}
  {%- endfor -%}
  {%- set fields = [] -%}
  {%- for one in times -%}{%- do fields.append(one ~ ' AS at' ~ loop.index) -%}{%- endfor -%}
  {{ return(
    aggregate ~ '(CASE WHEN ' ~ value ~ ' IS NOT NULL AND ' ~ times[0] ~ ' IS NOT NULL THEN struct('
    ~ fields | join(', ') ~ ', ' ~ value ~ ' AS value) END).value'
  ) }}
{% endmacro %}

{#- A time in microseconds: of a TIMESTAMP those that have passed, of a TIMESTAMP_NTZ and a DATE those on the clock. -#}
{% macro default__sparkstream_micros(time) %}
  {{ return(
    "CASE typeof(" ~ time ~ ") WHEN 'timestamp' THEN unix_micros(CAST(" ~ time ~ " AS TIMESTAMP)) ELSE (CAST(" ~ time
    ~ " AS TIMESTAMP_NTZ) - TIMESTAMP_NTZ'1970-01-01') DIV INTERVAL '0.000001' SECOND END"
  ) }}
{% endmacro %}

{#- The argument `until` in microseconds; none where it isn't given. -#}
{% macro default__sparkstream_until(until, macro_name) %}
  {%- if until is none -%}{{ return(none) }}{%- endif -%}
  {%- set until = adapter.dispatch('sparkstream_value', 'sparkstream')(until, macro_name, 'until') -%}
  {{ return('(' ~ adapter.dispatch('sparkstream_micros', 'sparkstream')(until) ~ ')') }}
{% endmacro %}

{#- Goes along the points of a group. `__p` is a point with its time `t` in microseconds and its value `v`. `__a` is what is
    known before it: the `first` time, time and value of the last point, and a `total`, NULL before the first point.
    total: the total with the point.
    result: what the group has in the end.
    among: what must not be NULL in a row that counts, if it isn't the value. -#}
{% macro default__sparkstream_along(macro_name, value, time, total, result, among=none) %}
  {%- set checked = adapter.dispatch('sparkstream_value', 'sparkstream') -%}
  {%- set operand = adapter.dispatch('sparkstream_operand', 'sparkstream') -%}
  {%- set value, time = operand(checked(value, macro_name, 'value')), operand(checked(time, macro_name, 'time')) -%}
  {%- set points = 'CASE WHEN ' ~ (among or value) ~ ' IS NOT NULL AND ' ~ time ~ ' IS NOT NULL THEN struct('
    ~ adapter.dispatch('sparkstream_micros', 'sparkstream')(time) ~ ' AS t, CAST(' ~ value ~ ' AS DOUBLE) AS v) END' -%}
  {%- set start = "named_struct('total', CAST(NULL AS DOUBLE), 'first', CAST(NULL AS BIGINT), "
    ~ "'t', CAST(NULL AS BIGINT), 'v', CAST(NULL AS DOUBLE))" -%}
  {%- set next = "named_struct('total', " ~ total ~ ", 'first', coalesce(__a.first, __p.t), 't', __p.t, 'v', __p.v)" -%}
  {{ return(
    'aggregate(array_sort(collect_list(' ~ points ~ ')), ' ~ start ~ ', (__a, __p) -> ' ~ next ~ ', __a -> ' ~ result ~ ')'
  ) }}
{% endmacro %}

{#- How much a counter has grown; where it is smaller than before, it was set to 0 in between. -#}
{% macro default__sparkstream_increase(macro_name, value, time, result) %}
  {%- set grown = 'CASE WHEN __a.v IS NULL THEN 0D WHEN __p.v >= __a.v THEN __a.total + __p.v - __a.v ELSE __a.total + __p.v END' -%}
  {{ return(adapter.dispatch('sparkstream_along', 'sparkstream')(macro_name, value, time, grown, result)) }}
{% endmacro %}
