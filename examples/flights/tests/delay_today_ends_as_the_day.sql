-- The last window of a day, which ends at the next midnight, holds what a window of one day holds.
select
    origin,
    day_start,
    today.departures,
    daily.departures as departures_of_the_day,
    today.delay_minutes,
    daily.delay_minutes as delay_minutes_of_the_day
from (select * from {{ ref('delay_today') }} where as_of = day_start + interval '1' day) as today
full join {{ ref('departures_daily') }} as daily using (origin, day_start)
where today.departures is distinct from daily.departures
    or today.delay_minutes is distinct from daily.delay_minutes
