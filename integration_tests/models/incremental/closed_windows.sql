{# Adds the windows that have closed since the last run. #}
{{ config(materialized='incremental', incremental_strategy='append') }}
select window_start, window_end, count(*) as bids, sum(price) as total
from {{ sparkstream.tumble(ref('bids'), 'bidtime', '10 minutes') }}
where window_end <= timestamp_ntz'{{ var('until') }}'
{% if is_incremental() %}
  and window_end > (select max(window_end) from {{ this }})
{% endif %}
group by window_start, window_end
