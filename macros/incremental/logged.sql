{#
  Strategies of tables in Delta and Iceberg, which delete and insert in one statement: a reader sees the table before it or
  after it.
#}

{#- `delete+insert`: the rows whose keys come again go, and all that come are put in. Of several rows with one key all
    stay, which MERGE by the key refuses. -#}
{% macro sparkstream__get_incremental_delete_insert_sql(arg_dict) %}
  {%- set relation, source = arg_dict['target_relation'], arg_dict['temp_relation'] -%}
  {%- set keys = sparkstream_columns_of('unique_key', arg_dict['unique_key']) -%}
  {%- set same = [] -%}
  {%- for key in keys -%}{%- do same.append('going.__key' ~ loop.index ~ ' <=> DBT_INTERNAL_DEST.' ~ key) -%}{%- endfor -%}
  {%- set predicates = adapter.dispatch('sparkstream_conditions', 'sparkstream')(arg_dict['incremental_predicates']) -%}
  {%- set going = (same + ([predicates] if predicates else [])) | join(' and ') -%}
  {{ sparkstream_merge_rows(relation, arg_dict['dest_columns'], source, going, keys) }}
{% endmacro %}

{#- One statement that deletes rows of a table and puts in those of `source`. The columns that come have names of their own:
    one without a table, in `condition`, is the table's.
    condition: which rows go; with `keys`, it is asked for each key of the source, as `going.__key1`, ... -#}
{% macro sparkstream_merge_rows(relation, dest_columns, source, condition, keys=[]) %}
  {%- set columns = dest_columns | map(attribute='quoted') | list -%}
  merge into {{ relation }} as DBT_INTERNAL_DEST
  using (
    select {% for column in columns %}{{ column }} as __new{{ loop.index }}, {% endfor %}
      {%- for key in keys %}null as __key{{ loop.index }}, {% endfor %}true as __comes
    from {{ source }}
    union all
    select {{ 'distinct ' if keys }}{% for column in columns %}null, {% endfor %}
      {%- for key in keys %}{{ key }}, {% endfor %}false
    {{ 'from ' ~ source if keys }}
  ) as going
  on not going.__comes and {{ condition }}
  when matched then delete
  when not matched and going.__comes then insert ({{ columns | join(', ') }})
    values ({% for column in columns %}going.__new{{ loop.index }}{{ ', ' if not loop.last }}{% endfor %})
{% endmacro %}

{#- `replace_where`: what comes takes the place of the rows that the `incremental_predicates` hold for. Delta refuses rows
    that they don't hold for. -#}
{% macro get_incremental_replace_where_sql(arg_dict) %}
  insert into table {{ arg_dict['target_relation'] }}
  replace where {{ adapter.dispatch('sparkstream_conditions', 'sparkstream')(arg_dict['incremental_predicates']) }}
  select {{ arg_dict['dest_columns'] | map(attribute='quoted') | join(', ') }} from {{ arg_dict['temp_relation'] }}
{% endmacro %}

{#- `window_replace`: the windows that may have changed, computed again, take the place of those in the table. -#}
{% macro sparkstream_replace_windows(arg_dict) %}
  {%- set relation, source = arg_dict['target_relation'], arg_dict['temp_relation'] -%}
  {%- set end = adapter.dispatch('sparkstream_window_columns', 'sparkstream')().end -%}
  {%- set since = adapter.dispatch('sparkstream_open_windows', 'sparkstream')(relation).since -%}
  {%- set columns = arg_dict['dest_columns'] | map(attribute='quoted') | list -%}
  {%- if since and not sparkstream_is_delta() -%}
    {#- Iceberg's REPLACE WHERE takes conditions on partitions alone. -#}
    {%- set coming = source ~ ' where ' ~ end ~ ' >= ' ~ since -%}
    {{ sparkstream_merge_rows(relation, arg_dict['dest_columns'], coming, 'DBT_INTERNAL_DEST.' ~ end ~ ' >= ' ~ since) }}
  {%- else -%}
    insert into table {{ relation }}
    {{ 'replace where ' ~ end ~ ' >= ' ~ since if since }}
    select {{ columns | join(', ') }} from {{ source }}
    {{ 'where ' ~ end ~ ' >= ' ~ since if since }}
  {%- endif -%}
{% endmacro %}
