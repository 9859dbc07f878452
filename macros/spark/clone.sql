{#- `dbt clone`: a table in Delta becomes a shallow clone, and all else a view of what is cloned, as dbt does it where a
    database can't clone; dbt-spark refuses other tables. -#}
{% materialization clone, adapter='sparkstream' %}
  {%- if defer_relation and defer_relation.render() == this.render() -%}
    {{ log("Target relation and defer relation are the same, skipping clone for relation: " ~ this) }}
    {{ return({'relations': []}) }}
  {%- endif -%}
  {{ return(materialization_clone_default()) }}
{% endmaterialization %}

{#- Delta on a Spark of one's own puts a clone in place of no table that has rows; Databricks does. -#}
{% macro sparkstream__create_or_replace_clone(this_relation, defer_relation) %}
  {%- if not sparkstream_is_delta() -%}
    {{ return(spark__create_or_replace_clone(this_relation, defer_relation)) }}
  {%- endif -%}
  {%- set old = load_cached_relation(this_relation) -%}
  {%- if old is not none -%}{%- do adapter.drop_relation(old) -%}{%- endif -%}
  create table {{ this_relation }} shallow clone {{ defer_relation }}
{% endmacro %}

{% macro sparkstream__can_clone_table() %}
  {{ return(config.get('file_format') == 'delta') }}
{% endmacro %}

{#- A contract was checked when what is cloned was built; a stream's table has `micro_batch` besides. -#}
{% macro sparkstream__get_assert_columns_equivalent(sql) %}
  {{- default__get_assert_columns_equivalent(sql) if flags.WHICH != 'clone' }}
{% endmacro %}
