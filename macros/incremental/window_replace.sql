{#- The windows that may have changed, computed anew, take the place of those in the table. Files can't be changed, so
    the partitions that they are in are written again, with the windows in them that stay. -#}
{% macro get_incremental_window_replace_sql(arg_dict) %}
  {%- set target, source = arg_dict['target_relation'], arg_dict['temp_relation'] -%}
  {%- set end = adapter.dispatch('sparkstream_window_columns', 'sparkstream')().end -%}
  {%- set since = adapter.dispatch('sparkstream_open_windows', 'sparkstream')(target).since -%}
  {%- set columns = arg_dict['dest_columns'] | map(attribute='quoted') | join(', ') -%}
  {%- set partition_by = config.get('partition_by') -%}
  {%- set partition = [partition_by] if partition_by is string else partition_by -%}
  {%- set names = partition | join(', ') -%}
  {#- Rows of the source may come while this runs: what the windows are is settled once. -#}
  {%- set fresh = target.incorporate(
    path={'identifier': target.identifier ~ '__dbt_windows'}, type='table'
  ) -%}
  {%- do adapter.drop_relation(fresh) -%}
  {%- call statement('window_replace_compute') -%}
    create table {{ fresh }} using parquet as
    select {{ columns }} from {{ source }}{{ ' where ' ~ end ~ ' >= ' ~ since if since is not none }}
  {%- endcall -%}
  {%- if since is not none -%}
    {#- A session that has grown into another may leave a partition with nothing in it. Dropped first: the next run
        computes what is missing then, should this one end here. -#}
    {%- set emptied = run_query(
      'select ' ~ names ~ ' from ' ~ target ~ ' group by ' ~ names ~ ' having every(coalesce(' ~ end ~ ' >= ' ~ since ~ ', false))'
      ~ ' except select ' ~ names ~ ' from ' ~ fresh
    ) -%}
    {%- for row in emptied.rows -%}
      {%- set spec = [] -%}
      {%- for name in partition -%}
        {%- set value = row[loop.index0] -%}
        {%- do spec.append(
          name ~ ' = ' ~ ('null' if value is none else "'" ~ value | string | replace("\\", "\\\\") | replace("'", "\\'") ~ "'")
        ) -%}
      {%- endfor -%}
      {%- call statement('window_replace_drop') -%}
        alter table {{ target }} drop if exists partition ({{ spec | join(', ') }})
      {%- endcall -%}
    {%- endfor -%}
  {%- endif -%}
  {%- call statement('window_replace_mode') -%}
    set spark.sql.sources.partitionOverwriteMode = DYNAMIC
  {%- endcall -%}
  {%- call statement('window_replace_write') -%}
    insert overwrite table {{ target }} partition ({{ names }})
    select {{ columns }} from {{ fresh }}
    {%- if since is not none %}
    union all
    select {{ columns }} from {{ target }} as kept
    where coalesce({{ end }} < {{ since }}, true)
      and exists (
        select 1 from {{ fresh }} as fresh
        where {% for name in partition %}fresh.{{ name }} <=> kept.{{ name }}{{ ' and ' if not loop.last }}{% endfor %}
      )
    {%- endif %}
  {%- endcall -%}
  {{ return('drop table ' ~ fresh) }}
{% endmacro %}
