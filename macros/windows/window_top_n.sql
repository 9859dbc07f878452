{% macro window_top_n(relation, n, order_by, partition_by=none, rownum='rownum') -%}
  {%- do adapter.dispatch('sparkstream_check_arguments', 'sparkstream')(
    'window_top_n', kwargs, ['relation', 'n', 'order_by', 'partition_by', 'rownum'], varargs
  ) if execute -%}
  {{ return(adapter.dispatch('window_top_n', 'sparkstream')(relation, n, order_by, partition_by, rownum) if execute else '') }}
{%- endmacro %}

{% macro default__window_top_n(relation, n, order_by, partition_by=none, rownum='rownum') -%}
  {%- if n is not integer or n < 1 -%}
    {{ exceptions.raise_compiler_error("window_top_n's n is no positive whole number: " ~ n ~ "\n  write it such as 3") }}
  {%- endif -%}
  {%- set rownum = adapter.dispatch('sparkstream_column', 'sparkstream')(rownum, 'window_top_n', 'rownum') -%}
  {%- set rank_query = adapter.dispatch('sparkstream_window_rank_query', 'sparkstream') -%}
  {{ return(rank_query('window_top_n', relation, order_by, partition_by, rownum, n, true)) }}
{%- endmacro %}

{#- Private. The first n rows of each window and key; keep_number says whether the row's number stays a column. -#}
{% macro default__sparkstream_window_rank_query(macro_name, relation, order_by, partition_by, rownum, n, keep_number) -%}
{%- set rows = relation -%}
{%- set relation = adapter.dispatch('sparkstream_relation', 'sparkstream')(relation, macro_name) -%}
{%- set keys = ['window_start', 'window_end'] + adapter.dispatch('sparkstream_keys', 'sparkstream')(partition_by, macro_name) -%}
{%- set names = [] -%}
{%- for key in keys -%}{%- do names.append(('windows' if loop.index < 3 else 'partition_by', key)) -%}{%- endfor -%}
{%- do adapter.dispatch('sparkstream_check_columns', 'sparkstream')(macro_name, rows, names) -%}
{%- set order = adapter.dispatch('sparkstream_list', 'sparkstream')(order_by) | join(', ') -%}
{%- if not order | trim -%}
  {{ exceptions.raise_compiler_error(macro_name ~ "'s order_by is missing\n  write it such as 'price desc'") }}
{%- endif -%}
{%- set order = adapter.dispatch('sparkstream_piece', 'sparkstream')(order, macro_name, 'order_by', lists=true) -%}
(
  /* {{ macro_name }}: {{ n }} per window{{ ' and ' ~ keys[2:] | join(', ') if keys | length > 2 }}, by {{ order.replace('*/', '* /').replace('/*', '/ *') }} */
  SELECT *{{ '' if keep_number else ' EXCEPT (' ~ rownum ~ ')' }}
  FROM (
    SELECT *, row_number() OVER (PARTITION BY {{ keys | join(', ') }} ORDER BY {{ order }}) AS {{ rownum }}
    FROM {{ relation }}
  )
  WHERE {{ rownum }} <= {{ n }}
)
{%- endmacro %}
