{% macro window_around(left, right, on, left_time, right_time, before, after, columns) -%}
  {%- do adapter.dispatch('sparkstream_check_arguments', 'sparkstream')(
    'window_around', kwargs, ['left', 'right', 'on', 'left_time', 'right_time', 'before', 'after', 'columns'], varargs
  ) if execute -%}
  {{ return(adapter.dispatch('window_around', 'sparkstream')(
    left, right, on, left_time, right_time, before, after, columns
  ) if execute else '') }}
{%- endmacro %}

{% macro default__window_around(left, right, on, left_time, right_time, before, after, columns) -%}
  {%- set column = adapter.dispatch('sparkstream_column', 'sparkstream') -%}
  {%- set sides = [left, right] -%}
  {%- set left = adapter.dispatch('sparkstream_relation', 'sparkstream')(left, 'window_around', 'left') -%}
  {%- set right = adapter.dispatch('sparkstream_relation', 'sparkstream')(right, 'window_around', 'right') -%}
  {%- set pairs = adapter.dispatch('sparkstream_pairs', 'sparkstream')(on, 'window_around') -%}
  {%- do adapter.dispatch('sparkstream_check_given', 'sparkstream')(
    'window_around', [('left_time', left_time), ('right_time', right_time), ('columns', columns)]
  ) -%}
  {%- set left_time = column(left_time, 'window_around', 'left_time') -%}
  {%- set right_time = column(right_time, 'window_around', 'right_time') -%}
  {%- set interval = adapter.dispatch('sparkstream_interval', 'sparkstream') -%}
  {%- set first = -interval(before, 'window_around', 'before') -%}
  {%- set last = interval(after, 'window_around', 'after') -%}
  {%- if first > last -%}
    {{ exceptions.raise_compiler_error(
      "window_around's window ends before it begins: it is from '" ~ before ~ "' before a row to '" ~ after ~ "' after it"
      ~ "\n  a negative length lies on the other side: before='10 minutes', after='-5 minutes'"
    ) }}
  {%- endif -%}
  {%- if columns is not mapping or not columns -%}
    {{ exceptions.raise_compiler_error(
      "window_around's columns is no mapping of names to aggregates"
      ~ "\n  write columns={'n': 'count', 'best': ['max', 'price'], ...}"
    ) }}
  {%- endif -%}
  {%- set known = [
    'count', 'sum', 'avg', 'min', 'max', 'median', 'stddev', 'stddev_samp', 'stddev_pop', 'variance', 'var_samp', 'var_pop',
    'bool_and', 'bool_or', 'collect_list', 'collect_set', 'approx_count_distinct'
  ] -%}
  {%- set names, values, nulls, calls = [], [], [], [] -%}
  {%- for name, aggregate in columns.items() -%}
    {%- set parts = [aggregate] if aggregate is string else aggregate | list -%}
    {%- set function = parts[0] | string | trim | lower if parts else '' -%}
    {%- if function not in known -%}
      {{ exceptions.raise_compiler_error(
        "window_around's columns has an aggregate that it doesn't know: " ~ aggregate
        ~ "\n  write a function and its argument, such as ['sum', 'price']; the functions are " ~ known | join(', ')
      ) }}
    {%- elif parts | length > 2 or (parts | length == 1 and function != 'count') -%}
      {{ exceptions.raise_compiler_error(
        "window_around's columns gives " ~ function ~ " " ~ (parts | length - 1) ~ " arguments, and it takes one"
        ~ "\n  write {'" ~ name ~ "': ['" ~ function ~ "', 'price']}"
      ) }}
    {%- endif -%}
    {%- do names.append(column(name, 'window_around', 'columns')) -%}
    {%- do values.append(
      adapter.dispatch('sparkstream_value', 'sparkstream')(parts[1], 'window_around', 'columns') if parts | length == 2 else '1'
    ) -%}
    {%- do nulls.append('NULL AS __value' ~ loop.index0) -%}
    {%- do calls.append(function ~ '(__value' ~ loop.index0 ~ ') OVER around AS ' ~ names[-1]) -%}
  {%- endfor -%}
  {%- set keys, left_keys, right_keys, present = [], [], [], [right_time ~ ' IS NOT NULL'] -%}
  {%- for left_key, right_key in pairs -%}
    {%- do keys.append('__key' ~ loop.index0) -%}
    {%- do left_keys.append(left_key ~ ' AS __key' ~ loop.index0) -%}
    {%- do right_keys.append(right_key) -%}
    {%- do present.append(right_key ~ ' IS NOT NULL') -%}
  {%- endfor -%}
  {%- set bounds = [] -%}
  {%- for micros in [first, last] -%}
    {%- set length = adapter.dispatch('sparkstream_written', 'sparkstream')(micros | abs, literal=true, same_unit=first + last - micros) -%}
    {%- do bounds.append(
      'CURRENT ROW' if micros == 0 else length ~ (' PRECEDING' if micros < 0 else ' FOLLOWING')
    ) -%}
  {%- endfor -%}
  {%- set of_left, of_right = [('left_time', left_time)], [('right_time', right_time)] -%}
  {%- for left_key, right_key in pairs -%}
    {%- do of_left.append(('on', left_key)) -%}
    {%- do of_right.append(('on', right_key)) -%}
  {%- endfor -%}
  {%- for side, its in [(sides[0], of_left), (sides[1], of_right)] -%}
    {%- do adapter.dispatch('sparkstream_check_columns', 'sparkstream')('window_around', side, its) -%}
  {%- endfor -%}
  {%- set matched = [] -%}
  {%- for left_key, right_key in pairs -%}
    {%- do matched.append(left_key if left_key == right_key else left_key ~ ' = ' ~ right_key) -%}
  {%- endfor -%}
  {%- set comment = 'window_around: each row of the left side with aggregates of the right side around its time'
    ~ (', by ' ~ matched | join(', ') if matched) -%}
(
  /* {{ comment.replace('*/', '* /').replace('/*', '/ *') }} */
  SELECT __left.*, {{ names | join(', ') }}
  FROM (
    SELECT
      __left,
    {%- for call in calls %}
      {{ call }}{{ ',' if not loop.last }}
    {%- endfor %}
    FROM (
      SELECT {{ (['struct(*) AS __left'] + left_keys + [left_time ~ ' AS __time'] + nulls) | join(', ') }}
      FROM {{ left }}
      UNION ALL
      SELECT {{ (['NULL'] + right_keys + [right_time] + values) | join(', ') }}
      FROM {{ right }}
      WHERE {{ present | join(' AND ') }}
    )
    WINDOW around AS (
      {{ 'PARTITION BY ' ~ keys | join(', ') ~ ' ' if keys }}ORDER BY __time
      RANGE BETWEEN {{ bounds | join(' AND ') }}
    )
  )
  WHERE __left IS NOT NULL
)
{%- endmacro %}
