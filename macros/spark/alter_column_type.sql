{#- As dbt-spark's, but also of a ref with --empty, which is a query otherwise. -#}
{% macro sparkstream__alter_column_type(relation, column_name, new_column_type) -%}
  {%- call statement('alter_column_type') -%}
    alter table {{ relation.render() }} alter column {{ adapter.named(column_name) }} type {{ new_column_type }}
  {%- endcall -%}
{%- endmacro %}
