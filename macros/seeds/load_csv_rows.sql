{#- dbt-spark's macro looks through a whole column for the type of each value in it: minutes for 20,000 rows. -#}
{% macro sparkstream__load_csv_rows(model, agate_table) %}
  {%- set overrides = model['config'].get('column_types', {}) -%}
  {%- set quote = model['config'].get('quote_columns') -%}
  {%- set values, names = [], [] -%}
  {%- for name in agate_table.column_names -%}
    {%- set type = overrides.get(name, adapter.convert_type(agate_table, loop.index0)) -%}
    {%- do values.append('cast(' ~ get_binding_char() ~ ' as ' ~ type ~ ')') -%}
    {%- set column = adapter.quote_seed_column(name | string, quote) -%}
    {%- do names.append(column | replace('%', '%%') if get_binding_char() == '%s' else column) -%}
  {%- endfor -%}
  {%- set one_row = '(' ~ values | join(', ') ~ ')' -%}
  {%- set statements = [] -%}
  {%- set table = (sparkstream_seed_table() if sparkstream_seeds_are_staged() else this).render() -%}
  {%- for chunk in agate_table.rows | batch(get_batch_size()) -%}
    {%- set bindings = [] -%}
    {%- for row in chunk -%}{%- do bindings.extend(row) -%}{%- endfor -%}
    {#- By name: the columns of partitions are the last of a table. -#}
    {%- set sql = 'insert into ' ~ table ~ ' (' ~ names | join(', ') ~ ') values\n' ~ ([one_row] * (chunk | length)) | join(',\n') -%}
    {%- do adapter.add_query(sql, bindings=bindings, abridge_sql_log=True) -%}
    {%- do statements.append(sql) if not statements -%}
  {%- endfor -%}
  {%- if sparkstream_seeds_are_staged() -%}{%- do sparkstream_seeded() -%}{%- endif -%}
  {#- What dbt writes into target/run. -#}
  {{ return(statements[0]) }}
{% endmacro %}
