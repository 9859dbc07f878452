-- The 24 hours that end at a midnight are a day.
select
    origin,
    day_start,
    hops.departures,
    daily.departures as departures_of_the_day
from (
    select *, window_start as day_start from {{ ref('departures_24h') }} where hour(window_start) = 0
) as hops
full join {{ ref('departures_daily') }} as daily using (origin, day_start)
where hops.departures is distinct from daily.departures
    or hops.delay_minutes is distinct from daily.delay_minutes
