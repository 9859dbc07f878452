{% macro count_windows() %}
  {% set sql %}
    select count(distinct window_start) as n from {{ sparkstream.tumble(ref('bids'), 'bidtime', '10 minutes') }}
  {% endset %}
  {% do run_query('insert into ' ~ target.schema ~ '.audit select "windows of an operation", n from (' ~ sql ~ ')') %}
{% endmacro %}
