{% macro cumulate(relation, timecol, step, size, offset=none) -%}
  {{ return(adapter.dispatch('cumulate', 'sparkstream')(relation, timecol, step, size, offset) if execute else '') }}
{%- endmacro %}

{% macro sparkstream__cumulate(relation, timecol, step, size, offset=none) -%}
  {{ return(sparkstream_window_function('cumulate', relation, timecol, [('step', step), ('size', size), ('offset', offset)])) }}
{%- endmacro %}

{% macro default__cumulate(relation, timecol, step, size, offset=none) -%}
  {%- set relation = sparkstream_relation(relation, 'cumulate') -%}
  {%- set timecol = sparkstream_column(timecol, 'cumulate', 'timecol') -%}
  {%- set step = sparkstream_positive_interval(step, 'cumulate', 'step') -%}
  {%- set size = sparkstream_positive_interval(size, 'cumulate', 'size') -%}
  {%- set offset = 0 if offset is none else sparkstream_interval(offset, 'cumulate', 'offset') -%}
  {%- if size % step -%}
    {{ exceptions.raise_compiler_error(
      "cumulate's size (" ~ sparkstream_interval_words(size) ~ ") must be a whole multiple of its step ("
      ~ sparkstream_interval_words(step) ~ ")\n  write a size such as '"
      ~ sparkstream_interval_words(step * [1, size // step] | max) ~ "'"
    ) }}
  {%- endif -%}
  {{ return(sparkstream_cumulate_query(relation, timecol, step, size, offset)) }}
{%- endmacro %}

{#- Private. step, size, offset: microseconds. -#}
{% macro sparkstream_cumulate_query(relation, timecol, step, size, offset) -%}
{%- set step_literal = sparkstream_interval_literal(step) -%}
(
  /* cumulate: windows that grow by {{ sparkstream_interval_words(step) }} up to {{ sparkstream_interval_words(size) }}{{ sparkstream_offset_words(offset) }} on {{ sparkstream_in_comment(timecol) }} */
  SELECT
    __rows.* EXCEPT (__block),
    coalesce(__rows.__block.start, __rows.{{ timecol }}) AS window_start,
    coalesce(__step.end, __rows.{{ timecol }}) AS window_end,
    coalesce(__step.end - INTERVAL '0.001' SECOND, __rows.{{ timecol }}) AS window_time
  FROM (
    SELECT *, {{ sparkstream_spark_window(timecol, size, offset) }} AS __block
    FROM {{ relation }}
  ) AS __rows
  LATERAL VIEW explode(sequence(
    __rows.__block.start + {{ step_literal }} * ((CAST(__rows.{{ timecol }} AS TIMESTAMP_NTZ) - __rows.__block.start) DIV {{ step_literal }} + 1),
    __rows.__block.end,
    {{ step_literal }}
  )) __step AS end
)
{%- endmacro %}
