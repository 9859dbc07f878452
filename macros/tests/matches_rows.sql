{% test matches_rows(model, expected, columns=none, decimals=none) %}
  {%- do adapter.dispatch('sparkstream_check_arguments', 'sparkstream')(
    'matches_rows', kwargs, ['model', 'expected', 'columns', 'decimals'], varargs
  ) if execute -%}
  {%- do adapter.dispatch('sparkstream_check_given', 'sparkstream')('matches_rows', [('expected', expected)]) if execute -%}
  {%- set names = [] -%}
  {%- set rounded = [] -%}
  {%- if execute and columns is not none -%}
    {%- for name in columns -%}
      {%- do names.append(adapter.quote(name)) -%}
    {%- endfor -%}
  {%- elif execute and flags.WHICH not in ['compile', 'generate'] -%}
    {#- Only when the test runs: before, the tables may not be there, or be others than it will find. -#}
    {%- set missing = [] -%}
    {%- set left = adapter.get_columns_in_relation(model) | map(attribute='name') | map('lower') | list -%}
    {%- for column in adapter.get_columns_in_relation(expected) -%}
      {%- do names.append(adapter.quote(column.name)) -%}
      {%- if decimals is not none and column.dtype | lower in ['double', 'float'] -%}
        {%- do rounded.append(adapter.quote(column.name)) -%}
      {%- endif -%}
      {%- if column.name | lower in left -%}
        {%- do left.remove(column.name | lower) -%}
      {%- else -%}
        {%- do missing.append(column.name) -%}
      {%- endif -%}
    {%- endfor -%}
    {%- if not names -%}
      {{ exceptions.raise_compiler_error(expected ~ " has no columns, or isn't there; build it first") }}
    {%- endif -%}
    {%- if missing or left -%}
      {{ exceptions.raise_compiler_error(
        "matches_rows compares tables with the same columns, but "
        ~ ([
          model ~ " lacks " ~ missing | join(', ') if missing else '',
          expected ~ " lacks " ~ left | join(', ') if left else ''
        ] | select | join(' and '))
        ~ "\n  write columns: [...] to compare some of them"
      ) }}
    {%- endif -%}
  {%- endif -%}
  {%- set values = [] -%}
  {%- for name in names -%}
    {%- do values.append('round(' ~ name ~ ', ' ~ decimals ~ ') AS ' ~ name if name in rounded else name) -%}
  {%- endfor -%}
SELECT
  CASE WHEN sum(__copies) < 0 THEN 'missing' ELSE 'too many' END AS difference,
  abs(sum(__copies)) AS times,
  {{ names | join(', ') or '* EXCEPT (__copies)' }}
FROM (
  SELECT {{ values | join(', ') or '*' }}, 1 AS __copies FROM {{ model }}
  UNION ALL
  SELECT {{ values | join(', ') or '*' }}, -1 AS __copies FROM {{ expected }}
)
GROUP BY {{ names | join(', ') or 'ALL' }}
HAVING sum(__copies) <> 0
{% endtest %}
