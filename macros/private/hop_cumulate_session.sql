{#- The queries of HOP, CUMULATE and SESSION; `window_queries.sql` has the one of TUMBLE, and what all of them share. The
    translator reads this file when it first needs it: Jinja takes longer than a translation. -#}

{#- window() finds the last window that a row is in, and a row is copied for each window that began earlier and holds it. -#}
{% macro default__sparkstream_hop_query(comment, relation, time, slide, size, offset, is_wall=false, wall_bounds=false) -%}
  {%- if slide == size -%}
    {{- adapter.dispatch('sparkstream_tumble_query', 'sparkstream')(
      comment, relation, time, size, offset, is_wall, wall_bounds
    ) -}}
  {%- else -%}
    {%- set written = adapter.dispatch('sparkstream_written', 'sparkstream') -%}
    {%- set wall_clock = adapter.dispatch('sparkstream_wall_clock', 'sparkstream') -%}
    {%- set spark_window = adapter.dispatch('sparkstream_spark_window', 'sparkstream') -%}
    {%- set added_columns = adapter.dispatch('sparkstream_added_columns', 'sparkstream') -%}
    {%- set unless_another = adapter.dispatch('sparkstream_unless_another', 'sparkstream') -%}
    {%- set row_time = '__rows.' ~ time -%}
    {%- set last = '__rows.__slide.start' -%}
    {#- How many windows a row is in, at most. -#}
    {%- set overlap = (size + slide - 1) // slide -%}
    {%- set first = last ~ (' - ' ~ written(slide * (overlap - 1), literal=true) if overlap > 1 else '') -%}
    {%- set start = '__hop.start' -%}
    {%- set end = start ~ ' + ' ~ written(size, literal=true) -%}
    {%- set before_end = start ~ ' + ' ~ written(size - 1000, literal=true) -%}
    {%- set conditions = [] -%}
    {%- if size % slide -%}
      {%- do conditions.append(wall_clock(row_time, is_wall) ~ ' < ' ~ end) -%}
    {%- endif -%}
    {#- No clock skips an hour twice within 28 days, or more than a day at once. -#}
    {%- if size > 28 * 86400000000 and slide < 86400000000 and not is_wall and not wall_bounds -%}
      {%- set shown_start = wall_clock('coalesce(' ~ start ~ ', ' ~ row_time ~ ')') -%}
      {%- set shown_end = wall_clock('coalesce(' ~ end ~ ', ' ~ row_time ~ ')') -%}
      {%- do conditions.append(
        '(' ~ unless_another(slide, start, end, shown_start, shown_end) | indent(2) ~ ')'
      ) -%}
    {%- endif -%}
(
  {{ comment }}
  SELECT
    __rows.* EXCEPT (__slide),
    {{ added_columns(start, end, before_end, row_time, is_wall, wall_bounds) }}
  FROM (
    SELECT *, {{ spark_window(wall_clock(time, is_wall), slide, offset) }} AS __slide
    FROM {{ relation }}
  ) AS __rows
  LATERAL VIEW explode(sequence({{ first }}, {{ last }}, {{ written(slide, literal=true) }})) __hop AS start
  {%- if conditions %}
  WHERE {{ conditions | join(' AND ') }}
  {%- endif %}
)
  {%- endif -%}
{%- endmacro %}

{#- window() finds the block: the longest of the windows. A row is copied for each step that ends after it. -#}
{% macro default__sparkstream_cumulate_query(comment, relation, time, step, size, offset, is_wall=false, wall_bounds=false) -%}
  {%- if step == size -%}
    {{- adapter.dispatch('sparkstream_tumble_query', 'sparkstream')(
      comment, relation, time, size, offset, is_wall, wall_bounds
    ) -}}
  {%- else -%}
    {%- set wall_clock = adapter.dispatch('sparkstream_wall_clock', 'sparkstream') -%}
    {%- set spark_window = adapter.dispatch('sparkstream_spark_window', 'sparkstream') -%}
    {%- set added_columns = adapter.dispatch('sparkstream_added_columns', 'sparkstream') -%}
    {%- set unless_another = adapter.dispatch('sparkstream_unless_another', 'sparkstream') -%}
    {%- set one_step = adapter.dispatch('sparkstream_written', 'sparkstream')(step, literal=true) -%}
    {%- set row_time = '__rows.' ~ time -%}
    {%- set start = '__rows.__block.start' -%}
    {%- set steps = '(' ~ wall_clock(row_time, is_wall) ~ ' - ' ~ start ~ ') DIV ' ~ one_step ~ ' + 1' -%}
    {%- set end = '__step.end' -%}
    {%- set before_end = end ~ " - INTERVAL '0.001' SECOND" -%}
(
  {{ comment }}
  SELECT
    __rows.* EXCEPT (__block),
    {{ added_columns(start, end, before_end, row_time, is_wall, wall_bounds) }}
  FROM (
    SELECT *, {{ spark_window(wall_clock(time, is_wall), size, offset) }} AS __block
    FROM {{ relation }}
  ) AS __rows
  LATERAL VIEW explode(sequence({{ start }} + {{ one_step }} * ({{ steps }}), __rows.__block.end, {{ one_step }})) __step AS end
    {#- No clock skips more than a day at once. -#}
    {%- if step <= 86400000000 and not is_wall and not wall_bounds %}
      {%- set shown_end = wall_clock('coalesce(' ~ end ~ ', ' ~ row_time ~ ')') %}
  WHERE {{ unless_another(step, start, end, none, shown_end, longest='__rows.__block.end') | indent(2) }}
    {%- endif %}
)
  {%- endif -%}
{%- endmacro %}

{#- own_gap: the column with each row's gap, where `gap` is none. longest: no session lasts longer; none for no limit.
    condition: which rows close their session; none for no rows. -#}
{% macro default__sparkstream_session_query(
  comment, relation, time, gap, own_gap=none, longest=none, condition=none, keys=[], is_wall=false, wall_bounds=false
) -%}
  {%- if own_gap or longest or condition -%}
    {{- adapter.dispatch('sparkstream_ruled_session_query', 'sparkstream')(
      comment, relation, time, gap, own_gap, longest, condition, keys, is_wall, wall_bounds
    ) -}}
  {%- else -%}
    {%- set written = adapter.dispatch('sparkstream_written', 'sparkstream') -%}
    {%- set wall_clock = adapter.dispatch('sparkstream_wall_clock', 'sparkstream') -%}
    {%- set spark_window = adapter.dispatch('sparkstream_spark_window', 'sparkstream') -%}
    {%- set added_columns = adapter.dispatch('sparkstream_added_columns', 'sparkstream') -%}
    {%- set per_key = 'PARTITION BY ' ~ keys | join(', ') ~ ' ' if keys else '' -%}
    {%- set end = 'max(__time) OVER __same + ' ~ written(gap, literal=true) -%}
    {%- set before_end = 'max(__time) OVER __same + ' ~ written(gap - 1000, literal=true) -%}
    {#- The running count takes the default RANGE frame, so rows of the same time get the same session. window() of a
        millisecond drops rows without a time, and cuts times to what Flink keeps. -#}
(
  {{ comment }}
  SELECT
    * EXCEPT (__time, __opens, __session),
    {{ added_columns('min(__time) OVER __same', end, before_end, time, is_wall, wall_bounds) }}
  FROM (
    SELECT *, count_if(__opens) OVER ({{ per_key }}ORDER BY __time) AS __session
    FROM (
      SELECT *, coalesce(__time - lag(__time) OVER ({{ per_key }}ORDER BY __time) > {{ written(gap, literal=true) }}, TRUE) AS __opens
      FROM (
        SELECT *, {{ spark_window(wall_clock(time, is_wall), 1000) }}.start AS __time
        FROM {{ relation }}
      )
    )
  )
  WINDOW __same AS (PARTITION BY {{ (keys + ['__session']) | join(', ') }})
)
  {%- endif -%}
{%- endmacro %}

{#- Whether the session's clock shows UTC, so that it never skips an hour: Spark knows before it runs anything. -#}
{% macro default__sparkstream_shows_utc() -%}
  current_timezone() IN ('UTC', 'Etc/UTC', 'GMT')
{%- endmacro %}

{#-
  Leaves out the windows that become another window where the clock skips an hour.

  On 2024-03-31 Berlin's clock goes from 02:00 to 03:00, so 02:30 as a TIMESTAMP is 03:30. The window of CUMULATE from 00:00 to
  02:30 would be a second window from 00:00 to 03:30, with fewer rows than the real one. A HOP from 2024-03-31 02:30 to
  2024-10-27 02:30 becomes another window where both of its bounds move by the same.

  every: what windows are apart: the slide of a HOP, the step of a CUMULATE.
  shown_start, shown_end: what the clock shows at a bound that is a TIMESTAMP: 03:30 for 02:30.
  longest: for CUMULATE, where the longest of the windows ends that begin together; none for HOP.
  numbers: whether times are numbers of microseconds.
-#}
{% macro default__sparkstream_unless_another(every, start, end, shown_start, shown_end, longest=none, numbers=false) -%}
  {%- set bound, shown = (end, shown_end) if longest else (start, shown_start) -%}
  {%- set later = '(' ~ shown ~ ' - ' ~ ('(' ~ bound ~ ')' if ' ' in bound else bound) ~ ')' -%}
  {%- set micros = later ~ ' % ' ~ every if numbers else 'pmod(' ~ later ~ " DIV INTERVAL '0.000001' SECOND, " ~ every ~ ')' -%}
{{ adapter.dispatch('sparkstream_shows_utc', 'sparkstream')() }} OR NOT (
  {{ shown }} > {{ bound }}
  AND {{ shown_end ~ ' <= ' ~ longest if longest else shown_end ~ ' - (' ~ end ~ ') = ' ~ shown ~ ' - (' ~ start ~ ')' }}
  AND {{ micros }} = 0
)
{%- endmacro %}
