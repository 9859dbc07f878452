{% test no_gaps(
  model, by=none, size=none, slide=none, step=none, offset=none, from=none, to=none, span='key', spine=none
) %}
  {%- do adapter.dispatch('sparkstream_check_arguments', 'sparkstream')('no_gaps', kwargs, [
    'model', 'by', 'size', 'slide', 'step', 'offset', 'from', 'to', 'span', 'spine'
  ], varargs) if execute -%}
  {{- return(adapter.dispatch('test_no_gaps', 'sparkstream')(
    model, by, size, slide, step, offset, from, to, span, spine
  ) if execute else '') -}}
{% endtest %}

{% macro default__test_no_gaps(model, by, size, slide, step, offset, from, to, span, spine) %}
  {%- set given = adapter.dispatch('sparkstream_gap_arguments', 'sparkstream')(
    'no_gaps', model, by, size, slide, step, offset, from, to, none, none, span, spine, '__is_missing'
  ) -%}
SELECT {{ adapter.dispatch('sparkstream_key_list', 'sparkstream')(given.by) }}window_start, window_end
FROM {{ adapter.dispatch('sparkstream_gaps_query', 'sparkstream')(given) }}
WHERE __is_missing
{% endmacro %}
