{# A cascade: windows of ten minutes, summed up by day. The columns and their types are fixed by a contract. #}
{{ config(materialized='table', contract={'enforced': true}) }}
with ten_minutes as (
    select window_time as closed, count(*) as bids
    from {{ sparkstream.tumble(ref('bids'), 'bidtime', '10 minutes') }}
    group by window_start, window_end, window_time
)

select cast(window_start as date) as day, sum(bids) as bids
from {{ sparkstream.tumble('ten_minutes', 'closed', '1 day') }}
group by window_start, window_end
