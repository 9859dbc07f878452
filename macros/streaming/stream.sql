{% macro stream(relation, watermark=none, event_time=none) -%}
  {%- do adapter.dispatch('sparkstream_check_arguments', 'sparkstream')(
    'stream', kwargs, ['relation', 'watermark', 'event_time'], varargs
  ) if execute -%}
  {{ return(adapter.dispatch('stream', 'sparkstream')(relation, watermark, event_time) if execute else '') }}
{%- endmacro %}

{% macro sparkstream__stream(relation, watermark, event_time) -%}
  {{ return(adapter.stream(model, relation, watermark, event_time)) }}
{%- endmacro %}

{% macro default__stream(relation, watermark, event_time) -%}
  {%- do adapter.dispatch('sparkstream_needs_the_adapter', 'sparkstream')(
    'stream', "a streaming query can't be run by SQL alone, as the adapter " ~ adapter.type() ~ " would",
    'materialize this model as incremental and read ' ~ relation ~ ' without stream()', ' --as-tables'
  ) -%}
{%- endmacro %}
