{# A file of the data folder as a table. Its columns are strings, named by the file's first line; "NA" is NULL. #}
{% macro csv_file(name) -%}
  csv.`{{ var('data') }}/{{ name }}.csv` with (header = true, nullValue = 'NA')
{%- endmacro %}
