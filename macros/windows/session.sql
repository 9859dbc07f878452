{% macro session(relation, timecol, gap, partition_by=none) -%}
  {{ return(adapter.dispatch('session', 'sparkstream')(relation, timecol, gap, partition_by) if execute else '') }}
{%- endmacro %}

{% macro sparkstream__session(relation, timecol, gap, partition_by=none) -%}
  {%- set keys = sparkstream_keys(partition_by, 'session') -%}
  {{ return(sparkstream_window_function('session', relation, timecol, [('gap', gap)], keys)) }}
{%- endmacro %}

{% macro default__session(relation, timecol, gap, partition_by=none) -%}
  {%- set relation = sparkstream_relation(relation, 'session') -%}
  {%- set timecol = sparkstream_column(timecol, 'session', 'timecol') -%}
  {%- set gap = sparkstream_positive_interval(gap, 'session', 'gap') -%}
  {%- set keys = sparkstream_keys(partition_by, 'session') -%}
  {{ return(sparkstream_session_query(relation, timecol, gap, keys)) }}
{%- endmacro %}

{#- Private. gap: microseconds. The running count takes the default RANGE frame, so rows of the same time get the
    same session; window() of a millisecond drops rows without a time and cuts times to what Flink keeps. -#}
{% macro sparkstream_session_query(relation, timecol, gap, keys) -%}
{%- set columns = keys | join(', ') -%}
{%- set per_key = 'PARTITION BY ' ~ columns ~ ' ' if keys else '' -%}
(
  /* session: sessions with a gap of {{ sparkstream_interval_words(gap) }} on {{ sparkstream_in_comment(timecol ~ (', per ' ~ columns if keys else '')) }} */
  SELECT
    * EXCEPT (__time, __opens, __session),
    coalesce(min(__time) OVER __same, {{ timecol }}) AS window_start,
    coalesce(max(__time) OVER __same + {{ sparkstream_interval_literal(gap) }}, {{ timecol }}) AS window_end,
    coalesce(max(__time) OVER __same + {{ sparkstream_interval_literal(gap - 1000) }}, {{ timecol }}) AS window_time
  FROM (
    SELECT *, count_if(__opens) OVER ({{ per_key }}ORDER BY __time) AS __session
    FROM (
      SELECT *, coalesce(__time - lag(__time) OVER ({{ per_key }}ORDER BY __time) > {{ sparkstream_interval_literal(gap) }}, TRUE) AS __opens
      FROM (
        SELECT *, {{ sparkstream_spark_window(timecol, 1000) }}.start AS __time
        FROM {{ relation }}
      )
    )
  )
  WINDOW __same AS (PARTITION BY {{ columns ~ ', ' if keys else '' }}__session)
)
{%- endmacro %}
