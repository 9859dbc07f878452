{% macro session(relation, timecol, gap, partition_by=none, max_duration=none, close_on=none) -%}
  {%- if not execute -%}{{ return('') }}{%- endif -%}
  {%- do adapter.dispatch('sparkstream_check_arguments', 'sparkstream')(
    'session', kwargs, ['relation', 'timecol', 'gap', 'partition_by', 'max_duration', 'close_on'], varargs
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
  {%- set comment = adapter.dispatch('sparkstream_window_comment', 'sparkstream') -%}
  {%- set relation = adapter.dispatch('sparkstream_relation', 'sparkstream')(relation, 'session') -%}
  {%- set timecol = adapter.dispatch('sparkstream_column', 'sparkstream')(timecol, 'session', 'timecol') -%}
  {%- set keys = adapter.dispatch('sparkstream_keys', 'sparkstream')(partition_by, 'session') -%}
  {%- set own_gap = adapter.dispatch('sparkstream_gap_column', 'sparkstream')(gap, 'session') -%}
  {%- set gap = none if own_gap else interval(gap, 'session', 'gap', positive=true) -%}
  {%- set longest = none if max_duration is none else interval(max_duration, 'session', 'max_duration', positive=true) -%}
  {%- set condition = adapter.dispatch('sparkstream_condition', 'sparkstream')(close_on, 'session', 'close_on') -%}
  {%- set words = "session: sessions with " ~ ("each row's own gap" if own_gap else 'a gap of ' ~ written(gap))
    ~ (', of ' ~ written(longest) ~ ' at most' if longest else '') -%}
  {{ return(adapter.dispatch('sparkstream_session_query', 'sparkstream')(
    comment(words, timecol, keys=keys, condition=condition), relation, timecol, gap, own_gap, longest, condition, keys
  )) }}
{%- endmacro %}
