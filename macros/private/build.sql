{# What `sparkstream build` runs in a project: `options` are those of the adapter's method. #}
{% macro sparkstream_build(options) -%}
  {%- do print(adapter.build(**options)) if execute -%}
{%- endmacro %}
