{% macro window_dedup(relation, partition_by, order_by, keep='first') -%}
  {{ return(adapter.dispatch('window_dedup', 'sparkstream')(relation, partition_by, order_by, keep) if execute else '') }}
{%- endmacro %}

{% macro default__window_dedup(relation, partition_by, order_by, keep='first') -%}
  {%- if keep not in ['first', 'last'] -%}
    {{ exceptions.raise_compiler_error("window_dedup can't keep '" ~ keep ~ "'\n  write keep='first' or keep='last'") }}
  {%- endif -%}
  {%- set column = sparkstream_column(order_by, 'window_dedup', 'order_by') -%}
  {{ return(sparkstream_window_rank_query(
    'window_dedup', relation, column ~ (' DESC' if keep == 'last' else ''), partition_by, '__rownum', 1, false
  )) }}
{%- endmacro %}
