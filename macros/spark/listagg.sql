{#- In the order that is asked for, which dbt-spark's warns that it can't keep. -#}
{% macro sparkstream__listagg(measure, delimiter_text, order_by_clause, limit_num) -%}
  {%- if not order_by_clause -%}
    {{ return(spark__listagg(measure, delimiter_text, order_by_clause, limit_num)) }}
  {%- endif -%}
  {%- set all = 'listagg(' ~ measure ~ ', ' ~ delimiter_text ~ ') within group (' ~ order_by_clause ~ ')' -%}
  {{ return('substring_index(' ~ all ~ ', ' ~ delimiter_text ~ ', ' ~ limit_num ~ ')' if limit_num else all) }}
{%- endmacro %}
