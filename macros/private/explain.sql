{# What `sparkstream explain` runs in a project: `options` are those of the adapter's method. #}
{% macro sparkstream_explain(options) -%}
  {%- do adapter.explain(**options) if execute -%}
{%- endmacro %}
