-- Row by row: every flight that left is in exactly one window of an hour, and left within it; a cancelled one is in none.
with windows as (

    select flight_id, count(*) as n, min(window_start) as window_start, min(window_end) as window_end
    from {{ tumble(ref('stg_flights'), 'departed_at', '1 hour') }}
    group by flight_id

)

select flight_id, flights.departed_at, windows.*
from {{ ref('stg_flights') }} as flights
left join windows using (flight_id)
where coalesce(n, 0) <> if(departed_at is null, 0, 1)
    or departed_at < window_start
    or departed_at >= window_end
