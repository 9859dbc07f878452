{% macro read(relation, before=none, after=none) -%}
  {%- if not execute -%}{{ return(relation) }}{%- endif -%}
  {%- do adapter.dispatch('sparkstream_check_arguments', 'sparkstream')(
    'read', kwargs, ['relation', 'before', 'after'], varargs
  ) -%}
  {{ return(adapter.dispatch('read', 'sparkstream')(relation, before, after)) }}
{%- endmacro %}

{% macro default__read(relation, before, after) -%}
  {%- set interval = adapter.dispatch('sparkstream_interval', 'sparkstream') -%}
  {%- set written = adapter.dispatch('sparkstream_written', 'sparkstream') -%}
  {%- set wall_clock = adapter.dispatch('sparkstream_wall_clock', 'sparkstream') -%}
  {%- set margins = {} -%}
  {%- for side, value in [('before', before), ('after', after)] -%}
    {%- if value is string and value | trim | lower == 'unbounded' -%}
      {%- do margins.update({side: none}) -%}
    {%- else -%}
      {%- set margin = 0 if value is none else interval(value, 'read', side) -%}
      {%- if margin < 0 -%}
        {{ exceptions.raise_compiler_error(
          "read's " ~ side ~ " is negative: '" ~ value ~ "', and a batch reads at least its own rows"
          ~ "\n  write it such as '1 hour', or 'unbounded'"
        ) }}
      {%- endif -%}
      {%- do margins.update({side: margin}) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- set microbatch = model is defined and model.resource_type == 'model'
    and config.get('materialized') == 'incremental' and config.get('incremental_strategy') == 'microbatch' -%}
  {%- if not microbatch or not model.batch or not model.batch.id -%}{{ return(relation) }}{%- endif -%}
  {%- if relation is string -%}
    {{ exceptions.raise_compiler_error("read takes a ref or source, not " ~ relation ~ "\n  write read(ref('...'))") }}
  {%- endif -%}
  {%- set filter = adapter.dispatch('sparkstream_cut', 'sparkstream')(relation) -%}
  {%- if not filter -%}
    {{ exceptions.raise_compiler_error(
      "read can't tell which rows of " ~ relation.identifier ~ " are near the batch: it has no event_time"
      ~ "\n  write event_time in the config of " ~ relation.identifier ~ ", or read all of it: ref('...')"
    ) }}
  {%- endif -%}
  {%- set conditions = [] -%}
  {%- for operator, edge, margin, sign in [
    ('>=', filter.start, margins.before, ' - '), ('<', filter.end, margins.after, ' + ')
  ] if margin is not none -%}
    {%- set time = adapter.dispatch('sparkstream_edge', 'sparkstream')(edge) -%}
    {%- if margin -%}
      {#- On a day when a clock is turned, an hour on the wall may be none or two: the margin is as long by both. -#}
      {%- set length = sign ~ written(margin, literal=true) -%}
      {%- set passed = wall_clock('CAST(' ~ time ~ ' AS TIMESTAMP)' ~ length) -%}
      {%- set time = ('least(' if sign == ' - ' else 'greatest(') ~ time ~ length ~ ', ' ~ passed ~ ')' -%}
    {%- endif -%}
    {%- do conditions.append(adapter.dispatch('sparkstream_bounded', 'sparkstream')(
      filter.field_name, operator, time, margin % 3600000000 == 0
    )) -%}
  {%- endfor -%}
  {%- set where = ' WHERE ' ~ conditions | join(' AND ') if conditions else '' -%}
  {{ return('(/* the batch and more */ SELECT * FROM ' ~ filter.rows ~ where ~ ')') }}
{%- endmacro %}
