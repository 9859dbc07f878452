{% macro in_batch(timecol=none) -%}
  {%- if not execute -%}{{ return('TRUE') }}{%- endif -%}
  {%- do adapter.dispatch('sparkstream_check_arguments', 'sparkstream')('in_batch', kwargs, ['timecol'], varargs) -%}
  {{ return(adapter.dispatch('in_batch', 'sparkstream')(timecol)) }}
{%- endmacro %}

{% macro default__in_batch(timecol) -%}
  {%- set microbatch = model is defined and model.resource_type == 'model'
    and config.get('materialized') == 'incremental' and config.get('incremental_strategy') == 'microbatch' -%}
  {%- if not microbatch or not model.batch or not model.batch.id -%}{{ return('TRUE') }}{%- endif -%}
  {%- set time = timecol or config.get('event_time') -%}
  {%- if time is not string -%}
    {{ exceptions.raise_compiler_error(
      "in_batch's timecol is no column: " ~ time ~ "\n  write it in quotes, such as 'bidtime'"
    ) }}
  {%- endif -%}
  {%- set time = adapter.dispatch('sparkstream_piece', 'sparkstream')(time | trim, 'in_batch', 'timecol') -%}
  {%- set time = adapter.dispatch('sparkstream_operand', 'sparkstream')(time) -%}
  {%- set edges = [] -%}
  {%- for operator, edge in [('>=', model.batch.event_time_start), ('<', model.batch.event_time_end)] -%}
    {%- do edges.append(time ~ ' ' ~ operator ~ ' ' ~ adapter.dispatch('sparkstream_edge', 'sparkstream')(edge)) -%}
  {%- endfor -%}
  {{ return('(/* rows of the batch */ ' ~ edges | join(' AND ') ~ ')') }}
{%- endmacro %}
