{% macro session(relation, timecol, gap, partition_by=none, max_duration=none, close_on=none) -%}
  {%- if not execute -%}{{ return('') }}{%- endif -%}
  {%- do adapter.dispatch('sparkstream_check_arguments', 'sparkstream')(
    'session', kwargs, ['relation', 'timecol', 'gap', 'partition_by', 'max_duration', 'close_on']
  ) -%}
  {%- set increment = adapter.dispatch('sparkstream_increment', 'sparkstream')(
    'session', relation, timecol, gap=gap, max_duration=max_duration
  ) -%}
  {%- set sql = adapter.dispatch('session', 'sparkstream')(
    increment.relation, timecol, gap, partition_by, max_duration, close_on
  ) -%}
  {{ return(adapter.dispatch('sparkstream_incremental', 'sparkstream')(sql, increment)) }}
{%- endmacro %}

{% macro sparkstream__session(relation, timecol, gap, partition_by=none, max_duration=none, close_on=none) -%}
  {%- set keys = adapter.dispatch('sparkstream_keys', 'sparkstream')(partition_by, 'session') -%}
  {%- set own_gap = adapter.dispatch('sparkstream_gap_column', 'sparkstream')(gap, 'session') -%}
  {%- set condition = adapter.dispatch('sparkstream_condition', 'sparkstream')(close_on, 'session', 'close_on') -%}
  {%- set window_function = adapter.dispatch('sparkstream_window_function', 'sparkstream') -%}
  {%- set intervals = ([] if own_gap else [('gap', gap)]) + [('max_duration', max_duration)] -%}
  {%- set others = (['gap => ' ~ own_gap] if own_gap else []) + (['close_on => ' ~ condition] if condition else []) -%}
  {{ return(window_function('session', relation, timecol, intervals, keys, others)) }}
{%- endmacro %}

{% macro default__session(relation, timecol, gap, partition_by=none, max_duration=none, close_on=none) -%}
  {%- set interval = adapter.dispatch('sparkstream_interval', 'sparkstream') -%}
  {%- set written = adapter.dispatch('sparkstream_written', 'sparkstream') -%}
  {%- set comment = adapter.dispatch('sparkstream_comment', 'sparkstream') -%}
  {%- set spark_window = adapter.dispatch('sparkstream_spark_window', 'sparkstream') -%}
  {%- set relation = adapter.dispatch('sparkstream_relation', 'sparkstream')(relation, 'session') -%}
  {%- set timecol = adapter.dispatch('sparkstream_column', 'sparkstream')(timecol, 'session', 'timecol') -%}
  {%- set keys = adapter.dispatch('sparkstream_keys', 'sparkstream')(partition_by, 'session') -%}
  {%- set own_gap = adapter.dispatch('sparkstream_gap_column', 'sparkstream')(gap, 'session') -%}
  {%- set gap = none if own_gap else interval(gap, 'session', 'gap', positive=true) -%}
  {%- if own_gap or max_duration is not none or close_on is not none -%}
    {{ return(adapter.dispatch('sparkstream_ruled_session', 'sparkstream')(
      relation, timecol, gap, own_gap, keys, max_duration, close_on
    )) }}
  {%- endif -%}
  {%- set per_key = 'PARTITION BY ' ~ keys | join(', ') ~ ' ' if keys else '' -%}
  {#- The running count takes the default RANGE frame, so rows of the same time get the same session. window() of a
      millisecond drops rows without a time, and cuts times to what Flink keeps. -#}
(
  {{ comment('session: sessions with a gap of ' ~ written(gap), 0, timecol, keys) }}
  SELECT
    * EXCEPT (__time, __opens, __session),
    coalesce(min(__time) OVER __same, {{ timecol }}) AS window_start,
    coalesce(max(__time) OVER __same + {{ written(gap, literal=true) }}, {{ timecol }}) AS window_end,
    coalesce(max(__time) OVER __same + {{ written(gap, literal=true) }}, {{ timecol }}) - INTERVAL '0.001' SECOND AS window_time
  FROM (
    SELECT *, count_if(__opens) OVER ({{ per_key }}ORDER BY __time) AS __session
    FROM (
      SELECT
        *,
        coalesce(__time - lag(__time) OVER ({{ per_key }}ORDER BY __time) > {{ written(gap, literal=true) }}, TRUE) AS __opens
      FROM (
        SELECT *, {{ spark_window(timecol, 1000) }}.start AS __time
        FROM {{ relation }}
      )
    )
  )
  WINDOW __same AS (PARTITION BY {{ (keys + ['__session']) | join(', ') }})
)
{%- endmacro %}
