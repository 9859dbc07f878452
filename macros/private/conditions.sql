{#- An expression of a user's beside an operator: in parentheses, unless it is a name, a number or a word in quotes. -#}
{% macro default__sparkstream_operand(text) %}
  {{ return(text if text.strip("`'").replace('_', 'a').replace('.', 'a').isalnum() else '(' ~ text ~ ')') }}
{% endmacro %}

{#- Conditions of users as one, each in parentheses of its own: one may have an OR, or end in a line comment. -#}
{% macro default__sparkstream_conditions(given) %}
  {%- set parts = [] -%}
  {%- for one in adapter.dispatch('sparkstream_list', 'sparkstream')(given or none) if one is not none and one | string | trim -%}
    {%- set text = one | string | trim -%}
    {%- do parts.append('(' ~ text ~ ('\n)' if '--' in text else ')')) -%}
  {%- endfor -%}
  {{ return(parts | join('\nAND ')) }}
{% endmacro %}
