{#- A text as a literal of Spark SQL: quotes and backslashes come back as they are. -#}
{% macro sparkstream_literal(text) %}
  {{ return("'" ~ text | string | replace("\\", "\\\\") | replace("'", "\\'") ~ "'") }}
{% endmacro %}
