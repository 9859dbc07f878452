{#- dbt-spark's leave backslashes in descriptions and quotes in properties as they are: `C:\temp` becomes a tab, and a text
    that ends in a backslash is a syntax error. -#}
{% macro sparkstream__comment_clause() %}
  {%- set docs = config.get('persist_docs', {}) -%}
  {%- if docs is not mapping and docs -%}
    {{ exceptions.raise_compiler_error(
      "persist_docs is no mapping: " ~ docs ~ "\n  write persist_docs={'relation': true, 'columns': true}"
    ) }}
  {%- elif docs is mapping and docs.get('relation', false) %}
      comment {{ sparkstream_literal(model.description) }}
  {%- endif -%}
{% endmacro %}

{#- Of a view, which has its comments from CREATE VIEW; a view that a snapshot reads has no more than its table. -#}
{% macro get_column_comment_sql(column_name, column_dict) %}
  {%- set column = column_dict.get(column_name, {'description': ''}) -%}
  {%- set description = column.description if config.get('materialized') == 'view' else sparkstream_column_comment(column) -%}
  {{ adapter.quote(column_name) }}{{ ' comment ' ~ sparkstream_literal(description) if description }}
{%- endmacro %}

{% macro sparkstream__tblproperties_clause() %}
  {%- set given = config.get('tblproperties') -%}
  {%- if given is not none and given is not mapping -%}
    {{ exceptions.raise_compiler_error(
      "tblproperties is no mapping: " ~ given ~ "\n  write it such as tblproperties={'owner': 'analytics'}"
    ) }}
  {%- endif -%}
  {%- if given is not none %}
    tblproperties (
      {%- for name, value in given.items() -%}
      {{ sparkstream_literal(name) }} = {{ sparkstream_literal(value) }}{{ ', ' if not loop.last }}
      {%- endfor -%}
    )
  {%- endif -%}
{% endmacro %}
