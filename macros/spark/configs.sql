{#- The columns of a config, each as SQL names it. -#}
{% macro sparkstream_columns_of(name, given=none) %}
  {%- set given = config.get(name) if given is none else given -%}
  {%- set columns = [] -%}
  {%- for column in adapter.dispatch('sparkstream_list', 'sparkstream')(given) -%}
    {%- if column is not string or not column | trim -%}
      {{ exceptions.raise_compiler_error(
        name ~ " is no name of a column, and no list of them: " ~ given ~ "\n  write it such as " ~ name ~ "='day', or "
        ~ name ~ "=['day', 'item']"
      ) }}
    {%- endif -%}
    {%- do columns.append(adapter.named(column)) -%}
  {%- endfor -%}
  {{ return(columns) }}
{% endmacro %}

{#- A name without the backticks that SQL has around it. -#}
{% macro sparkstream_plain_name(column) %}
  {{ return(column[1:-1].replace('``', '`') if column.startswith('`') and column.endswith('`') else column) }}
{% endmacro %}

{#- A config that is a text; none where it isn't given. -#}
{% macro sparkstream_text_of(name, example) %}
  {%- set given = config.get(name) -%}
  {%- if given is not none and (given is not string or not given | trim) -%}
    {{ exceptions.raise_compiler_error(
      name ~ (" is empty" if given is string else " is no text: " ~ given)
      ~ "\n  write it such as " ~ name ~ "='" ~ example ~ "', or leave it out"
    ) }}
  {%- endif -%}
  {{ return(given) }}
{% endmacro %}
