{#- The constraints of a contract; dbt-spark sends them for tables in Parquet too, which Spark refuses. -#}
{% macro sparkstream__persist_constraints(relation, model) %}
  {%- if config.get('file_format') == 'delta' -%}
    {%- do spark__persist_constraints(relation, model) -%}
  {%- elif config.get('contract').enforced -%}
    {%- set types = model.constraints | map(attribute='type') | list -%}
    {%- for column in model.columns.values() -%}
      {%- do types.extend(column.constraints | map(attribute='type')) -%}
    {%- endfor -%}
    {%- if types -%}
      {%- do exceptions.warn(
        "the constraints of " ~ relation ~ " (" ~ types | unique | join(', ') ~ ") are documentation: only Delta enforces some"
        ~ "\n  write data_tests for them, such as not_null or unique"
      ) -%}
    {%- endif -%}
  {%- endif -%}
{% endmacro %}
