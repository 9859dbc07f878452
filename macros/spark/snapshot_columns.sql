{#- A snapshot with a list as unique_key has helping columns while it runs. dbt-spark's takes them for new columns of the query, and
    adds them to the snapshot, after which each run fails. -#}
{% macro sparkstream__create_columns(relation, columns) %}
  {%- set new = [] -%}
  {%- for column in columns if not column.name.lower().startswith('dbt_unique_key') -%}{%- do new.append(column) -%}{%- endfor -%}
  {%- do spark__create_columns(relation, new) -%}
{% endmacro %}
