{#
  The query of the windows that are missing between others; not part of the package's interface.

  Windows stand on a grid: size, slide, step and offset say where they end. Bounds are compared on the wall clock, as the
  window functions make them. Each row learns the window of its key before it by LAG, and is copied for each step of the
  grid between them, so the work grows with the rows that come out, and nothing is joined. The windows after the last one
  of a key are copies of that.
#}

{#- The query of all windows: those that are there, and those that are missing. `given`: of sparkstream_gap_arguments. -#}
{% macro default__sparkstream_gaps_query(given) -%}
  {%- set written = adapter.dispatch('sparkstream_written', 'sparkstream') -%}
  {%- set floor = adapter.dispatch('sparkstream_floor', 'sparkstream') -%}
  {%- set start_of = adapter.dispatch('sparkstream_start_of', 'sparkstream') -%}
  {%- set filled = adapter.dispatch('sparkstream_filled', 'sparkstream') -%}
  {%- set window, keys, fills = given.window, given.by, given.fills -%}
  {%- set key_list = adapter.dispatch('sparkstream_key_list', 'sparkstream')(keys) -%}
  {%- set period = written(window.period, literal=true) -%}
  {%- set value_of = adapter.dispatch('sparkstream_value_of', 'sparkstream') -%}
  {%- set columns, ways, carried, measures = [], [], [], [] -%}
  {%- for name, how, constant in fills -%}
    {%- if how is not none -%}{%- do columns.append(name) -%}{%- endif -%}
    {%- if how in ['locf', 'linear', 'nearest'] -%}{%- do carried.append(name) -%}{%- endif -%}
    {%- if how in ['linear', 'nearest'] -%}{%- do measures.append(name) -%}{%- endif -%}
    {%- do ways.append(name ~ ' ' ~ ('NULL' if how is none else constant if constant is not none else how)) -%}
  {%- endfor -%}
  {%- set words = 'windows of ' ~ written(window.size) -%}
  {%- if window.step -%}
    {%- set words = 'windows that grow by ' ~ written(window.step) ~ ' up to ' ~ written(window.size) -%}
  {%- elif window.period != window.size -%}
    {%- set words = words ~ ' every ' ~ written(window.period) -%}
  {%- endif -%}
  {%- set words = words ~ (' (offset ' ~ written(window.offset) ~ ')' if window.offset else '') -%}
  {%- set comment = words ~ (', per ' ~ keys | join(', ') if keys else '') ~ ('; ' ~ ways | join(', ') if ways else '') -%}
  {#- The ends of the first and the last window that have to be there, where something says so. -#}
  {%- set first, last = none, none -%}
  {%- if given.first -%}
    {%- set first = floor(given.first, window.period, window.origin) ~ ' + ' ~ period -%}
  {%- elif given.all -%}
    {%- set first = '(SELECT min(__end) FROM __windows)' -%}
  {%- endif -%}
  {%- if given.last -%}
    {%- set before = 'CAST(' ~ given.last ~ " AS TIMESTAMP_NTZ) - INTERVAL '0.000001' SECOND" -%}
    {%- set last = floor(before, window.every, window.offset) ~ ' + ' ~ written(window.size, literal=true) -%}
  {%- elif given.all -%}
    {%- set last = '(SELECT max(__end) FROM __windows)' -%}
  {%- endif -%}
  {#- A row for a key that has no window: it has the key alone. -#}
  {%- set markers = given.spine or (not keys and given.first and given.last) -%}
  {#- On a stream, windows come in the order in which they close. -#}
  {%- set order = '__window_end, __end' if given.streams else '__end, __row IS NULL' if markers else '__end' -%}
  {%- set nothing = ', NULL' * (4 + columns | length) -%}
  {%- set steps = adapter.dispatch('sparkstream_steps', 'sparkstream') -%}
  {%- set after_one = '__end_before + ' ~ period -%}
  {%- set after = 'greatest(' ~ after_one ~ ', __first)' if first else after_one -%}
  {%- set after_row = 'greatest(__end + ' ~ period ~ ', __first)' if first else '__end + ' ~ period -%}
  {%- set until_row = 'least(__end - ' ~ period ~ ', __last)' if last else '__end - ' ~ period -%}
  {#- The ends of the windows that a row stands for: the missing ones before it, its own, and, where it is the last one of
      its key, those after it; or all those of a key without any. -#}
  {%- set pieces = [steps('__end_before IS NOT NULL AND ' if first or last else '', after, until_row, period)] -%}
  {%- if first -%}{%- do pieces.append(steps('__opens AND ', '__first', until_row, period)) -%}{%- endif -%}
  {%- do pieces.append('if(__row IS NULL, array(), array(__end))' if markers else 'array(__end)') -%}
  {%- if last -%}{%- do pieces.append(steps('__end IS NOT NULL AND __closes AND ', after_row, '__last', period)) -%}{%- endif -%}
  {%- if first and last -%}
    {%- do pieces.append(steps('__end IS NULL AND __closes AND ', '__first', '__last', period)) -%}
  {%- endif -%}
  {#- How long the hole is that a missing window is in: after a window, before the first one of its key, after the last one,
      or without any. -#}
  {%- set holes = ['WHEN __at < __end AND __end_before IS NOT NULL THEN __end - __end_before - ' ~ period] -%}
  {%- if first -%}{%- do holes.append('WHEN __at < __end THEN __end - __first') -%}{%- endif -%}
  {%- if last -%}{%- do holes.append('WHEN __at > __end THEN __last - __end') -%}{%- endif -%}
  {%- if first and last -%}{%- do holes.append('WHEN __end IS NULL THEN __last + ' ~ period ~ ' - __first') -%}{%- endif -%}
  {%- set within = '__hole <= ' ~ written(given.limit, literal=true) if given.limit else none -%}
(
  /* {{ given.name }}: {{ comment.replace('*/', '* /').replace('/*', '/ *') }} */
  WITH __windows AS (
    SELECT
      {{ key_list }}struct(* EXCEPT (__wall_end, __earlier_end)) AS __row,
      window_start AS __window_start,
      window_end AS __window_end,
      {%- for name in columns %}
      {{ name }} AS {{ value_of(name) }},
      {%- endfor %}
      {{ adapter.dispatch('sparkstream_meant_end', 'sparkstream')(given.name, window, words) }} AS __end
    FROM (
      SELECT
        *,
        CAST(window_end AS TIMESTAMP_NTZ) AS __wall_end,
        CAST(window_end - INTERVAL '12' HOUR AS TIMESTAMP_NTZ) + INTERVAL '12' HOUR AS __earlier_end
      FROM {{ given.relation }}
    )
    {%- if given.spine %}
    UNION ALL
    SELECT DISTINCT {{ key_list[:-2] ~ nothing }} FROM {{ given.spine }}
    {%- elif markers %}
    UNION ALL
    SELECT {{ nothing[2:] }}
    {%- endif %}
  ),
  __chain AS (
    SELECT
      *,
      {%- for name in carried %}
      lag({{ value_of(name) }}) OVER __key AS {{ value_of(name, 'value_before') }},
      {%- endfor %}
      {%- if first %}
      __end IS NOT NULL AND lag(__end) OVER __key IS NULL AS __opens,
      {{ first }} AS __first,
      {%- endif %}
      {%- if last %}
      {{ last }} AS __last,
      lead(TRUE) OVER __key IS NULL AS __closes,
      {%- endif %}
      lag(__end) OVER __key AS __end_before
    FROM __windows
    WINDOW __key AS ({{ 'PARTITION BY ' ~ keys | join(', ') ~ ' ' if keys }}ORDER BY {{ order }})
  )
  SELECT
    {{ key_list }}coalesce({{ start_of('__at', window) }}, __window_start) AS window_start,
    coalesce(__at, __window_end) AS window_end,
    {%- for name, how, constant in fills %}
    {{ filled(name, how, constant, within, first or last) }} AS {{ name }},
    {%- endfor %}
    __kept.* EXCEPT ({{ key_list }}window_start, window_end
      {%- for name, how, constant in fills %}, {{ name }}{% endfor %}),
    NOT (__at <=> __end) AS {{ given.flag }}
  FROM (
    SELECT
      *,
      {%- if measures %}
      (__at - __end_before) DIV INTERVAL '0.000001' SECOND AS __behind,
      (__end - __end_before) DIV INTERVAL '0.000001' SECOND AS __between,
      {%- endif %}
      {%- if within %}
      CASE {{ holes | join(' ') }} END AS __hole,
      {%- endif %}
      if(__at <=> __end, __row, NULL) AS __kept
    FROM __chain
    LATERAL VIEW explode(
      CASE
        {%- if given.streams and adapter.dispatch('sparkstream_closes_in_disorder', 'sparkstream')(window) %}
        WHEN NOT ({{ adapter.dispatch('sparkstream_shows_utc', 'sparkstream')() }}) THEN raise_error(
          '{{ given.name }}: where a clock is turned, {{ words }} close in another order than they end in on the clock, so a streaming model needs the time zone UTC; or fill them in a table over the model'
        )
        {%- endif %}
        WHEN __end <= __end_before THEN raise_error(
          '{{ given.name }}: a key has two rows for one window; write all grouping columns in by, grouping_id() among them'
        )
        ELSE concat(
          {{ pieces | join(',\n          ') }}
        )
      END
    ) __grid AS __at
  )
  {{ adapter.dispatch('sparkstream_there', 'sparkstream')(window) }}
)
{%- endmacro %}

{#- Whether windows may close in another order than they end in on the clock. Where the clock goes from 02:00 to 03:00, a window up
    to 02:30 closes at 03:30, and one up to 03:00 before it. Windows side by side that divide half an hour, the least that a clock
    is turned by, have no ends between the two. -#}
{% macro default__sparkstream_closes_in_disorder(window) %}
  {%- set half_hour = 1800000000 -%}
  {%- set side_by_side = window.period == window.size -%}
  {{ return(window.period < 2 * half_hour and not (side_by_side and half_hour % window.size == 0)) }}
{% endmacro %}

{#- An array of the times from first to last, which are a period apart; empty where there is none or a condition isn't met. -#}
{% macro default__sparkstream_steps(condition, first, last, period) %}
  {{ return(
    'if(\n            ' ~ condition ~ first ~ ' <= ' ~ last
    ~ ',\n            sequence(' ~ first ~ ', ' ~ last ~ ', ' ~ period ~ '),\n            array()\n          )'
  ) }}
{% endmacro %}

{#- Where the window begins that ends at a time of the wall clock. -#}
{% macro default__sparkstream_start_of(end, window) %}
  {%- set written = adapter.dispatch('sparkstream_written', 'sparkstream') -%}
  {%- if window.step and window.step != window.size -%}
    {{ return(adapter.dispatch('sparkstream_floor', 'sparkstream')(
      end ~ ' - ' ~ written(window.step, literal=true), window.size, window.offset
    )) }}
  {%- endif -%}
  {{ return(end ~ ' - ' ~ written(window.size, literal=true)) }}
{% endmacro %}

{#- The end of a row's window on the wall clock. Where a clock goes forward, a bound in the hour that isn't there stands
    an hour later; read with the clock of half a day before, it is where it was meant to be. -#}
{% macro default__sparkstream_meant_end(macro_name, window, words) %}
  {%- set start_of = adapter.dispatch('sparkstream_start_of', 'sparkstream') -%}
  {%- set beyond = adapter.dispatch('sparkstream_beyond', 'sparkstream') -%}
  {%- set conditions = [] -%}
  {%- for end in ['__wall_end', '__earlier_end'] -%}
    {%- do conditions.append(
      beyond(end, window.period, window.origin) ~ ' = 0'
      ~ '\n          AND coalesce(' ~ start_of(end, window) ~ ', window_start) = window_start'
      ~ ('' if end == '__wall_end' else '\n          AND coalesce(' ~ end ~ ', window_end) = window_end')
    ) -%}
  {%- endfor -%}
CASE
        WHEN window_start IS NULL OR window_end IS NULL THEN NULL
        WHEN {{ conditions[0] }}
          THEN __wall_end
        WHEN {{ conditions[1] }}
          THEN __earlier_end
        ELSE raise_error(concat(
          '{{ macro_name }}: none of the {{ words }} is from ', window_start, ' to ', window_end,
          '; write the size, slide, step and offset of the macro that made the windows (sessions have no fixed places)'
        ))
      END
{%- endmacro %}

{#- Which windows of the grid are there: a clock that goes forward leaves out those that lie in the hour it skips, and
    makes others one. -#}
{% macro default__sparkstream_there(window) %}
  {%- set written = adapter.dispatch('sparkstream_written', 'sparkstream') -%}
  {%- set wall_clock = adapter.dispatch('sparkstream_wall_clock', 'sparkstream') -%}
  {%- set unless_another = adapter.dispatch('sparkstream_unless_another', 'sparkstream') -%}
  {%- set shows_utc = adapter.dispatch('sparkstream_shows_utc', 'sparkstream')() -%}
  {%- set start = adapter.dispatch('sparkstream_start_of', 'sparkstream')('__at', window) -%}
  {%- set grows = window.step and window.step != window.size -%}
  {%- set day = 86400000000 -%}
  {%- set conditions = [] -%}
  {%- if (window.step or window.size) <= day -%}
    {%- set before_end = "__at - INTERVAL '0.000001' SECOND" -%}
    {%- do conditions.append(
      wall_clock('coalesce(' ~ start ~ ', __window_start)') ~ ' = ' ~ start
      ~ '\n      OR ' ~ wall_clock('coalesce(' ~ before_end ~ ', __window_end)') ~ '\n        = ' ~ before_end
    ) -%}
  {%- endif -%}
  {%- set shown_start = wall_clock('coalesce(' ~ start ~ ', __window_start)') -%}
  {%- set shown_end = wall_clock('coalesce(__at, __window_end)') -%}
  {%- if grows and window.step <= day -%}
    {%- set longest = start ~ ' + ' ~ written(window.size, literal=true) -%}
    {%- do conditions.append(unless_another(window.step, start, '__at', none, shown_end, longest=longest) | indent(4)) -%}
  {%- elif window.size > 28 * day and window.period < day -%}
    {%- do conditions.append(unless_another(window.period, start, '__at', shown_start, shown_end) | indent(4)) -%}
  {%- endif -%}
  {%- if not conditions -%}{{ return('') }}{%- endif -%}
  WHERE __at <=> __end OR {{ shows_utc }} OR (
    ({{ conditions | join(')\n    AND (') }})
  )
{%- endmacro %}

{#- The name under which the query has a column's value: its own, or that of the window before. As a field of `__row` it can't be read
    above explode(), where Spark loses fields (INTERNAL_ERROR_ATTRIBUTE_NOT_FOUND) of which only some are asked for. -#}
{% macro default__sparkstream_value_of(name, prefix='value') %}
  {{ return('`__' ~ prefix ~ '_' ~ name[1:] if name.startswith('`') else '__' ~ prefix ~ '_' ~ name) }}
{% endmacro %}

{#- The value of a column in a window that was missing, or in one that was there.
    within: a condition on the hole that the window is in; none for any.
    outside: whether windows may be missing before the first one of a key, or after the last. -#}
{% macro default__sparkstream_filled(name, how, constant, within, outside) %}
  {%- set value_of = adapter.dispatch('sparkstream_value_of', 'sparkstream') -%}
  {%- set value, before = value_of(name), value_of(name, 'value_before') -%}
  {%- if how is none -%}
    {{ return('__kept.' ~ name) }}
  {%- elif how == 'constant' -%}
    {{ return(
      'CASE WHEN __at <=> __end THEN ' ~ value ~ (' WHEN ' ~ within ~ ' THEN ' if within else ' ELSE ') ~ constant ~ ' END'
    ) }}
  {%- endif -%}
  {%- if how == 'locf' -%}
    {%- set between, further = before, 'WHEN __at > __end THEN ' ~ value -%}
  {%- elif how == 'linear' -%}
    {%- set value = 'CAST(' ~ value ~ ' AS DOUBLE)' -%}
    {%- set between = '(CAST(' ~ before ~ ' AS DOUBLE) * (__between - __behind) + ' ~ value ~ ' * __behind) / __between' -%}
    {%- set further = none -%}
  {%- else -%}
    {%- set between = 'if(__behind * 2 <= __between, ' ~ before ~ ', ' ~ value ~ ')' -%}
    {%- set further = 'WHEN __end IS NOT NULL THEN ' ~ value -%}
  {%- endif -%}
  {%- set arms = ['WHEN __at <=> __end THEN ' ~ value] -%}
  {%- if within -%}{%- do arms.append('WHEN NOT ' ~ within ~ ' THEN NULL') -%}{%- endif -%}
  {%- if outside -%}
    {%- do arms.append('WHEN __at < __end AND __end_before IS NOT NULL THEN ' ~ between) -%}
    {%- if further -%}{%- do arms.append(further) -%}{%- endif -%}
  {%- else -%}
    {%- do arms.append('ELSE ' ~ between) -%}
  {%- endif -%}
  {{ return('CASE\n      ' ~ arms | join('\n      ') ~ '\n    END') }}
{% endmacro %}
