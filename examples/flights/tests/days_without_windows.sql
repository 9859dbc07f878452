-- The days made of hours are the days counted straight from the flights.
with days as (

    select
        origin,
        date_trunc('day', departed_at) as day_start,
        count(*) as departures,
        sum(departure_delay) as delay_minutes
    from {{ ref('stg_flights') }}
    where departed_at is not null
    group by all

)

select *
from days
full join {{ ref('departures_daily') }} as daily using (origin, day_start)
where days.departures is distinct from daily.departures
    or days.delay_minutes is distinct from daily.delay_minutes
