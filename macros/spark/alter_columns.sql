{#- dbt-spark's refuses to drop columns of any table. Iceberg can, and Delta where the table's columns have names of their own
    (`tblproperties={'delta.columnMapping.mode': 'name'}`), and it says so where they haven't. -#}
{% macro sparkstream__alter_relation_add_remove_columns(relation, add_columns, remove_columns) %}
  {%- if remove_columns and sparkstream_is_logged() -%}
    {%- call statement('drop_columns') -%}
      alter table {{ relation.render() }} drop columns ({{ remove_columns | map(attribute='quoted') | join(', ') }})
    {%- endcall -%}
    {%- set remove_columns = none -%}
  {%- endif -%}
  {%- if add_columns or remove_columns -%}
    {%- do spark__alter_relation_add_remove_columns(relation, add_columns, remove_columns) -%}
  {%- endif -%}
{% endmacro %}
