{% macro window_join(left, right, on=none, type='inner', left_alias='L', right_alias='R') -%}
  {{ return(adapter.dispatch('window_join', 'sparkstream')(left, right, on, type, left_alias, right_alias) if execute else '') }}
{%- endmacro %}

{% macro default__window_join(left, right, on=none, type='inner', left_alias='L', right_alias='R') -%}
  {%- set joins = {
    'inner': 'JOIN', 'left': 'LEFT JOIN', 'right': 'RIGHT JOIN', 'full': 'FULL JOIN',
    'semi': 'LEFT SEMI JOIN', 'anti': 'LEFT ANTI JOIN'
  } -%}
  {%- if type not in joins -%}
    {{ exceptions.raise_compiler_error(
      "window_join knows no type '" ~ type ~ "'\n  write one of " ~ joins | join(', ')
    ) }}
  {%- endif -%}
  {%- set left = sparkstream_relation(left, 'window_join') -%}
  {%- set right = sparkstream_relation(right, 'window_join') -%}
  {%- set l = sparkstream_column(left_alias, 'window_join', 'left_alias') -%}
  {%- set r = sparkstream_column(right_alias, 'window_join', 'right_alias') -%}
  {%- set conditions = [
    l ~ '.window_start = ' ~ r ~ '.window_start',
    l ~ '.window_end = ' ~ r ~ '.window_end'
  ] -%}
  {%- if on is string and not on.replace('_', 'a').isalnum() -%}
    {%- do conditions.append('(' ~ on | trim ~ ')') -%}
  {%- else -%}
    {%- for name in sparkstream_keys(on, 'window_join') -%}
      {%- do conditions.append(l ~ '.' ~ name ~ ' = ' ~ r ~ '.' ~ name) -%}
    {%- endfor -%}
  {%- endif -%}
  {{ return(sparkstream_window_join_query(left, right, l, r, joins[type], conditions)) }}
{%- endmacro %}

{#- Private. conditions: what ON holds, a list. -#}
{% macro sparkstream_window_join_query(left, right, l, r, join, conditions) -%}
(
  /* window_join: {{ join | lower }}, window by window */
  SELECT
  {%- if join in ['LEFT SEMI JOIN', 'LEFT ANTI JOIN'] %}
    {{ l }}.*
  {%- else %}
    coalesce({{ l }}.window_start, {{ r }}.window_start) AS window_start,
    coalesce({{ l }}.window_end, {{ r }}.window_end) AS window_end,
    struct({{ l }}.*) AS {{ l }},
    struct({{ r }}.*) AS {{ r }}
  {%- endif %}
  FROM {{ left }} AS {{ l }}
  {{ join }} {{ right }} AS {{ r }}
    ON {{ conditions | join('\n    AND ') }}
)
{%- endmacro %}
