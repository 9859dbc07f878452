{#- Comments on the columns of a table; dbt-spark gives them to Delta, Hudi and Iceberg alone.
    A view has its comments from CREATE VIEW, and Spark can't change those of a partition's column. Hive's metastore takes
    255 characters. -#}
{% macro sparkstream__alter_column_comment(relation, column_dict) %}
  {%- set partition_by = config.get('partition_by') or [] -%}
  {%- set fixed = ([partition_by] if partition_by is string else partition_by) | map('lower') | list -%}
  {%- for name, column in column_dict.items() if not relation.is_view and column.description -%}
    {%- if name | lower not in fixed and '`' ~ name | lower ~ '`' not in fixed -%}
      {%- set short = config.get('file_format') not in ['delta', 'hudi', 'iceberg'] and column.description | length > 255 -%}
      {%- set text = column.description[:252] ~ '...' if short else column.description -%}
      {%- do run_query(
        'alter table ' ~ relation.render() ~ ' alter column ' ~ adapter.quote(name) ~ ' comment ' ~ sparkstream_literal(text)
      ) -%}
    {%- endif -%}
  {%- endfor -%}
{% endmacro %}
