{% test no_late_rows(model, max_percent=0) %}
  {%- do adapter.dispatch('sparkstream_check_arguments', 'sparkstream')(
    'no_late_rows', kwargs, ['model', 'max_percent'], varargs
  ) if execute -%}
{%- set runs = model.incorporate(path={'identifier': 'sparkstream_runs'}) -%}
{%- set relation = adapter.dispatch('sparkstream_literal', 'sparkstream')(model) -%}
{%- if execute and load_relation(runs) is none -%}{#- no run has read a row yet, as after `dbt build --empty` -#}
select 0 as rows_late where false
{%- else -%}
with since as (
  /* the table's first micro-batch: what was before a full refresh doesn't count */
  select max(started_at) as began from {{ runs }} where relation = {{ relation }} and batch = 0
)
select sum(rows_late) as rows_late, sum(rows_read) as rows_read, 100 * sum(rows_late) / sum(rows_read) as percent
from {{ runs }}, since
where relation = {{ relation }} and started_at >= began
having 100 * sum(rows_late) > {{ max_percent }} * sum(rows_read)
{%- endif %}
{% endtest %}
