{#
  dbt-spark's incremental materialization asks these two macros about its strategies. They stand in for dbt-spark's own
  where the adapter is `sparkstream`, and let in the strategies of a project and `window_replace`.
#}

{% macro dbt_spark_validate_get_incremental_strategy(raw_strategy, file_format) %}
  {%- if raw_strategy == 'merge' and file_format not in ['delta', 'iceberg', 'hudi'] -%}
    {{ exceptions.raise_compiler_error(
      "Invalid incremental strategy provided: merge"
      ~ "\n  You can only choose this strategy when file_format is set to 'delta' or 'iceberg' or 'hudi'"
      ~ "\n  " ~ adapter.for_changes()
      ~ "\n  for windows in files of " ~ file_format ~ ", write incremental_strategy='window_replace'"
    ) }}
  {%- elif raw_strategy == 'replace_where' and file_format == 'iceberg' -%}
    {{ exceptions.raise_compiler_error(
      "the incremental strategy replace_where is Delta's: Iceberg replaces whole files"
      ~ "\n  write incremental_strategy='delete+insert' and a unique_key, or 'insert_overwrite' and a partition_by"
    ) }}
  {%- elif raw_strategy in ['delete+insert', 'replace_where'] and file_format not in ['delta', 'iceberg'] -%}
    {{ exceptions.raise_compiler_error(
      "the incremental strategy " ~ raw_strategy ~ " changes rows, and files of " ~ file_format ~ " can't be changed"
      ~ "\n  write file_format='delta', or incremental_strategy='insert_overwrite' and a partition_by"
    ) }}
  {%- elif raw_strategy == 'delete+insert' and not config.get('unique_key') -%}
    {{ exceptions.raise_compiler_error(
      "delete+insert deletes the rows whose keys come again, and needs a unique_key"
      ~ "\n  write one such as unique_key='id', or a list of columns"
    ) }}
  {%- elif raw_strategy == 'replace_where' and not (config.get('predicates') or config.get('incremental_predicates')) -%}
    {{ exceptions.raise_compiler_error(
      "replace_where replaces the rows that conditions hold for, and needs incremental_predicates"
      ~ "\n  write them such as incremental_predicates=[\"day >= '2024-01-01'\"]"
    ) }}
  {%- elif raw_strategy in ['insert_overwrite', 'microbatch', 'window_replace'] and target.endpoint -%}
    {{ exceptions.raise_compiler_error(
      "Invalid incremental strategy provided: " ~ raw_strategy
      ~ "\n  You cannot use this strategy when connecting via endpoint"
      ~ "\n  Use the 'append' or 'merge' strategy instead"
    ) }}
  {%- elif raw_strategy in ['microbatch', 'window_replace'] -%}
    {%- do adapter.dispatch('sparkstream_check_partitions', 'sparkstream')(raw_strategy) -%}
  {%- elif raw_strategy not in ['append', 'insert_overwrite', 'microbatch', 'merge'] -%}
    {%- set needed = 'get_incremental_' ~ (raw_strategy | string).replace('+', '_') ~ '_sql' -%}
    {%- if needed not in context -%}
      {{ exceptions.raise_compiler_error(
        'dbt could not find an incremental strategy macro with the name "' ~ needed ~ '" in ' ~ project_name
        ~ "\n  write 'append', 'insert_overwrite', 'window_replace', 'microbatch', 'merge', 'delete+insert' or 'replace_where'"
      ) }}
    {%- endif -%}
    {#- dbt's error where it is one of dbt's own that Spark hasn't. -#}
    {%- do adapter.get_incremental_strategy_macro(context, raw_strategy) -%}
  {%- endif -%}
  {{ return(raw_strategy) }}
{% endmacro %}

{#- The columns of a table as the query has them. With `append_new_columns`, one that the query doesn't return any more stays, NULL in
    new rows; dbt-spark asks the query for it. -#}
{% macro sparkstream_values(source, target) %}
  {%- set columns = adapter.get_columns_in_relation(target) -%}
  {%- set given = columns if config.get('on_schema_change') != 'append_new_columns' else adapter.get_columns_in_relation(source) -%}
  {%- set given, values = given | map(attribute='name') | map('lower') | list, [] -%}
  {%- for column in columns -%}
    {%- do values.append(
      column.quoted if column.name | lower in given else 'cast(null as ' ~ column.data_type ~ ') as ' ~ column.quoted
    ) -%}
  {%- endfor -%}
  {{ return(values | join(', ')) }}
{% endmacro %}

{% macro dbt_spark_get_incremental_sql(strategy, source, target, existing, unique_key, incremental_predicates) %}
  {%- if strategy == 'append' -%}
    insert into table {{ target }}
    select {{ sparkstream_values(source, target) }} from {{ source }}
  {%- elif strategy in ['insert_overwrite', 'microbatch'] and sparkstream_is_logged() -%}
    {#- The statement says it itself, as in dbt-spark's way the session would for all statements to come. -#}
    {%- set option = 'partitionOverwriteMode' if sparkstream_is_delta() else 'overwrite-mode' -%}
    insert overwrite table {{ target }}{{ " with ('" ~ option ~ "' = 'dynamic')" if config.get('partition_by') }}
    select {{ sparkstream_values(source, target) }} from {{ source }}
  {%- elif strategy in ['insert_overwrite', 'microbatch'] -%}
    {{ get_insert_overwrite_sql(source, target, existing) }}
  {%- elif strategy == 'merge' -%}
    {{ get_merge_sql(target, source, unique_key, dest_columns=none, incremental_predicates=incremental_predicates) }}
  {%- else -%}
    {%- set strategy_sql = adapter.get_incremental_strategy_macro(context, strategy) -%}
    {{ strategy_sql({
      'target_relation': target, 'temp_relation': source, 'unique_key': unique_key,
      'dest_columns': adapter.get_columns_in_relation(target), 'incremental_predicates': incremental_predicates
    }) }}
  {%- endif -%}
{% endmacro %}
