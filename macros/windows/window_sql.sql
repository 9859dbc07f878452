{% macro window_sql(dialect=none, arrival=none, optimize=none) -%}
  {#- To dbt 2, what a call block holds is an argument, too. -#}
  {%- do adapter.dispatch('sparkstream_check_arguments', 'sparkstream')(
    'window_sql', kwargs | reject('equalto', 'caller') | list, ['dialect', 'arrival', 'optimize'], varargs
  ) if execute -%}
  {{ return(adapter.dispatch('window_sql', 'sparkstream')(caller(), dialect, arrival, optimize) if execute else caller()) }}
{%- endmacro %}

{% macro sparkstream__window_sql(sql, dialect, arrival=none, optimize=none) -%}
  {{ return(adapter.window_sql(sql, dialect, arrival, optimize)) }}
{%- endmacro %}

{% macro default__window_sql(sql, dialect, arrival=none, optimize=none) -%}
  {%- if var('sparkstream_gateway', false) -%}
    {#- The gateway translates it. To Spark itself this is a syntax error. -#}
    {%- set more = [' arrival => ' ~ arrival] if arrival else [] -%}
    {%- set more = more + [' optimize => ' ~ optimize | lower] if optimize is not none else more -%}
    {{ return('<< window_sql(' ~ ([dialect or 'spark', ' ' ~ sql | length] + more) | join(',') ~ ') ' ~ sql ~ ' >>') }}
  {%- endif -%}
  {%- do adapter.dispatch('sparkstream_needs_the_adapter', 'sparkstream')(
    'window_sql', 'it translates SQL, which the adapter ' ~ adapter.type() ~ " can't",
    "send statements through `sparkstream gateway`, and set the variable sparkstream_gateway to true,"
    ~ "\n  or write the window with a macro: from {{ tumble(ref('bid'), 'bidtime', '10 minutes') }}"
  ) -%}
{%- endmacro %}
