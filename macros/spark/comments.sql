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

{#- The columns of a view with their comments. dbt-spark's has none where a name is in another case in the YAML. -#}
{% macro get_persist_docs_column_list(model_columns, query_columns) %}
  {%- set comments, columns = sparkstream_comment_clauses(model_columns), [] -%}
  {%- for name in query_columns -%}{%- do columns.append(adapter.quote(name) ~ comments.get(name | lower, '')) -%}{%- endfor -%}
  {{ return(columns | join(', ')) }}
{% endmacro %}

{#- ` comment '...'` of each column that has a description, by its name in lower case. -#}
{% macro sparkstream_comment_clauses(model_columns) %}
  {%- set clauses, known = {}, namespace(whole=none) -%}
  {%- for name, column in model_columns.items() if column.description -%}
    {%- if sparkstream_is_long(column.description) and known.whole is none -%}
      {%- set known.whole = sparkstream_keeps_comments() -%}
    {%- endif -%}
    {%- set comment = sparkstream_column_comment(column, known.whole) -%}
    {%- do clauses.update({name | lower: ' comment ' ~ sparkstream_literal(comment)}) -%}
  {%- endfor -%}
  {{ return(clauses) }}
{% endmacro %}

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
