{% test conserved(
  model, source, measure, source_measure=none, partition_by=none, source_where=none, times=1, tolerance=none
) %}
  {%- do adapter.dispatch('sparkstream_check_arguments', 'sparkstream')(
    'conserved', kwargs, ['model', 'source', 'measure', 'source_measure', 'partition_by', 'source_where', 'times', 'tolerance'], varargs
  ) if execute -%}
  {%- do adapter.dispatch('sparkstream_check_given', 'sparkstream')('conserved', [('source', source), ('measure', measure)]) if execute -%}
  {{- return(adapter.dispatch('test_conserved', 'sparkstream')(
    model, source, measure, source_measure, partition_by, source_where, times, tolerance
  ) if execute else '') -}}
{% endtest %}

{% macro default__test_conserved(model, source, measure, source_measure, partition_by, source_where, times, tolerance) %}
  {%- set keys = adapter.dispatch('sparkstream_keys', 'sparkstream')(partition_by, 'conserved') -%}
  {%- set key_list = adapter.dispatch('sparkstream_key_list', 'sparkstream') -%}
  {%- if times is not integer or times < 1 -%}
    {{ exceptions.raise_compiler_error(
      "conserved's times is no positive whole number: " ~ times ~ "\n  write how many windows a row is in, such as 2"
    ) }}
  {%- endif -%}
  {%- if tolerance is not none and (tolerance is not number or tolerance < 0) -%}
    {{ exceptions.raise_compiler_error("conserved's tolerance is no number of zero or more: " ~ tolerance) }}
  {%- endif -%}
  {%- set on = [] -%}
  {%- for key in keys -%}{%- do on.append('in_windows.' ~ key ~ ' <=> in_source.' ~ key) -%}{%- endfor -%}
  {%- set value = adapter.dispatch('sparkstream_value', 'sparkstream') -%}
  {%- set measure = value(measure, 'conserved', 'measure') -%}
  {%- set expected = measure if source_measure is none else value(source_measure, 'conserved', 'source_measure') -%}
  {%- set where = adapter.dispatch('sparkstream_conditions', 'sparkstream')(source_where) -%}
  {%- set group = 'GROUP BY ' ~ keys | join(', ') if keys else '' -%}
WITH in_windows AS (
  SELECT {{ key_list(keys) }}sum({{ measure }}) AS total FROM {{ model }} {{ group }}
),
in_source AS (
  SELECT {{ key_list(keys) }}sum({{ expected }}){{ ' * ' ~ times if times > 1 }} AS total
  FROM {{ source }}
  {%- if where %} WHERE {{ where }}{% endif %} {{ group }}
),
totals AS (
  SELECT
    {%- for key in keys %}
    coalesce(in_windows.{{ key }}, in_source.{{ key }}) AS {{ key }},
    {%- endfor %}
    coalesce(in_windows.total, 0) AS in_windows,
    coalesce(in_source.total, 0) AS in_source
  FROM in_windows FULL JOIN in_source ON {{ on | join(' AND ') or 'TRUE' }}
)
SELECT * FROM totals
WHERE NOT in_windows <=> in_source
  {%- if tolerance is not none %} AND abs(in_windows - in_source) > {{ tolerance }}{% endif %}
{% endmacro %}
