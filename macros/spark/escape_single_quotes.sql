{#- What stands between quotes, such as a value in a unit test: dbt-spark's leaves backslashes, and Spark reads `\t` as a tab. -#}
{% macro sparkstream__escape_single_quotes(expression) -%}
  {{ return(expression | replace('\\', '\\\\') | replace("'", "\\'")) }}
{%- endmacro %}
