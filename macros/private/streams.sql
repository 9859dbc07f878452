{# What `sparkstream streams` runs in a project: a line of JSON for each streaming model. #}
{% macro sparkstream_streams(models=[]) -%}
  {%- for stream in (adapter.stream_overview(models) if execute else []) -%}
    {%- do print(tojson(stream)) -%}
  {%- endfor -%}
{%- endmacro %}
