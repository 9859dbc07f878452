{#- dbt-spark's puts the `incremental_predicates` together without parentheses, takes no single one, and no key with a space. -#}
{% macro sparkstream__get_merge_sql(target, source, unique_key, dest_columns, incremental_predicates=none) %}
  {%- set predicates = adapter.dispatch('sparkstream_conditions', 'sparkstream')(incremental_predicates) -%}
  {%- set keys = sparkstream_columns_of('unique_key', unique_key or []) -%}  {#- '' is none, as in dbt -#}
  {{ spark__get_merge_sql(target, source, keys, dest_columns, [predicates] if predicates else []) }}
{% endmacro %}

{#- dbt's puts the names of `merge_update_columns` into SQL as they are, and finds no excluded one that is a text or in backticks. -#}
{% macro sparkstream__get_merge_update_columns(merge_update_columns, merge_exclude_columns, dest_columns) %}
  {%- set named = sparkstream_columns_of('merge_update_columns', merge_update_columns) if merge_update_columns else none -%}
  {%- set excluded = [] -%}
  {%- for column in sparkstream_columns_of('merge_exclude_columns', merge_exclude_columns or []) -%}
    {%- do excluded.append(sparkstream_plain_name(column)) -%}
  {%- endfor -%}
  {{ return(default__get_merge_update_columns(named, excluded, dest_columns)) }}
{% endmacro %}
