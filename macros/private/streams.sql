{# What `sparkstream streams` runs in a project: a line of JSON for each streaming model. #}
{% macro sparkstream_streams(models=[]) -%}
  {%- for stream in (adapter.stream_overview(models) if execute else []) -%}
    {%- do print(tojson(stream)) -%}
  {%- endfor -%}
{%- endmacro %}

{# What `sparkstream streams stop` runs in a project: a line of JSON, with what has become of each run. #}
{% macro sparkstream_stop_streams(models, patience) -%}
  {%- if execute -%}{%- do print(tojson(adapter.stop_streams(models, patience))) -%}{%- endif -%}
{%- endmacro %}

{# What `sparkstream backfill` runs in a project: a line that says what was done. #}
{% macro sparkstream_backfill(model, since, until, removes=false) -%}
  {%- if execute -%}{%- do print(adapter.backfill(model, since, until, removes, invocation_id)) -%}{%- endif -%}
{%- endmacro %}
