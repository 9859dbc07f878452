{#- dbt-spark's, with tables that are built in staging and partitions that are overwritten in two steps. In Delta and Iceberg, each of
    both is one statement. -#}
{% materialization incremental, adapter='sparkstream', supported_languages=['sql', 'python'] %}
  {%- set logged = sparkstream_is_logged() -%}
  {%- set in_place = not sparkstream_is_staged() -%}
  {%- if in_place and not logged and model['language'] == 'sql' -%}
    {{ return(materialization_incremental_spark()) }}
  {%- endif -%}
  {%- set file_format = dbt_spark_validate_get_file_format(config.get('file_format', default='parquet')) -%}
  {%- set strategy = dbt_spark_validate_get_incremental_strategy(
    config.get('incremental_strategy') or 'append', file_format
  ) -%}
  {%- set on_schema_change = incremental_validate_on_schema_change(config.get('on_schema_change'), default='ignore') -%}
  {%- set predicates = config.get('predicates') or config.get('incremental_predicates') -%}
  {%- set language = model['language'] -%}
  {%- set grant_config = config.get('grants') -%}
  {%- set old = load_cached_relation(this) -%}
  {%- set relation = this.incorporate(type='table') -%}

  {%- if strategy == 'microbatch' and '/* the batch and more */' in compiled_code
    and '/* rows of the batch */' not in compiled_code -%}
    {{ exceptions.raise_compiler_error(
      "with read(), this microbatch model reads rows of other batches, and nothing says which rows are the batch's:"
      ~ " it would replace partitions of other batches"
      ~ "\n  write the query in a subquery, and around it: where {{ in_batch('" ~ config.get('event_time') ~ "') }}"
    ) }}
  {%- endif -%}

  {{ run_hooks(pre_hooks) }}

  {%- set has_rows = 'some' -%}
  {%- if strategy == 'microbatch' and language == 'sql' and model.batch and old is not none and old.is_table
    and not should_full_refresh() -%}
    {%- set has_rows = adapter.batch_rows(
      model.unique_id, compiled_code, relation, model.batch.event_time_start, model.batch.event_time_end
    ) -%}
  {%- endif -%}
  {%- if has_rows != 'some' -%}
    {%- if has_rows == 'gone' -%}{%- do sparkstream_empty_batch(relation) -%}{%- endif -%}
    {%- do store_raw_result('main', 'OK, no rows', 'OK', 0) -%}
    {{ run_hooks(post_hooks) }}
    {{ return({'relations': [relation]}) }}
  {%- endif -%}

  {%- if old is none or not old.is_table or should_full_refresh() -%}
    {%- if strategy == 'window_replace' and language == 'sql' -%}
      {#- Now, and not when the first windows are to be replaced. -#}
      {%- do adapter.dispatch('sparkstream_has_bounds', 'sparkstream')(get_columns_in_query(compiled_code), 'the query') -%}
    {%- endif -%}
    {%- do sparkstream_staging(relation, '__dbt_partitions') -%}
    {%- set built = relation if in_place else sparkstream_staging(relation, language=language) -%}
    {%- if in_place -%}{%- do sparkstream_make_place(old) -%}{%- endif -%}
    {%- call statement('main', language=language) -%}
      {{ create_table_as(False, built, compiled_code, language) }}
    {%- endcall -%}
    {%- if not in_place -%}{%- do sparkstream_swap(built, relation, old) -%}{%- endif -%}
    {%- do persist_constraints(relation, model) -%}
  {%- else -%}
    {%- set fresh = make_temp_relation(relation) if language == 'sql' else sparkstream_staging(relation, '__dbt_tmp', language) -%}
    {%- call statement('create_tmp_relation', language=language) -%}
      {{ create_table_as(True, fresh, compiled_code, language) }}
    {%- endcall -%}
    {%- do process_schema_changes(on_schema_change, fresh, old) -%}
    {%- if in_place -%}
      {%- if not logged and strategy in ['insert_overwrite', 'microbatch'] and config.get('partition_by') -%}
        {%- call statement() -%}
          set spark.sql.sources.partitionOverwriteMode = DYNAMIC
        {%- endcall -%}
      {%- endif -%}
      {%- call statement('main') -%}
        {{ dbt_spark_get_incremental_sql(strategy, fresh, relation, old, config.get('unique_key'), predicates) }}
      {%- endcall -%}
    {%- elif strategy in ['insert_overwrite', 'microbatch'] and config.get('partition_by') -%}
      {%- do sparkstream_overwrite_partitions(fresh, relation) -%}
    {%- elif strategy == 'insert_overwrite' -%}
      {#- Without partitions, all of the table is replaced. -#}
      {%- set columns = sparkstream_values(fresh, relation) -%}
      {%- set built = sparkstream_staging(relation) -%}
      {%- call statement('main') -%}
        {{ create_table_as(False, built, 'select ' ~ columns ~ ' from ' ~ fresh) }}
      {%- endcall -%}
      {%- do sparkstream_swap(built, relation, old) -%}
    {%- else -%}
      {%- call statement('main') -%}
        {{ dbt_spark_get_incremental_sql(strategy, fresh, relation, old, config.get('unique_key'), predicates) }}
      {%- endcall -%}
    {%- endif -%}
    {%- if language == 'python' -%}{%- do adapter.drop_relation(fresh) -%}{%- endif -%}
  {%- endif -%}

  {%- do apply_grants(relation, grant_config, should_revoke(old, should_full_refresh())) -%}
  {%- do persist_docs(relation, model) -%}

  {{ run_hooks(post_hooks) }}

  {{ return({'relations': [relation]}) }}
{% endmaterialization %}
