{{ config(materialized='table', partition_by='day') }}
select window_start, window_end, count(*) as bids, sum(price) as total, cast(window_start as date) as day
from << hop({{ ref('bids') }}, bidtime, '5 minutes', '10 minutes') >>
group by window_start, window_end
