{% macro hop(relation, timecol, slide, size, offset=none) -%}
  {{ return(adapter.dispatch('hop', 'sparkstream')(relation, timecol, slide, size, offset) if execute else '') }}
{%- endmacro %}

{% macro sparkstream__hop(relation, timecol, slide, size, offset=none) -%}
  {{ return(sparkstream_window_function('hop', relation, timecol, [('slide', slide), ('size', size), ('offset', offset)])) }}
{%- endmacro %}

{% macro default__hop(relation, timecol, slide, size, offset=none) -%}
  {%- set relation = sparkstream_relation(relation, 'hop') -%}
  {%- set timecol = sparkstream_column(timecol, 'hop', 'timecol') -%}
  {%- set slide = sparkstream_positive_interval(slide, 'hop', 'slide') -%}
  {%- set size = sparkstream_positive_interval(size, 'hop', 'size') -%}
  {%- set offset = 0 if offset is none else sparkstream_interval(offset, 'hop', 'offset') -%}
  {{ return(sparkstream_hop_query(relation, timecol, slide, size, offset)) }}
{%- endmacro %}

{#- Private. slide, size, offset: microseconds. -#}
{% macro sparkstream_hop_query(relation, timecol, slide, size, offset) -%}
{#- How many windows a row is in, at most. -#}
{%- set overlap = (size + slide - 1) // slide -%}
{%- set last = '__rows.__slide.start' -%}
{%- set first = last if overlap == 1 else last ~ ' - ' ~ sparkstream_interval_literal(slide * (overlap - 1)) -%}
(
  /* hop: windows of {{ sparkstream_interval_words(size) }} every {{ sparkstream_interval_words(slide) }}{{ sparkstream_offset_words(offset) }} on {{ sparkstream_in_comment(timecol) }} */
  SELECT
    __rows.* EXCEPT (__slide),
    coalesce(__hop.start, __rows.{{ timecol }}) AS window_start,
    coalesce(__hop.start + {{ sparkstream_interval_literal(size) }}, __rows.{{ timecol }}) AS window_end,
    coalesce(__hop.start + {{ sparkstream_interval_literal(size - 1000) }}, __rows.{{ timecol }}) AS window_time
  FROM (
    SELECT *, {{ sparkstream_spark_window(timecol, slide, offset) }} AS __slide
    FROM {{ relation }}
  ) AS __rows
  LATERAL VIEW explode(sequence({{ first }}, {{ last }}, {{ sparkstream_interval_literal(slide) }})) __hop AS start
  {%- if size % slide %}
  WHERE CAST(__rows.{{ timecol }} AS TIMESTAMP_NTZ) < __hop.start + {{ sparkstream_interval_literal(size) }}
  {%- endif %}
)
{%- endmacro %}
