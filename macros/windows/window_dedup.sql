{% macro window_dedup(relation, partition_by, order_by, keep='first') -%}
  {%- do adapter.dispatch('sparkstream_check_arguments', 'sparkstream')(
    'window_dedup', kwargs, ['relation', 'partition_by', 'order_by', 'keep'], varargs
  ) if execute -%}
  {{ return(adapter.dispatch('window_dedup', 'sparkstream')(relation, partition_by, order_by, keep) if execute else '') }}
{%- endmacro %}

{% macro default__window_dedup(relation, partition_by, order_by, keep='first') -%}
  {%- if keep not in ['first', 'last'] -%}
    {{ exceptions.raise_compiler_error("window_dedup can't keep '" ~ keep ~ "'\n  write keep='first' or keep='last'") }}
  {%- endif -%}
  {%- set column = adapter.dispatch('sparkstream_column', 'sparkstream')(order_by, 'window_dedup', 'order_by') -%}
  {%- set rank_query = adapter.dispatch('sparkstream_window_rank_query', 'sparkstream') -%}
  {%- set order = column ~ (' DESC' if keep == 'last' else '') -%}
  {{ return(rank_query('window_dedup', relation, order, partition_by, '__rownum', 1, false)) }}
{%- endmacro %}
