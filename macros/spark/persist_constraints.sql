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

{#- dbt-spark's has the conditions and names as they are: one may end in a line comment, the other have a space. -#}
{% macro sparkstream__alter_table_add_constraints(relation, constraints) %}
  {%- for constraint in constraints if constraint.type == 'check' and not is_incremental() -%}
    {#- The name that dbt-spark's gives. -#}
    {%- set called = constraint.name or local_md5(';' ~ constraint.expression ~ ';' ~ loop.index) -%}
    {%- call statement() -%}
      alter table {{ relation }} add constraint {{ adapter.quote(called) }}
      check {{ adapter.dispatch('sparkstream_conditions', 'sparkstream')(constraint.expression) }}
    {%- endcall -%}
  {%- endfor -%}
{% endmacro %}

{#- Delta without Databricks takes NOT NULL for a new column only, so it becomes a CHECK. -#}
{% macro sparkstream__alter_column_set_constraints(relation, column_dict) %}
  {%- if not sparkstream_is_delta() -%}
    {{ return(spark__alter_column_set_constraints(relation, column_dict)) }}
  {%- endif -%}
  {%- set taken = [] -%}
  {%- for column in column_dict.values() -%}
    {%- set name = adapter.quote(column.name) if column.quote else adapter.named(column.name) -%}
    {%- for constraint in column.constraints -%}
      {%- if constraint.type not in ['not_null', 'check'] -%}
        {%- do exceptions.warn(
          "the constraint " ~ constraint.type ~ " of " ~ relation ~ "'s column " ~ column.name ~ " is documentation:"
          ~ " Delta enforces not_null and check"
          ~ "\n  write a data_test for it"
        ) -%}
      {%- else -%}
        {#- A column may have several of a type. -#}
        {%- set called = constraint.name or column.name ~ '_' ~ constraint.type -%}
        {%- set same = taken | select('equalto', called) | list | length -%}
        {%- do taken.append(called) -%}
        {%- set called = called ~ '_' ~ (same + 1) if same else called -%}
        {%- set condition = constraint.expression if constraint.type == 'check' else name ~ ' is not null' -%}
        {%- call statement() -%}
          alter table {{ relation }} add constraint {{ adapter.quote(called) }}
          check {{ adapter.dispatch('sparkstream_conditions', 'sparkstream')(condition) }}
        {%- endcall -%}
      {%- endif -%}
    {%- endfor -%}
  {%- endfor -%}
{% endmacro %}
