{% macro gapfill(
  relation, by=none, size=none, slide=none, step=none, offset=none, from=none, to=none, fill=none, max_gap=none,
  span='key', spine=none, flag='is_filled'
) -%}
  {%- do adapter.dispatch('sparkstream_check_arguments', 'sparkstream')('gapfill', kwargs, [
    'relation', 'by', 'size', 'slide', 'step', 'offset', 'from', 'to', 'fill', 'max_gap', 'span', 'spine', 'flag'
  ], varargs) if execute -%}
  {{ return(adapter.dispatch('gapfill', 'sparkstream')(
    relation, by, size, slide, step, offset, from, to, fill, max_gap, span, spine, flag
  ) if execute else '') }}
{%- endmacro %}

{% macro default__gapfill(relation, by, size, slide, step, offset, from, to, fill, max_gap, span, spine, flag) -%}
  {%- set given = adapter.dispatch('sparkstream_gap_arguments', 'sparkstream')(
    'gapfill', relation, by, size, slide, step, offset, from, to, fill, max_gap, span, spine, flag
  ) -%}
  {{ return(adapter.dispatch('sparkstream_gaps_query', 'sparkstream')(given)) }}
{%- endmacro %}
