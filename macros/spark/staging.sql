{#
  A table is built in a staging table, which takes its name when it is complete. A run that is killed
  leaves the old table or the new one; what it has begun is removed by the next run. The first table of its name is built
  this way, too: docs/reliability.md says why.

  Delta, Iceberg and Hudi replace a table in one transaction of their own, so they need no staging table.
#}

{#- Whether each statement on the model's table is one commit: it is Delta's or Iceberg's, on a Spark of the user's own.
    On http and odbc (Databricks) dbt-spark's way stays. -#}
{% macro sparkstream_is_logged() %}
  {{ return(target.method in ['session', 'thrift', 'connect'] and config.get('file_format') in ['delta', 'iceberg']) }}
{% endmacro %}

{% macro sparkstream_is_delta() %}
  {{ return(sparkstream_is_logged() and config.get('file_format') == 'delta') }}
{% endmacro %}

{#- Makes place for a table in Delta or Iceberg: each replaces a table of its own, and nothing else. -#}
{% macro sparkstream_make_place(old) %}
  {%- if old is not none -%}
    {%- set file_format = config.get('file_format') -%}
    {%- set same = (old.is_delta and file_format == 'delta') or (old.is_iceberg and file_format == 'iceberg') -%}
    {%- if not (old.is_table and same) -%}{%- do adapter.drop_relation(old) -%}{%- endif -%}
  {%- endif -%}
{% endmacro %}

{#- Whether the model's table is built in staging. On http and odbc (Databricks) a table without a format is Delta's. -#}
{% macro sparkstream_is_staged() %}
  {%- set ours = target.method in ['session', 'thrift', 'connect'] -%}
  {%- if ours -%}{%- do sparkstream_check_catalog() -%}{%- endif -%}
  {{ return(
    ours and config.get('file_format') not in ['delta', 'iceberg', 'hudi', 'jdbc']
  ) }}
{% endmacro %}

{#- The staging table of a table; what a killed run has left of one is removed. For SQL, the adapter removes files
    without a table when a statement comes upon them (`spark/left_files.py`); a data frame that is saved is no statement. -#}
{% macro sparkstream_staging(relation, suffix='__dbt_build', language='sql') %}
  {%- set staging = relation.incorporate(path={'identifier': relation.identifier ~ suffix}, type='table') -%}
  {%- set left = load_cached_relation(staging) -%}
  {%- if left is not none -%}{%- do adapter.drop_relation(left) -%}{%- endif -%}
  {%- if language == 'python' -%}
    {%- call statement('place') -%}
      create table {{ staging }} (empty int) using parquet
    {%- endcall -%}
    {%- do adapter.drop_relation(staging) -%}
  {%- endif -%}
  {{ return(staging) }}
{% endmacro %}

{#- A temporary view of a node, with a name that no other node's has: all threads of `method: session` share one session, and models in two
    schemas, or unit tests of two models, may have one name. -#}
{% macro sparkstream__make_temp_relation(base_relation, suffix) %}
  {{ return(spark__make_temp_relation(base_relation, suffix ~ '_' ~ local_md5(model.unique_id))) }}
{% endmacro %}

{#- A complete table takes the place of an old one. The catalog forgets a table before its files go, and knows the new
    one when they are in place, so there is no moment at which a reader finds a part of a table.
    ALTER TABLE SET LOCATION would do it in one step, but leaves a table outside its own folder: Spark takes such a table
    for empty once somebody renames it. -#}
{% macro sparkstream_swap(built, relation, old) %}
  {%- if sparkstream_is_logged() -%}
    {%- do sparkstream_make_place(old) -%}
  {%- elif old is not none -%}
    {%- do adapter.drop_relation(old) -%}
  {%- endif -%}
  {%- if sparkstream_is_logged() or config.get('location_root') -%}
    {#- No statement moves a folder to another place, so the files are written again; so does a commit that replaces a table. -#}
    {%- call statement('swap') -%}
      {{ create_table_as(False, relation, 'select * from ' ~ built) }}
    {%- endcall -%}
    {%- do adapter.drop_relation(built) -%}
  {%- else -%}
    {%- do adapter.rename_relation(built, relation) -%}
  {%- endif -%}
{% endmacro %}

{#- Whether a table in Iceberg is the first of its name. One that CREATE OR REPLACE makes has its rows in a snapshot that overwrites,
    be it nothing, and no stream can read such a snapshot. -#}
{% macro sparkstream_is_first(relation) %}
  {{ return(
    sparkstream_is_logged() and config.get('file_format') == 'iceberg' and load_cached_relation(relation) is none
  ) }}
{% endmacro %}

{#- dbt-spark's, but a staging table isn't at the other's location, and the first in Iceberg replaces none. -#}
{% macro sparkstream__create_table_as(temporary, relation, compiled_code, language='sql') -%}
  {%- if temporary or language != 'sql' or not (sparkstream_is_staged() or sparkstream_is_first(relation)) -%}
    {{ spark__create_table_as(temporary, relation, compiled_code, language) }}
  {%- else -%}
    {%- if relation.identifier != model['alias'] -%}{%- set compiled_code = sparkstream_commented(compiled_code) -%}{%- endif -%}
    create table {{ relation }}
    {%- if config.get('contract').enforced -%}
      {{ get_assert_columns_equivalent(compiled_code) }}
      {%- set compiled_code = get_select_subquery(compiled_code) %}
    {%- endif %}
    {{ file_format_clause() }}
    {{ options_clause() }}
    {{ tblproperties_clause() }}
    {{ partition_cols(label="partitioned by") }}
    {{ clustered_cols(label="clustered by") }}
    {{ location_clause() if relation.identifier == model['alias'] }}
    {{ comment_clause() }}

    as
    {{ compiled_code }}
  {%- endif -%}
{%- endmacro %}
