{#- dbt-spark's drops the old table, then makes an empty one and puts the rows in. Here, all this happens to a staging table;
    `load_csv_rows` puts it in the old one's place. -#}
{% macro sparkstream_seeds_are_staged() %}
  {{ return(sparkstream_is_staged() or sparkstream_is_logged()) }}
{% endmacro %}

{% macro sparkstream__reset_csv_table(model, full_refresh, old_relation, agate_table) %}
  {%- if not sparkstream_seeds_are_staged() -%}
    {{ return(spark__reset_csv_table(model, full_refresh, old_relation, agate_table)) }}
  {%- endif -%}
  {{ return(create_csv_table(model, agate_table)) }}
{% endmacro %}

{% macro sparkstream__create_csv_table(model, agate_table) %}
  {%- if not sparkstream_seeds_are_staged() -%}
    {{ return(spark__create_csv_table(model, agate_table)) }}
  {%- endif -%}
  {%- set types = model['config'].get('column_types', {}) -%}
  {%- set quote = model['config'].get('quote_columns') -%}
  {%- set comments = sparkstream_comment_clauses(model.get('columns', {}) if config.persist_column_docs() else {}) -%}
  {%- set columns = [] -%}
  {%- for name in agate_table.column_names -%}
    {%- set type = types.get(name, adapter.convert_type(agate_table, loop.index0)) -%}
    {%- do columns.append(adapter.quote_seed_column(name | string, quote) ~ ' ' ~ type ~ comments.get(name | lower, '')) -%}
  {%- endfor -%}
  {%- set built = sparkstream_staging(this) -%}
  {%- set sql -%}
    create table {{ built }} ({{ columns | join(', ') }})
    {{ 'using parquet' if sparkstream_is_logged() else file_format_clause() }}
    {{ partition_cols(label="partitioned by") }}
    {{ clustered_cols(label="clustered by") if not sparkstream_is_logged() }}
    {{ comment_clause() }}
  {%- endset -%}
  {%- call statement('create') -%}{{ sql }}{%- endcall -%}
  {%- if not agate_table.rows -%}{%- do sparkstream_seeded() -%}{%- endif -%}
  {{ return(sql) }}
{% endmacro %}

{% macro sparkstream_seed_table() %}
  {{ return(this.incorporate(path={'identifier': this.identifier ~ '__dbt_build'}, type='table')) }}
{% endmacro %}

{#- The new table of a seed is complete. -#}
{% macro sparkstream_seeded() %}
  {%- do sparkstream_swap(sparkstream_seed_table(), this.incorporate(type='table'), load_cached_relation(this)) -%}
{% endmacro %}
