{#- dbt-spark's sends each column's comment in every run, and a relation's only when it makes the relation. -#}
{% macro sparkstream__persist_docs(relation, model, for_relation, for_columns) %}
  {#- What CREATE has said of a table is in it; an older table, and one of a data frame, may have another comment or none. -#}
  {%- set is_created = config.get('materialized') in ['table', 'seed'] and model['language'] != 'python' -%}
  {%- set relation_docs = for_relation and not is_created and config.persist_relation_docs() and model.description -%}
  {%- set column_docs = for_columns and config.persist_column_docs() and model.columns -%}
  {%- if relation_docs or column_docs -%}
    {%- set comments = adapter.comments(relation) -%}
    {%- if relation_docs and comments.relation != model.description -%}
      {%- do run_query('comment on table ' ~ relation.render() ~ ' is ' ~ sparkstream_literal(model.description)) -%}
    {%- endif -%}
    {%- if column_docs -%}
      {%- set changed = {} -%}
      {%- for name, column in validate_doc_columns(relation, model.columns, comments.columns | list).items() -%}
        {%- if comments.of(name) != sparkstream_column_comment(column) -%}{%- do changed.update({name: column}) -%}{%- endif -%}
      {%- endfor -%}
      {%- do alter_column_comment(relation, changed) -%}
    {%- endif -%}
  {%- endif -%}
{% endmacro %}

{#- The comment on a column, as its catalog can hold it: Hive's metastore takes 255 characters, and has the columns of tables and views
    in Iceberg, too, but not those of Spark's views; the view that a snapshot reads has no more than its table. -#}
{% macro sparkstream_column_comment(column, whole=none) %}
  {%- set text = column.description -%}
  {%- if sparkstream_is_long(text) and not (sparkstream_keeps_comments() if whole is none else whole) -%}
    {{ return(text.encode('utf-16-le')[:504].decode('utf-16-le', 'ignore') ~ '...') }}
  {%- endif -%}
  {{ return(text) }}
{% endmacro %}

{#- Whether a comment has over 255 characters as Java counts them, to which an emoji is two. -#}
{% macro sparkstream_is_long(text) %}
  {{ return(text.encode('utf-16-le') | length > 510) }}
{% endmacro %}

{#- Whether the catalog keeps comments on the model's columns, however long they are. -#}
{% macro sparkstream_keeps_comments() %}
  {%- if config.get('materialized') != 'view' -%}{{ return(config.get('file_format') in ['delta', 'hudi']) }}{%- endif -%}
  {%- set catalog = this.database or run_query('select current_catalog()').rows[0][0] -%}
  {{ return('iceberg' not in run_query('set `spark.sql.catalog.' ~ catalog ~ '`').rows[0][1] | lower) }}
{% endmacro %}

{#- A query whose columns have the comments of the model's: of a view, as a table has them that is made from one. CREATE TABLE AS has
    no place for comments, and each that is sent later is a statement, so two comments are no more work than the view. -#}
{% macro sparkstream_commented(sql) %}
  {%- set described = model.columns if config.persist_column_docs() else {} -%}
  {%- if sparkstream_comment_clauses(described) | length < 3 -%}{{ return(sql) }}{%- endif -%}
  {%- set view = make_temp_relation(this) -%}
  {%- call statement('comments') -%}
    create or replace temporary view {{ view }} ({{ get_persist_docs_column_list(described, get_columns_in_query(sql)) }}) as
    {{ sql }}
  {%- endcall -%}
  {{ return('select * from ' ~ view) }}
{% endmacro %}

{#- Comments on the columns of a table; dbt-spark gives them to Delta, Hudi and Iceberg alone.
    A view has its comments from CREATE VIEW, and Spark can't change those of a partition's column. -#}
{% macro sparkstream__alter_column_comment(relation, column_dict) %}
  {%- set partition_by = config.get('partition_by') or [] -%}
  {%- set fixed = ([partition_by] if partition_by is string else partition_by) | map('lower') | list -%}
  {%- for name, column in column_dict.items() if not relation.is_view and column.description -%}
    {%- if name | lower not in fixed and '`' ~ name | lower ~ '`' not in fixed -%}
      {%- do run_query(
        'alter table ' ~ relation.render() ~ ' alter column ' ~ adapter.quote(name)
        ~ ' comment ' ~ sparkstream_literal(sparkstream_column_comment(column))
      ) -%}
    {%- endif -%}
  {%- endfor -%}
{% endmacro %}
