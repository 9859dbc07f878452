{#- dbt-spark's, and Delta's liquid clustering: `liquid_clustered_by`, as dbt-databricks calls it. -#}
{% macro sparkstream__clustered_cols(label, required=false) %}
  {%- set columns = config.get('liquid_clustered_by') -%}
  {%- if not columns -%}{{ return(spark__clustered_cols(label, required)) }}{%- endif -%}
  {%- if config.get('file_format') not in ['delta'] + ([none] if target.method in ['http', 'odbc'] else []) -%}
    {{ exceptions.raise_compiler_error(
      "only Delta clusters a table by liquid_clustered_by"
      ~ "\n  write file_format='delta', or leave liquid_clustered_by out"
    ) }}
  {%- endif -%}
  cluster by ({{ ([columns] if columns is string else columns) | join(', ') }})
{%- endmacro %}
