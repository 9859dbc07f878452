{#
  The Spark SQL of a join as of a time; not part of the package's interface.

  It takes nothing but SQL texts, lengths in microseconds and flags, and calls nothing but `sparkstream_written`.

  Rows of both sides are put together and sorted once by key and time: the last row of the right side before a row of
  the left side is its own. Looking ahead is the same with the times in descending order, since a frame that ends at the
  last row would be computed again for each row. So `nearest` sorts twice, and moves the rows once.
#}

{#-
  comment: what the query begins with.
  left, right: what stands in FROM.
  keys: pairs of the left and the right side's expressions that have to be equal.
  left_time, right_time: the times that are compared.
  row: what is kept of a row of the right side, as a struct.
  tie: what orders rows of the right side with equal keys and times, of which the greatest counts; none for the row as it
    is kept.
  tolerance: microseconds between the two times at most; none for any.
  inner: whether rows without a match are left out.
-#}
{% macro default__sparkstream_asof_query(
  comment, left, right, keys, left_time, right_time, row,
  direction='backward', exact=true, tie=none, tolerance=none, inner=false
) -%}
  {%- set names, left_keys, right_keys, present = [], [], [], [right_time ~ ' IS NOT NULL'] -%}
  {%- set some_left = [left_time ~ ' IS NOT NULL'] -%}
  {%- for left_key, right_key in keys -%}
    {%- do names.append('__key' ~ loop.index0) -%}
    {%- do left_keys.append(left_key ~ ' AS __key' ~ loop.index0) -%}
    {%- do right_keys.append(right_key) -%}
    {%- do some_left.append(left_key ~ ' IS NOT NULL') -%}
    {%- do present.append(right_key ~ ' IS NOT NULL') -%}
  {%- endfor -%}
  {%- set own_tie = tie is not none -%}
  {%- set left_items = ['struct(*) AS __left', 'NULL AS __right'] + left_keys
    + [left_time ~ ' AS __time', 'TRUE AS __is_left'] + (['NULL AS __tie'] if own_tie else []) -%}
  {%- set right_items = ['NULL', row] + right_keys + [right_time, 'FALSE'] + ([tie] if own_tie else []) -%}
  {%- set by = ('PARTITION BY ' ~ names | join(', ') ~ ' ' if names else '') ~ 'ORDER BY __time' -%}
  {#- Of equal times, rows of the right side come first where they match. -#}
  {%- set then = ', __is_left' ~ ('' if exact else ' DESC')
    ~ (', __tie' if own_tie else ', __right') ~ ' ROWS UNBOUNDED PRECEDING' -%}
  {%- set frames = {'before': by ~ then, 'after': by ~ ' DESC NULLS FIRST' ~ then} -%}
  {%- set ways = {'backward': ['before'], 'forward': ['after'], 'nearest': ['before', 'after']}[direction] -%}
  {%- set within = {'before': '', 'after': ''} -%}
  {%- if tolerance is not none -%}
    {%- set length = adapter.dispatch('sparkstream_written', 'sparkstream')(tolerance, literal=true) -%}
    {%- do within.update({
      'before': '__before_time >= __time - ' ~ length, 'after': '__after_time <= __time + ' ~ length
    }) -%}
  {%- endif -%}
(
  {{ comment }}
  SELECT __left.*, __match.*
  FROM (
  {%- if direction != 'nearest' and tolerance is none %}
    SELECT __left, last_value(__right, TRUE) OVER {{ ways[0] }} AS __match
  {%- else %}
    SELECT
      __left,
    {%- for way in ways %}
      last_value(__right, TRUE) OVER {{ way }} AS __{{ way }},
      last_value(CASE WHEN __left IS NULL THEN __time END, TRUE) OVER {{ way }} AS __{{ way }}_time,
    {%- endfor %}
    {%- if direction == 'nearest' %}
      {#- By instants where the time is a TIMESTAMP, as Spark subtracts these by the clock of the session's zone. #}
      __after_time IS NULL OR CASE typeof(__time)
        WHEN 'timestamp' THEN 2 * unix_micros(CAST(__time AS TIMESTAMP))
          <= unix_micros(CAST(__before_time AS TIMESTAMP)) + unix_micros(CAST(__after_time AS TIMESTAMP))
        ELSE __time - __before_time <= __after_time - __time
      END AS __before_is_nearer,
    {%- endif %}
      CASE
    {%- if direction == 'nearest' %}
        WHEN __before_is_nearer{{ ' AND ' ~ within['before'] if within['before'] }} THEN __before
        {{ 'WHEN ' ~ within['after'] ~ ' THEN' if within['after'] else 'ELSE' }} __after
    {%- else %}
        WHEN {{ within[ways[0]] }} THEN __{{ ways[0] }}
    {%- endif %}
      END AS __match
  {%- endif %}
    FROM (
      SELECT {{ left_items | join(', ') }}
      FROM {{ left }}
    {%- if inner %}
      WHERE {{ some_left | join(' AND ') }}
    {%- endif %}
      UNION ALL
      SELECT {{ right_items | join(', ') }}
      FROM {{ right }}
      WHERE {{ present | join(' AND ') }}
    )
    WINDOW
    {%- for way in ways %}
      {{ way }} AS ({{ frames[way] }}){{ ',' if not loop.last }}
    {%- endfor %}
  )
  WHERE __left IS NOT NULL{{ ' AND __match IS NOT NULL' if inner }}
)
{%- endmacro %}
