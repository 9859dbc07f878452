{% macro hop(relation, timecol, slide, size, offset=none) -%}
  {%- if not execute -%}{{ return('') }}{%- endif -%}
  {%- do adapter.dispatch('sparkstream_check_arguments', 'sparkstream')(
    'hop', kwargs, ['relation', 'timecol', 'slide', 'size', 'offset']
  ) -%}
  {%- set increment = adapter.dispatch('sparkstream_increment', 'sparkstream')(
    'hop', relation, timecol, size=size, slide=slide, offset=offset
  ) -%}
  {%- set sql = adapter.dispatch('hop', 'sparkstream')(increment.relation, timecol, slide, size, offset) -%}
  {{ return(adapter.dispatch('sparkstream_incremental', 'sparkstream')(sql, increment)) }}
{%- endmacro %}

{% macro sparkstream__hop(relation, timecol, slide, size, offset=none) -%}
  {%- set window_function = adapter.dispatch('sparkstream_window_function', 'sparkstream') -%}
  {{ return(window_function('hop', relation, timecol, [('slide', slide), ('size', size), ('offset', offset)])) }}
{%- endmacro %}

{% macro default__hop(relation, timecol, slide, size, offset=none) -%}
  {%- set interval = adapter.dispatch('sparkstream_interval', 'sparkstream') -%}
  {%- set written = adapter.dispatch('sparkstream_written', 'sparkstream') -%}
  {%- set comment = adapter.dispatch('sparkstream_comment', 'sparkstream') -%}
  {%- set spark_window = adapter.dispatch('sparkstream_spark_window', 'sparkstream') -%}
  {%- set relation = adapter.dispatch('sparkstream_relation', 'sparkstream')(relation, 'hop') -%}
  {%- set timecol = adapter.dispatch('sparkstream_column', 'sparkstream')(timecol, 'hop', 'timecol') -%}
  {%- set slide = interval(slide, 'hop', 'slide', positive=true) -%}
  {%- set size = interval(size, 'hop', 'size', positive=true) -%}
  {%- set offset = 0 if offset is none else interval(offset, 'hop', 'offset') -%}
  {%- if slide > size -%}
    {%- do exceptions.warn(
      "hop(..., slide, size): the slide '" ~ written(slide) ~ "' is longer than the size '" ~ written(size)
      ~ "', so rows between two windows are in none"
      ~ "\n  if you mean windows of " ~ written(slide) ~ " every " ~ written(size) ~ ", write hop(..., '"
      ~ written(size) ~ "', '" ~ written(slide) ~ "')"
    ) -%}
  {%- endif -%}
  {#- How many windows a row is in, at most: the one that began last, and so many slides before it. -#}
  {%- set overlap = (size + slide - 1) // slide -%}
  {%- set last = '__rows.__slide.start' -%}
  {%- set first = last ~ (' - ' ~ written(slide * (overlap - 1), literal=true) if overlap > 1 else '') -%}
(
  {{ comment('hop: windows of ' ~ written(size) ~ ' every ' ~ written(slide), offset, timecol) }}
  SELECT
    __rows.* EXCEPT (__slide),
    coalesce(__hop.start, __rows.{{ timecol }}) AS window_start,
    coalesce(__hop.start + {{ written(size, literal=true) }}, __rows.{{ timecol }}) AS window_end,
    coalesce(__hop.start + {{ written(size, literal=true) }}, __rows.{{ timecol }}) - INTERVAL '0.001' SECOND AS window_time
  FROM (
    SELECT *, {{ spark_window(timecol, slide, offset) }} AS __slide
    FROM {{ relation }}
  ) AS __rows
  LATERAL VIEW explode(sequence({{ first }}, {{ last }}, {{ written(slide, literal=true) }})) __hop AS start
  {%- set conditions = [] %}
  {%- if size % slide %}
    {%- do conditions.append('CAST(__rows.' ~ timecol ~ ' AS TIMESTAMP_NTZ) < __hop.start + ' ~ written(size, literal=true)) %}
  {%- endif %}
  {%- if size > 28 * 86400000000 and slide < 86400000000 %}
    {#- A clock that skips an hour where such a window begins and where it ends: as TIMESTAMPs, its bounds are those of
        the window an hour later, and the two are one. #}
    {%- set end = '__hop.start + ' ~ written(size, literal=true) %}
    {%- set shown = 'CAST(coalesce(__hop.start, __rows.' ~ timecol ~ ') AS TIMESTAMP_NTZ)' %}
    {%- set shown_end = 'CAST(coalesce(' ~ end ~ ', __rows.' ~ timecol ~ ') AS TIMESTAMP_NTZ)' %}
    {%- do conditions.append(
      '(' ~ adapter.dispatch('sparkstream_shows_utc', 'sparkstream')() ~ ' OR NOT ('
      ~ '\n    ' ~ shown ~ ' > __hop.start'
      ~ '\n    AND ' ~ shown_end ~ ' - (' ~ end ~ ') = ' ~ shown ~ ' - (__hop.start)'
      ~ '\n    AND pmod((' ~ shown ~ " - __hop.start) DIV INTERVAL '0.000001' SECOND, " ~ slide ~ ') = 0'
      ~ '\n  ))'
    ) %}
  {%- endif %}
  {%- if conditions %}
  WHERE {{ conditions | join(' AND ') }}
  {%- endif %}
)
{%- endmacro %}
