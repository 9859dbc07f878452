{% macro window_join(left, right, on=none, type='inner', left_alias='L', right_alias='R') -%}
  {%- do adapter.dispatch('sparkstream_check_arguments', 'sparkstream')(
    'window_join', kwargs, ['left', 'right', 'on', 'type', 'left_alias', 'right_alias'], varargs
  ) if execute -%}
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
  {%- set sides = [left, right] -%}
  {%- set left = adapter.dispatch('sparkstream_relation', 'sparkstream')(left, 'window_join', 'left') -%}
  {%- set right = adapter.dispatch('sparkstream_relation', 'sparkstream')(right, 'window_join', 'right') -%}
  {%- set l = adapter.dispatch('sparkstream_column', 'sparkstream')(left_alias, 'window_join', 'left_alias') -%}
  {%- set r = adapter.dispatch('sparkstream_column', 'sparkstream')(right_alias, 'window_join', 'right_alias') -%}
  {%- set conditions = [
    l ~ '.window_start = ' ~ r ~ '.window_start',
    l ~ '.window_end = ' ~ r ~ '.window_end'
  ] -%}
  {%- set names = [('windows', 'window_start'), ('windows', 'window_end')] -%}
  {%- if on is string and not on.replace('_', 'a').isalnum() -%}
    {%- do conditions.append(adapter.dispatch('sparkstream_condition', 'sparkstream')(on, 'window_join', 'on')) -%}
  {%- else -%}
    {%- for name in adapter.dispatch('sparkstream_keys', 'sparkstream')(on, 'window_join', 'on') -%}
      {%- do conditions.append(l ~ '.' ~ name ~ ' = ' ~ r ~ '.' ~ name) -%}
      {%- do names.append(('on', name)) -%}
    {%- endfor -%}
  {%- endif -%}
  {%- for side in sides -%}
    {%- do adapter.dispatch('sparkstream_check_columns', 'sparkstream')('window_join', side, names) -%}
  {%- endfor -%}
(
  /* window_join: {{ joins[type] | lower }}, window by window */
  SELECT
  {%- if type in ['semi', 'anti'] %}
    {{ l }}.*
  {%- else %}
    coalesce({{ l }}.window_start, {{ r }}.window_start) AS window_start,
    coalesce({{ l }}.window_end, {{ r }}.window_end) AS window_end,
    struct({{ l }}.*) AS {{ l }},
    struct({{ r }}.*) AS {{ r }}
  {%- endif %}
  FROM {{ left }} AS {{ l }}
  {{ joins[type] }} {{ right }} AS {{ r }}
    ON {{ conditions | join('\n    AND ') }}
)
{%- endmacro %}
