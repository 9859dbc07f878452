{#- dbt-spark's puts the `incremental_predicates` together without parentheses, and takes no single one. -#}
{% macro sparkstream__get_merge_sql(target, source, unique_key, dest_columns, incremental_predicates=none) %}
  {%- set predicates = adapter.dispatch('sparkstream_conditions', 'sparkstream')(incremental_predicates) -%}
  {{ spark__get_merge_sql(target, source, unique_key, dest_columns, [predicates] if predicates else []) }}
{% endmacro %}
