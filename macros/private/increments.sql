{#
  Which rows the windows of an incremental model need in this run; not part of the package's interface.

  The window macros ask `sparkstream_increment` what to read and which windows to keep. Elsewhere it hands the relation
  back as it is.
#}

{#- What a window macro reads, and a condition on its windows or none.
    The arguments are the window macro's. -#}
{% macro default__sparkstream_increment(
  macro_name, relation, timecol, size=none, slide=none, step=none, offset=none, gap=none, max_duration=none
) %}
  {%- set materialized = config.get('materialized') if model is defined and model.resource_type == 'model' else none -%}
  {%- set strategy = config.get('incremental_strategy') if materialized == 'incremental' else none -%}
  {%- if materialized == 'streaming_incremental' and adapter.type() != 'sparkstream' -%}
    {%- do adapter.dispatch('sparkstream_no_streams', 'sparkstream')() -%}
  {%- endif -%}
  {%- if strategy and adapter.type() == 'sparkstream'
    and strategy not in ['append', 'insert_overwrite', 'merge', 'microbatch', 'window_replace', 'delete+insert', 'replace_where'] -%}
    {#- dbt's error where the project has no such macro. -#}
    {%- do adapter.get_incremental_strategy_macro(context, strategy) -%}
  {%- endif -%}
  {%- if strategy == 'window_replace' and adapter.type() == 'sparkstream' -%}
    {%- do adapter.dispatch('sparkstream_check_window_replace', 'sparkstream')() -%}
  {%- endif -%}
  {%- set lengths = adapter.dispatch('sparkstream_lengths', 'sparkstream') -%}
  {#- dbt-spark appends by default, also with a unique_key. Databricks merges; dbt-sparkstream says it of all windows. -#}
  {%- if materialized == 'incremental' and not strategy and adapter.type() == 'spark' -%}
    {{ exceptions.raise_compiler_error(
      "an incremental model of windows has to say what becomes of the windows that its table has"
      ~ "\n  write incremental_strategy='microbatch' or 'insert_overwrite' and a partition_by,"
      ~ "\n  or incremental_strategy='append', where the query takes only windows that are new and closed"
    ) }}
  {%- endif -%}
  {%- if strategy == 'microbatch' and relation is string and '/* windows of the batch */' in relation -%}
    {{ exceptions.raise_compiler_error(
      macro_name ~ " is on windows that are cut to the batch already, so its own windows lack some at the edges"
      ~ "\n  build the inner windows in a model of their own"
    ) }}
  {%- elif strategy == 'microbatch' and relation is not string
    and adapter.dispatch('sparkstream_cut', 'sparkstream')(relation) and relation.limit | default('') is not number -%}
    {%- set kind = lengths(macro_name, size, slide, step, offset, gap, max_duration) -%}
    {{ return(adapter.dispatch('sparkstream_batch', 'sparkstream')(
      macro_name, relation, timecol, kind, config.get('event_time')
    )) }}
  {%- elif strategy == 'microbatch' and relation is string and model.batch and model.batch.id and adapter.type() != 'sparkstream' -%}
    {%- set kind = lengths(macro_name, size, slide, step, offset, gap, max_duration) -%}
    {%- set unit = 3600000000 if config.get('batch_size') == 'hour' else 86400000000 -%}
    {%- set filled = kind.size and kind.every == kind.size and kind.period == kind.size
      and unit % kind.size == 0 and not kind.offset -%}
    {%- if not filled -%}
      {%- do exceptions.warn(
        macro_name ~ " in " ~ model.name ~ " reads " ~ (relation if relation | length < 60 else 'a query')
        ~ ": if dbt cuts that to the rows of a batch, windows at its edges lack some"
        ~ "\n  give " ~ macro_name ~ " a ref, and write the rest of the query around it"
      ) -%}
    {%- endif -%}
  {%- elif strategy == 'window_replace' and adapter.type() != 'sparkstream' -%}
    {%- do adapter.dispatch('sparkstream_needs_the_adapter', 'sparkstream')(
      'the incremental strategy window_replace', adapter.type() ~ ' has its own list of strategies',
      "write incremental_strategy='microbatch'", ' --as-tables'
    ) -%}
  {%- elif strategy == 'window_replace' and relation is not string and is_incremental() -%}
    {%- set kind = lengths(macro_name, size, slide, step, offset, gap, max_duration) -%}
    {%- set from_time = adapter.dispatch('sparkstream_open_windows', 'sparkstream')(this, kind).rows_from -%}
    {%- if from_time is not none -%}
      {%- set rows = "(SELECT * FROM " ~ relation ~ " WHERE " ~ timecol ~ " >= " ~ from_time ~ ")" -%}
      {{ return({'relation': rows, 'windows': none}) }}
    {%- endif -%}
  {%- endif -%}
  {{ return({'relation': relation, 'windows': none}) }}
{% endmacro %}

{#- A window's lengths in microseconds: windows begin `every`, and end every `period`. What a session begins with depends
    on rows up to its `reach` earlier; on any of its key, where that is none. -#}
{% macro default__sparkstream_lengths(macro_name, size, slide, step, offset, gap, max_duration=none) %}
  {%- set interval = adapter.dispatch('sparkstream_interval', 'sparkstream') -%}
  {%- if gap is not none -%}
    {%- set own_gap = adapter.dispatch('sparkstream_gap_column', 'sparkstream')(gap, macro_name) -%}
    {%- set reach = none if own_gap or max_duration is not none else interval(gap, macro_name, 'gap', positive=true) -%}
    {{ return({'gap': true, 'reach': reach, 'size': none}) }}
  {%- endif -%}
  {{ return({
    'gap': false,
    'size': interval(size, macro_name, 'size', positive=true),
    'every': interval(slide or size, macro_name, 'slide', positive=true),
    'period': interval(slide or step or size, macro_name, 'step', positive=true),
    'offset': 0 if offset is none else interval(offset, macro_name, 'offset')
  }) }}
{% endmacro %}

{#- How dbt cuts a relation to the rows of a batch: the column, the edges, and `rows`, the relation without the cut; none
    where it doesn't. In dbt 2 only the relation's text says it, `(select * from X where COL >= '...' and ...)`, and a
    batch without an id is a placeholder. -#}
{% macro default__sparkstream_cut(relation) %}
  {%- set filter = relation.event_time_filter | default('') -%}
  {%- if filter -%}
    {{ return({
      'field_name': filter.field_name, 'start': filter.start, 'end': filter.end, 'rows': relation.render()
    }) }}
  {%- endif -%}
  {%- set text = relation | string if model.batch and model.batch.id else '' -%}
  {%- set parts = text[15:].split(' where ', 1) -%}
  {%- if not text.startswith('(select * from ') or ' >= ' not in parts | last -%}{{ return(none) }}{%- endif -%}
  {{ return({
    'field_name': parts[1].split(' >= ', 1)[0],
    'start': model.batch.event_time_start,
    'end': model.batch.event_time_end,
    'rows': parts[0]
  }) }}
{% endmacro %}

{#- An edge of a batch: what dbt calls UTC is what the clock of the session's zone shows. -#}
{% macro default__sparkstream_edge(edge) %}
  {{ return("TIMESTAMP_NTZ'" ~ edge.strftime('%Y-%m-%d %H:%M:%S') ~ "'") }}
{% endmacro %}

{#- A window macro's SQL, cut to the windows of the batch where there is one. -#}
{% macro default__sparkstream_incremental(sql, increment) %}
  {{ return(
    sql if increment.windows is none
    else '(/* windows of the batch */ SELECT * FROM ' ~ sql ~ ' WHERE ' ~ increment.windows ~ ')'
  ) }}
{% endmacro %}

{#- The batch's windows are those whose `event_time` (a bound, of the model's config) is in the batch; a window at its
    edge needs rows from outside. dbt's batches are times on the wall clock here, like windows.
    The adapter asks this too, for windows in SQL itself, so it reads nothing but its arguments. -#}
{% macro default__sparkstream_batch(macro_name, relation, timecol, kind, event_time) %}
  {%- set filter = adapter.dispatch('sparkstream_cut', 'sparkstream')(relation) -%}
  {%- set cut_by = filter.field_name | replace('`', '') | lower -%}
  {%- if cut_by != timecol | replace('`', '') | lower -%}
    {{ exceptions.raise_compiler_error(
      "dbt cuts " ~ relation.identifier ~ " in batches by " ~ filter.field_name ~ ", but " ~ macro_name
      ~ "'s windows are on " ~ timecol ~ "\n  write event_time: " ~ timecol ~ " in the config of " ~ relation.identifier
    ) }}
  {%- endif -%}
  {%- set written = adapter.dispatch('sparkstream_wall_time', 'sparkstream') -%}
  {%- set epoch = modules.datetime.datetime(1970, 1, 1) -%}
  {#- By its parts: dbt 2 can't divide or multiply a timedelta. -#}
  {%- set since, until = filter.start.replace(tzinfo=none) - epoch, filter.end.replace(tzinfo=none) - epoch -%}
  {%- set begin = (since.days * 86400 + since.seconds) * 1000000 + since.microseconds -%}
  {%- set end = (until.days * 86400 + until.seconds) * 1000000 + until.microseconds -%}
  {%- set bound = (event_time or '') | replace('`', '') | lower -%}
  {%- set in_windows = bound in ['window_start', 'window_end', 'window_time'] -%}
  {#- window_time is a millisecond before the end. -#}
  {%- set before_end = 1000 if bound == 'window_time' else 0 -%}
  {#- How far a clock is turned, at most. -#}
  {%- set turn = 10800000000 -%}
  {%- set turned_from = none -%}
  {%- if not in_windows -%}
    {%- set fits = not kind.gap and kind.every == kind.size and kind.period == kind.size
      and (begin - kind.offset) % kind.size == 0 and (end - kind.offset) % kind.size == 0 -%}
    {%- if not fits and bound != cut_by -%}
      {{ exceptions.raise_compiler_error(
        "windows at the edges of a batch need rows of other batches, and event_time='" ~ event_time
        ~ "' doesn't say which windows are the batch's\n  write event_time='window_time' (or 'window_start', 'window_end')"
        ~ " in this model's config, and keep that column"
      ) }}
    {%- endif -%}
    {#- Tumbling windows that fill the batch, or rows that stay rows: none needs another batch. -#}
    {%- set rows_from, rows_to = begin, end -%}
  {%- elif kind.gap -%}
    {#- A row no more than a gap before the batch says that a session began earlier; one that begins in the batch may
        last beyond it, and one that ends in it may have begun at any time. -#}
    {%- set rows_from = begin - kind.reach if bound == 'window_start' and kind.reach is not none else none -%}
    {%- set rows_to = none if bound == 'window_start' else end + before_end -%}
  {%- elif bound == 'window_start' -%}
    {%- set rows_from = begin + (kind.offset - begin) % kind.every -%}
    {%- set turned_from = begin - turn + (kind.offset - begin + turn) % kind.every -%}
    {%- set rows_to = end - 1 - (end - 1 - kind.offset) % kind.every + kind.size -%}
  {%- else -%}
    {%- set first, last = begin + before_end, end + before_end - 1 -%}
    {%- set origin = kind.offset + kind.size -%}
    {%- set rows_from = first + (origin - first) % kind.period - kind.size -%}
    {%- set turned_from = first - turn + (origin - first + turn) % kind.period - kind.size -%}
    {%- set rows_to = last - (last - origin) % kind.period -%}
  {%- endif -%}
  {%- set conditions = [] -%}
  {%- for operator, time in [('>=', rows_from), ('<', rows_to)] if time is not none -%}
    {%- set edge = written(time) -%}
    {#- A bound in an hour that the clock skips is as much later, and may be in the next batch; its rows are where it was meant to be. -#}
    {%- if operator == '>=' and turned_from is not none and turned_from != time -%}
      {%- set edge = "CASE WHEN " ~ adapter.dispatch('sparkstream_wall_clock', 'sparkstream')(
        'CAST(' ~ written(begin) ~ " AS TIMESTAMP) - INTERVAL '3' HOUR"
      ) ~ ' < ' ~ written(begin - turn) ~ ' THEN ' ~ written(turned_from) ~ ' ELSE ' ~ edge ~ ' END' -%}
    {%- endif -%}
    {%- do conditions.append(adapter.dispatch('sparkstream_bounded', 'sparkstream')(
      timecol, operator, edge, time % 3600000000 == 0 and (turned_from or 0) % 3600000000 == 0
    )) -%}
  {%- endfor -%}
  {#- As differences: Spark compares a cast of a time on the wall as if no hour were skipped. -#}
  {%- set in_batch = [] -%}
  {%- for operator, time in [('>=', begin), ('<', end)] -%}
    {%- do in_batch.append(bound ~ ' - ' ~ written(time) ~ ' ' ~ operator ~ " INTERVAL '0' SECOND") -%}
  {%- endfor -%}
  {{ return({
    'relation': (
      '(SELECT * FROM ' ~ filter.rows ~ ' WHERE ' ~ conditions | join(' AND ') ~ ')' if conditions
      else filter.rows
    ),
    'windows': in_batch | join(' AND ') if in_windows else none
  }) }}
{% endmacro %}

{#- A time on the wall in SQL, from its microseconds. -#}
{% macro default__sparkstream_wall_time(micros) -%}
  {%- set time = modules.datetime.datetime(1970, 1, 1) + modules.datetime.timedelta(microseconds=micros) -%}
  {{ return("TIMESTAMP_NTZ'" ~ time.isoformat() | replace('T', ' ') ~ "'") }}
{%- endmacro %}

{#- A condition on a time by the clock on the wall. Spark compares a TIMESTAMP with an edge as instants, which is another order within an
    hour that the clock skips or repeats. Clocks are turned at full hours, so an edge at one is the same in both. -#}
{% macro default__sparkstream_bounded(time, operator, edge, at_full_hour) %}
  {%- if at_full_hour -%}{{ return(time ~ ' ' ~ operator ~ ' ' ~ edge) }}{%- endif -%}
  {#- By the first condition files can be left out. The second is a difference, as Spark takes a comparison of the cast for one of
      instants. -#}
  {%- set near = edge ~ (' - ' if operator == '>=' else ' + ') ~ "INTERVAL '3' HOUR" -%}
  {%- set wall = adapter.dispatch('sparkstream_wall_clock', 'sparkstream')(time) -%}
  {{ return(
    time ~ ' ' ~ operator ~ ' ' ~ near ~ ' AND ' ~ wall ~ ' - (' ~ edge ~ ') ' ~ operator ~ " INTERVAL '0' SECOND"
  ) }}
{% endmacro %}

{#- The names of the columns with a window's bounds in a model of strategy window_replace. -#}
{% macro default__sparkstream_window_columns() %}
  {%- set names = config.get('window_columns', ['window_start', 'window_end']) -%}
  {%- if names is string or names | length != 2 -%}
    {{ exceptions.raise_compiler_error(
      "window_columns are not two names: " ~ names ~ "\n  write window_columns=['window_start', 'window_end']"
    ) }}
  {%- endif -%}
  {{ return({'start': adapter.named(names[0]), 'end': adapter.named(names[1])}) }}
{% endmacro %}

{#- Refuses a model of strategy window_replace without the bounds of its windows. `what` has the columns. -#}
{% macro default__sparkstream_has_bounds(names, what) %}
  {%- set there = names | map('lower') | list -%}
  {%- for name in adapter.dispatch('sparkstream_window_columns', 'sparkstream')().values() -%}
    {%- if sparkstream_plain_name(name) | lower not in there -%}
    {{ exceptions.raise_compiler_error(
      "window_replace replaces windows by their bounds, but " ~ what ~ " has no column " ~ name
      ~ "\n  select it, or write window_columns=[...] with the names that it has"
    ) }}
    {%- endif -%}
  {%- endfor -%}
{% endmacro %}

{#- What may still change in a table of windows, as SQL literals; none if the table is empty.
    `since`: a window that ends at or after this time may. The latest window began no later than the latest row that
    the table has seen, and rows come at most `lateness` behind that: by the clock on the wall, or in time that has passed.
    `rows_from`: the time from which those windows have rows; only with `kind`. -#}
{% macro default__sparkstream_open_windows(table, kind=none) %}
  {%- set written = adapter.dispatch('sparkstream_written', 'sparkstream') -%}
  {%- set settled = adapter.dispatch('sparkstream_settled', 'sparkstream') -%}
  {%- set wall = adapter.dispatch('sparkstream_wall_clock', 'sparkstream') -%}
  {%- set columns = adapter.dispatch('sparkstream_window_columns', 'sparkstream')() -%}
  {%- do adapter.dispatch('sparkstream_has_bounds', 'sparkstream')(
    adapter.get_columns_in_relation(table) | map(attribute='name') | list, table
  ) -%}
  {%- set lateness = written(
    adapter.dispatch('sparkstream_interval', 'sparkstream')(config.get('lateness', '0 seconds'), 'window_replace', 'lateness'),
    literal=true
  ) -%}
  {%- set half_day = "INTERVAL '12' HOUR" -%}
  {%- set rows_from = 'since' -%}
  {%- if kind and kind.gap -%}
    {%- set rows_from = 'least(since, min(CASE WHEN ' ~ columns.end ~ ' >= since THEN ' ~ wall(columns.start) ~ ' END))' -%}
  {%- elif kind -%}
    {%- set rows_from = settled('since - ' ~ written(kind.size, literal=true)) -%}
  {%- endif -%}
  {#- Where a clock goes forward, a start in the hour that isn't there stands an hour later; read with the clock of half a day
      before, it is where it was meant to be. Where it goes back, later rows have earlier times, of no more than the half day. -#}
  {%- set query -%}
WITH __latest AS (
  SELECT
    max({{ columns.start }}) AS latest,
    max(least({{ wall(columns.start) }}, {{ wall(columns.start ~ ' - ' ~ half_day) }} + {{ half_day }})) AS meant
  FROM {{ table }}
),
__oldest AS (
  SELECT *, latest - ({{ wall('latest') }} - meant) - {{ lateness }} AS oldest FROM __latest
),
__open AS (
  SELECT
    *,
    least(
      meant - {{ lateness }},
      {{ wall('oldest') }}
        - greatest(INTERVAL '0' SECOND, {{ half_day }} - ({{ wall('oldest + ' ~ half_day) }} - {{ wall('oldest') }}))
    ) AS open
  FROM __oldest
)
SELECT CAST(since AS STRING), CAST({{ rows_from }} AS STRING)
FROM {{ table }}
CROSS JOIN (SELECT latest, {{ settled('open') }} AS since FROM __open)
GROUP BY since, latest
  {%- endset -%}
  {%- set found = run_query(query).rows -%}
  {%- if not found or found[0][0] is none -%}
    {{ return({'since': none, 'rows_from': none}) }}
  {%- endif -%}
  {{ return({
    'since': "TIMESTAMP_NTZ'" ~ found[0][0] ~ "'",
    'rows_from': "TIMESTAMP_NTZ'" ~ found[0][1] ~ "'" if kind else none
  }) }}
{% endmacro %}

{#- A time on the wall, set back to before the clock goes forward where it stands in the hour that isn't there, or within three
    hours after it: bounds that were meant to be in that hour stand there, and a TIMESTAMP can't be compared with such a time. -#}
{% macro default__sparkstream_settled(time) %}
  {%- set wall = adapter.dispatch('sparkstream_wall_clock', 'sparkstream') -%}
  {%- set instant = 'CAST(' ~ time ~ ' AS TIMESTAMP)' -%}
  {%- set passed = '(' ~ wall(instant) ~ ' - ' ~ wall(instant ~ " - INTERVAL '3' HOUR") ~ ')' -%}
  {{ return(
    time ~ " - CASE WHEN typeof(latest) = 'timestamp' AND " ~ passed ~ " > INTERVAL '3' HOUR THEN " ~ passed
    ~ " ELSE INTERVAL '0' SECOND END"
  ) }}
{% endmacro %}

{#- Refuses a streaming model on another adapter: when a window macro is in it, as dbt compiles it, else when it runs. -#}
{% macro default__sparkstream_no_streams() %}
  {%- do adapter.dispatch('sparkstream_needs_the_adapter', 'sparkstream')(
    'the materialization streaming_incremental', 'a streaming query is none that ' ~ adapter.type() ~ ' runs',
    'materialize this model as incremental and read its relations without stream()', ' --as-tables'
  ) -%}
{% endmacro %}

{#- Refuses configs of a model of strategy window_replace when it is compiled, and not when the first windows are replaced. -#}
{% macro default__sparkstream_check_window_replace() %}
  {%- do adapter.dispatch('sparkstream_window_columns', 'sparkstream')() -%}
  {%- do adapter.dispatch('sparkstream_interval', 'sparkstream')(
    config.get('lateness', '0 seconds'), 'window_replace', 'lateness'
  ) -%}
  {%- do adapter.dispatch('sparkstream_check_partitions', 'sparkstream')('window_replace') -%}
{% endmacro %}

{#- Refuses a strategy that replaces partitions in a model without any. Delta and Iceberg replace windows as rows. -#}
{% macro default__sparkstream_check_partitions(strategy) %}
  {%- if not config.get('partition_by') and not (strategy == 'window_replace' and sparkstream_is_logged()) -%}
    {{ exceptions.raise_compiler_error(
      strategy ~ " replaces partitions, and needs a partition_by"
      ~ "\n  write one such as partition_by='day', with cast(window_start as date) as day in the query"
    ) }}
  {%- endif -%}
{% endmacro %}
