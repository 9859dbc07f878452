-- Row by row, for one week: every flight is in 24 different windows of 24 hours, all around its time.
with flights as (

    select flight_id, departed_at
    from {{ ref('stg_flights') }}
    where departed_at >= timestamp_ntz '2013-07-01' and departed_at < timestamp_ntz '2013-07-08'

)

select
    flight_id,
    departed_at,
    count(distinct window_start) as windows,
    min(window_start) as first_start,
    max(window_start) as last_start
from {{ hop('flights', 'departed_at', '1 hour', '24 hours') }}
group by flight_id, departed_at
having count(*) <> 24
    or windows <> 24
    or bool_or(departed_at < window_start or departed_at >= window_end)
    or bool_or(window_end - window_start <> interval '24' hours)
