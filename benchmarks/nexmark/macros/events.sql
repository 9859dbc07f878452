{# A file of the generator as a table; its columns are strings. #}
{% macro events(name) -%}
  csv.`{{ var('data') }}/{{ name }}.csv` with (header = true)
{%- endmacro %}
