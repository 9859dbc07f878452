{#
  The Spark SQL that stands for a window function; not part of the package's interface.

  The package's macros write these queries, and the translator of the adapter renders the same macros
  (sql/passes/windows/queries.py): each rule of a window stands here and nowhere else. So the macros here take nothing but
  SQL texts, lengths in microseconds and flags, and call nothing but each other and `sparkstream_written`.

  comment: what the query begins with. relation: what stands in FROM. time: the time column.
  is_wall: the time column is wall clock as it is, such as a TIMESTAMP_NTZ. The macros of the package can't know it.
  wall_bounds: window_start and window_end are TIMESTAMP_NTZ, as in Flink, and only window_time has the time column's type.
#}

{% macro default__sparkstream_tumble_query(comment, relation, time, size, offset, is_wall=false, wall_bounds=false) -%}
  {%- set wall_clock = adapter.dispatch('sparkstream_wall_clock', 'sparkstream') -%}
  {%- set spark_window = adapter.dispatch('sparkstream_spark_window', 'sparkstream') -%}
  {%- set added_columns = adapter.dispatch('sparkstream_added_columns', 'sparkstream') -%}
  {%- set end = '__window.end' -%}
(
  {{ comment }}
  SELECT
    * EXCEPT (__window),
    {{ added_columns('__window.start', end, end ~ " - INTERVAL '0.001' SECOND", time, is_wall, wall_bounds) }}
  FROM (
    SELECT *, {{ spark_window(wall_clock(time, is_wall), size, offset) }} AS __window
    FROM {{ relation }}
  )
)
{%- endmacro %}

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

{#- The comment that a query begins with: which window it is. -#}
{% macro default__sparkstream_window_comment(words, time, offset=0, keys=[], condition=none) -%}
  {%- set shift = ', offset ' ~ adapter.dispatch('sparkstream_written', 'sparkstream')(offset) if offset else '' -%}
  {%- set per = ', per ' ~ keys | join(', ') if keys else '' -%}
  {%- set closed = ', closed on ' ~ condition.split() | join(' ') if condition else '' -%}
  /* {{ words }}{{ shift }} on {{ (time ~ per ~ closed) | replace('*/', '* /') | replace('/*', '/ *') }} */
{%- endmacro %}

{#- A time as wall clock: a TIMESTAMP as the session's clock shows it. -#}
{% macro default__sparkstream_wall_clock(time, is_wall=false) -%}
  {{ time if is_wall else 'CAST(' ~ time ~ ' AS TIMESTAMP_NTZ)' }}
{%- endmacro %}

{#- Spark's window(). It takes no offset of a whole slide or more, nor below zero; windows repeat every slide, so the
    remainder will do. -#}
{% macro default__sparkstream_spark_window(wall, size, offset=0, slide=none) -%}
  {%- set written = adapter.dispatch('sparkstream_written', 'sparkstream') -%}
  {%- set slide = slide or size -%}
  {%- set shift = offset % slide -%}
  window({{ wall }}, '{{ written(size) }}'
  {%- if shift or slide != size %}, '{{ written(slide) }}'{% endif -%}
  {%- if shift %}, '{{ written(shift) }}'{% endif -%}
  )
{%- endmacro %}

{#- The three columns that every window has, from times on the wall clock. `before_end`: a millisecond before the end.
    coalesce(bound, time) has the type of the time column, which isn't known here. -#}
{% macro default__sparkstream_added_columns(start, end, before_end, time, is_wall, wall_bounds) -%}
  {%- if is_wall or wall_bounds -%}
    {{ start }} AS window_start,
    {{ end }} AS window_end,
    {{ before_end if is_wall else 'coalesce(' ~ before_end ~ ', ' ~ time ~ ')' }} AS window_time
  {%- else -%}
    coalesce({{ start }}, {{ time }}) AS window_start,
    coalesce({{ end }}, {{ time }}) AS window_end,
    coalesce({{ end }}, {{ time }}) - INTERVAL '0.001' SECOND AS window_time
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
