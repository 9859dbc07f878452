{#- Clauses of CREATE TABLE. dbt-spark's take a config as it is: an empty format swallows the next word, the keys of a mapping become
    columns, a name with a space is two, and an option ends at its first quote. -#}

{% macro sparkstream__file_format_clause() %}
  {%- set file_format = sparkstream_text_of('file_format', 'parquet') -%}
  {{ 'using ' ~ file_format if file_format is not none else '' }}
{%- endmacro %}

{% macro sparkstream__options_clause() -%}
  {%- set given = config.get('options') -%}
  {%- if given is not none and given is not mapping -%}
    {{ exceptions.raise_compiler_error(
      "options is no mapping: " ~ given ~ "\n  write it such as options={'compression': 'zstd'}"
    ) }}
  {%- endif -%}
  {%- if given is none or config.get('file_format') == 'hudi' -%}
    {{ return(spark__options_clause()) }}
  {%- endif -%}
  {%- set options = [] -%}
  {%- for name, value in given.items() -%}
    {%- do options.append(sparkstream_literal(name) ~ ' ' ~ sparkstream_literal(value)) -%}
  {%- endfor -%}
  {{ return('options (' ~ options | join(', ') ~ ')' if options else '') }}
{%- endmacro %}

{% macro sparkstream__location_clause() %}
  {%- set root = sparkstream_text_of('location_root', '/data/tables') -%}
  {{ 'location ' ~ sparkstream_literal(root ~ '/' ~ model['alias']) if root is not none else '' }}
{%- endmacro %}

{% macro sparkstream__partition_cols(label, required=false) %}
  {%- set columns = sparkstream_columns_of('partition_by') -%}
  {{ label ~ ' (' ~ columns | join(', ') ~ ')' if columns else '' }}
{%- endmacro %}

{#- Also Delta's liquid clustering: `liquid_clustered_by`, as dbt-databricks calls it. -#}
{% macro sparkstream__clustered_cols(label, required=false) %}
  {%- set liquid, columns = sparkstream_columns_of('liquid_clustered_by'), sparkstream_columns_of('clustered_by') -%}
  {%- if liquid and config.get('file_format') not in ['delta'] + ([none] if target.method in ['http', 'odbc'] else []) -%}
    {{ exceptions.raise_compiler_error(
      "only Delta clusters a table by liquid_clustered_by"
      ~ "\n  write file_format='delta', or leave liquid_clustered_by out"
    ) }}
  {%- elif liquid -%}
    cluster by ({{ liquid | join(', ') }})
  {%- elif columns and config.get('buckets') is not none -%}
    {{ label }} ({{ columns | join(', ') }}) into {{ config.get('buckets') }} buckets
  {%- endif -%}
{%- endmacro %}
