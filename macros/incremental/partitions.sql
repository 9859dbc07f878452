{#
  Partitions of a table in files are replaced one by one: Spark removes a folder and moves the new one there, then the next.
  So what they shall hold is written into a staging table first, `<table>__dbt_partitions`. From the moment it is marked as
  complete, a killed run is one that the next run ends: it moves the same rows in once more, before it looks at the table.
#}

{#- Replaces the partitions that the rows of `fresh` are in. -#}
{% macro sparkstream_overwrite_partitions(fresh, relation) %}
  {%- set columns = sparkstream_values(fresh, relation) -%}
  {%- set complete = sparkstream_staging(relation, '__dbt_partitions') -%}
  {%- call statement('partitions') -%}
    {#- CREATE TABLE AS SELECT without partitions shows the table when its rows are in, and its properties with it. -#}
    create table {{ complete }} using parquet tblproperties ('sparkstream.complete' = 'true') as
    select {{ columns }} from {{ fresh }}
  {%- endcall -%}
  {%- do sparkstream_move_in(complete, relation, sparkstream_columns_of('partition_by')) -%}
{% endmacro %}

{#- Drops the partitions of which all rows meet a condition, but for those that `complete` has. -#}
{% macro sparkstream_drop_partitions(relation, partition, condition, complete=none) %}
  {%- set names = partition | join(', ') -%}
  {%- set dropped = run_query(
    'select ' ~ names ~ ' from ' ~ relation ~ ' group by ' ~ names ~ ' having every(coalesce(' ~ condition ~ ', false))'
    ~ (' except select ' ~ names ~ ' from ' ~ complete if complete else '')
  ) -%}
  {%- for row in dropped.rows -%}
    {%- set spec = [] -%}
    {%- for name in partition -%}
      {%- set value = row[loop.index0] -%}
      {%- do spec.append(name ~ ' = ' ~ ('null' if value is none else sparkstream_literal(value))) -%}
    {%- endfor -%}
    {%- call statement('drop_partition') -%}
      alter table {{ relation }} drop if exists partition ({{ spec | join(', ') }})
    {%- endcall -%}
  {%- endfor -%}
{% endmacro %}

{#- Empties a batch that had rows and has none any more: what replaces partitions replaces none with no rows. -#}
{% macro sparkstream_empty_batch(relation) %}
  {%- set of_batch = in_batch() -%}
  {%- if sparkstream_is_logged() -%}
    {%- call statement('empty_batch') -%}
      delete from {{ relation }} where {{ of_batch }}
    {%- endcall -%}
  {%- else -%}
    {%- do sparkstream_drop_partitions(relation, sparkstream_columns_of('partition_by'), of_batch) -%}
  {%- endif -%}
{% endmacro %}

{#- Puts complete partitions into a table. May be done again at any time, and comes to the same.
    end, since: partitions whose windows all end at `since` or later, and that `complete` doesn't have, go.
    in_files: whether the table is in plain files, and not in a format with transactions.
    name: the statement's; dbt writes that of `main` into target/run, and can only while a model runs. -#}
{% macro sparkstream_move_in(complete, relation, partition, end=none, since=none, in_files=true, name='main') %}
  {%- set columns = adapter.get_columns_in_relation(relation) | map(attribute='quoted') | join(', ') -%}
  {%- set names = partition | join(', ') -%}
  {%- if since -%}
    {#- A session that has grown into another may leave a partition with nothing in it. -#}
    {%- do sparkstream_drop_partitions(relation, partition, end ~ ' >= ' ~ since, complete) -%}
  {%- endif -%}
  {%- if not in_files -%}
    {#- These formats are told by the session alone, as they decide while the statement is planned. -#}
    {%- call statement('mode') -%}
      set spark.sql.sources.partitionOverwriteMode = DYNAMIC
    {%- endcall -%}
  {%- endif -%}
  {%- call statement(name) -%}
    {#- Said in the statement: Spark reads the session's partitionOverwriteMode while a statement runs. Where it is being
        stopped just then, it finds the default, STATIC, and removes the whole table. -#}
    insert overwrite table {{ relation }}{{ " with ('partitionOverwriteMode' = 'dynamic')" if in_files }} partition ({{ names }})
    select {{ columns }} from {{ complete }}
  {%- endcall -%}
  {%- do adapter.drop_relation(complete) -%}
{% endmacro %}

{#- What the adapter runs before it compiles an incremental model: moves in what a killed run has left complete.
    The arguments are what it knows of the model. -#}
{% macro sparkstream_finish_overwrite(relation, complete, partition, end) %}
  {%- set properties = {} -%}
  {%- for row in fetch_tbl_properties(complete).rows -%}{%- do properties.update({row[0]: row[1]}) -%}{%- endfor -%}
  {%- if 'sparkstream.complete' not in properties or not partition -%}
    {%- do adapter.drop_relation(complete) -%}
  {%- else -%}
    {%- do sparkstream_move_in(complete, relation, partition, end, properties.get('sparkstream.since'), name='move_in') -%}
  {%- endif -%}
{% endmacro %}
