{% macro request(model, rows) -%}
  {{ return(adapter.dispatch('request', 'sparkstream')(model, [rows] if rows is mapping else rows)) }}
{%- endmacro %}

{% macro sparkstream__request(model, rows) -%}
  {%- set answers = adapter.request(model, rows) if execute else [] -%}
  {%- for answer in answers -%}
    {%- do print('null' if answer is none else answer) -%}
  {%- endfor -%}
  {{ return(answers) }}
{%- endmacro %}

{% macro default__request(model, rows) -%}
  {%- do adapter.dispatch('sparkstream_needs_the_adapter', 'sparkstream')(
    'request', "it puts rows into a model's SQL, which the adapter " ~ adapter.type() ~ " can't",
    'write the rows into the tables that the model reads'
  ) -%}
{%- endmacro %}
