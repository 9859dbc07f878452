-- Departures of each airport in each hour.
-- TUMBLE, written as a macro: windows side by side, a flight is in exactly one.
select
    origin,
    window_start as hour_start,
    window_end as hour_end,
    window_time as hour_time,
    count(*) as departures,
    count_if(departure_delay > 15) as late_departures,
    sum(departure_delay) as delay_minutes
from {{ tumble(ref('stg_flights'), 'departed_at', '1 hour') }}
group by origin, window_start, window_end, window_time
