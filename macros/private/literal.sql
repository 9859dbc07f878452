{#- A text as a literal of Spark SQL: quotes and backslashes come back as they are. -#}
{% macro sparkstream_literal(text) %}
  {{ return(adapter.dispatch('sparkstream_literal', 'sparkstream')(text)) }}
{% endmacro %}

{#- In a generic test's own macros, dbt knows the macros that dispatch finds, and no others. -#}
{% macro default__sparkstream_literal(text) %}
  {{ return("'" ~ text | string | replace("\\", "\\\\") | replace("'", "\\'") ~ "'") }}
{% endmacro %}
