{% macro cumulate(relation, timecol, step, size, offset=none) -%}
  {%- if not execute -%}{{ return('') }}{%- endif -%}
  {%- do adapter.dispatch('sparkstream_check_arguments', 'sparkstream')(
    'cumulate', kwargs, ['relation', 'timecol', 'step', 'size', 'offset']
  ) -%}
  {%- set increment = adapter.dispatch('sparkstream_increment', 'sparkstream')(
    'cumulate', relation, timecol, size=size, step=step, offset=offset
  ) -%}
  {%- set sql = adapter.dispatch('cumulate', 'sparkstream')(increment.relation, timecol, step, size, offset) -%}
  {{ return(adapter.dispatch('sparkstream_incremental', 'sparkstream')(sql, increment)) }}
{%- endmacro %}

{% macro sparkstream__cumulate(relation, timecol, step, size, offset=none) -%}
  {%- set window_function = adapter.dispatch('sparkstream_window_function', 'sparkstream') -%}
  {{ return(window_function('cumulate', relation, timecol, [('step', step), ('size', size), ('offset', offset)])) }}
{%- endmacro %}

{% macro default__cumulate(relation, timecol, step, size, offset=none) -%}
  {%- set interval = adapter.dispatch('sparkstream_interval', 'sparkstream') -%}
  {%- set written = adapter.dispatch('sparkstream_written', 'sparkstream') -%}
  {%- set comment = adapter.dispatch('sparkstream_comment', 'sparkstream') -%}
  {%- set spark_window = adapter.dispatch('sparkstream_spark_window', 'sparkstream') -%}
  {%- set relation = adapter.dispatch('sparkstream_relation', 'sparkstream')(relation, 'cumulate') -%}
  {%- set timecol = adapter.dispatch('sparkstream_column', 'sparkstream')(timecol, 'cumulate', 'timecol') -%}
  {%- set step = interval(step, 'cumulate', 'step', positive=true) -%}
  {%- set size = interval(size, 'cumulate', 'size', positive=true) -%}
  {%- set offset = 0 if offset is none else interval(offset, 'cumulate', 'offset') -%}
  {%- if size % step -%}
    {{ exceptions.raise_compiler_error(
      "cumulate's size (" ~ written(size) ~ ") must be a whole multiple of its step (" ~ written(step) ~ ")"
      ~ "\n  write a size such as '" ~ written([step, size - size % step] | max) ~ "'"
    ) }}
  {%- endif -%}
  {%- set one_step = written(step, literal=true) -%}
  {#- The first window that ends after the row. -#}
  {%- set steps = '(CAST(__rows.' ~ timecol ~ ' AS TIMESTAMP_NTZ) - __rows.__block.start) DIV ' ~ one_step ~ ' + 1' -%}
  {%- set first = '__rows.__block.start + ' ~ one_step ~ ' * (' ~ steps ~ ')' -%}
(
  {{ comment('cumulate: windows that grow by ' ~ written(step) ~ ' up to ' ~ written(size), offset, timecol) }}
  SELECT
    __rows.* EXCEPT (__block),
    coalesce(__rows.__block.start, __rows.{{ timecol }}) AS window_start,
    coalesce(__step.end, __rows.{{ timecol }}) AS window_end,
    coalesce(__step.end, __rows.{{ timecol }}) - INTERVAL '0.001' SECOND AS window_time
  FROM (
    SELECT *, {{ spark_window(timecol, size, offset) }} AS __block
    FROM {{ relation }}
  ) AS __rows
  LATERAL VIEW explode(sequence({{ first }}, __rows.__block.end, {{ one_step }})) __step AS end
  {%- if step < size and step <= 86400000000 %}
  {#- A clock that skips an hour: an end in it is, as a TIMESTAMP, the end an hour later, and the two windows are one. #}
  {%- set shown = 'CAST(coalesce(__step.end, __rows.' ~ timecol ~ ') AS TIMESTAMP_NTZ)' %}
  WHERE {{ adapter.dispatch('sparkstream_shows_utc', 'sparkstream')() }} OR NOT (
    {{ shown }} > __step.end
    AND {{ shown }} <= __rows.__block.end
    AND pmod(({{ shown }} - __step.end) DIV INTERVAL '0.000001' SECOND, {{ step }}) = 0
  )
  {%- endif %}
)
{%- endmacro %}
