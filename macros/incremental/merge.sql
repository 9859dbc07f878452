{#- dbt-spark's puts the `incremental_predicates` together without parentheses, takes no single one, and no key with a space. -#}
{% macro sparkstream__get_merge_sql(target, source, unique_key, dest_columns, incremental_predicates=none) %}
  {%- set predicates = adapter.dispatch('sparkstream_conditions', 'sparkstream')(incremental_predicates) -%}
  {%- set keys = sparkstream_columns_of('unique_key', unique_key) -%}
  {{ spark__get_merge_sql(target, source, keys, dest_columns, [predicates] if predicates else []) }}
{% endmacro %}
