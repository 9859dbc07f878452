{# Off by default: dbt-spark keeps snapshots in Delta, Iceberg or Hudi tables, which a plain Spark has not. #}
{% snapshot window_history %}
{{ config(
    enabled=var('snapshots', false), strategy='check', unique_key='window_start', check_cols=['bids'], file_format='delta'
) }}
select window_start, count(*) as bids
from << tumble({{ ref('bids') }}, bidtime, '10 minutes') >>
group by window_start, window_end
{% endsnapshot %}
