{{ config(materialized='ephemeral') }}
select window_start, window_end, count(*) as bids, sum(price) as total
from {{ sparkstream.tumble(ref('timed_bids'), 'bidtime', '10 minutes') }}
group by window_start, window_end
