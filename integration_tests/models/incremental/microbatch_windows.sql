{# dbt cuts the input in days; each day's windows replace what was there. #}
{{ config(
    materialized='incremental', incremental_strategy='microbatch', partition_by='day',
    event_time='window_start', begin='2024-01-01', batch_size='day', lookback=1
) }}
select window_start, window_end, count(*) as bids, sum(price) as total, cast(window_start as date) as day
from << tumble({{ ref('bids') }}, bidtime, '10 minutes') >>
group by window_start, window_end
