{#- A snapshot with a list as unique_key has helping columns while it runs. dbt-spark's takes them for new columns of the query, and
    adds them to the snapshot, after which each run fails; and it doubles no backtick in a name. With Iceberg,
    the view that a snapshot reads has its names in lower case. -#}
{% macro sparkstream__create_columns(relation, columns) %}
  {%- set new, there = [], adapter.get_columns_in_relation(relation) | map(attribute='name') | map('lower') | list -%}
  {%- for column in columns if not column.name.lower().startswith('dbt_unique_key') and column.name.lower() not in there -%}
    {%- do new.append(column.quoted ~ ' ' ~ column.data_type) -%}
  {%- endfor -%}
  {%- if new -%}
    {%- call statement() -%}
      alter table {{ relation }} add columns ({{ new | join(', ') }})
    {%- endcall -%}
  {%- endif -%}
{% endmacro %}


{#- dbt takes the columns of a snapshot from here where `hard_deletes` is `new_record`. dbt-spark's gives rows of DESCRIBE, which have no
    `name`, so the record of a deleted row had NULL in all of its columns. -#}
{% macro sparkstream__get_columns_in_relation(relation) %}
  {%- do return(adapter.get_columns_in_relation(relation)) -%}
{% endmacro %}
