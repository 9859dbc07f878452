{# What `sparkstream batches` runs in a project: a line of JSON, with the batches of a microbatch model. #}
{% macro sparkstream_batches(model, options={}) -%}
  {%- if execute -%}{%- do print(tojson(adapter.batches(model, options))) -%}{%- endif -%}
{%- endmacro %}
