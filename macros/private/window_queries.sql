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
