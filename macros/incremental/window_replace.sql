{#- The windows that may have changed, computed again, take the place of those in the table. Files can't be changed, so
    the partitions that they are in are written again, with the windows in them that stay. -#}
{% macro get_incremental_window_replace_sql(arg_dict) %}
  {%- if sparkstream_is_logged() -%}
    {{ return(sparkstream_replace_windows(arg_dict)) }}
  {%- endif -%}
  {%- set relation, source = arg_dict['target_relation'], arg_dict['temp_relation'] -%}
  {%- set end = adapter.dispatch('sparkstream_window_columns', 'sparkstream')().end -%}
  {%- set since = adapter.dispatch('sparkstream_open_windows', 'sparkstream')(relation).since -%}
  {%- set columns = arg_dict['dest_columns'] | map(attribute='quoted') | join(', ') -%}
  {%- set partition = sparkstream_columns_of('partition_by') -%}
  {#- Rows of the source may come while this runs: what the windows are is settled once. -#}
  {%- set fresh = sparkstream_staging(relation, '__dbt_windows') -%}
  {%- set complete = sparkstream_staging(relation, '__dbt_partitions') -%}
  {%- call statement('window_replace_compute') -%}
    create table {{ fresh }} using parquet as
    select {{ sparkstream_values(source, relation) }} from {{ source }}{{ ' where ' ~ end ~ ' >= ' ~ since if since is not none }}
  {%- endcall -%}
  {%- call statement('window_replace_complete') -%}
    create table {{ complete }} using parquet
    tblproperties ('sparkstream.complete' = 'true'
    {%- if since is not none %}, 'sparkstream.since' = {{ sparkstream_literal(since) }}{% endif %}) as
    select {{ columns }} from {{ fresh }}
    {%- if since is not none %}
    union all
    select {{ columns }} from {{ relation }} as kept
    where coalesce({{ end }} < {{ since }}, true)
      and exists (
        select 1 from {{ fresh }} as fresh
        where {% for name in partition %}fresh.{{ name }} <=> kept.{{ name }}{{ ' and ' if not loop.last }}{% endfor %}
      )
    {%- endif %}
  {%- endcall -%}
  {%- do sparkstream_move_in(complete, relation, partition, end, since, sparkstream_is_staged()) -%}
  {{ return('drop table if exists ' ~ fresh) }}
{% endmacro %}
