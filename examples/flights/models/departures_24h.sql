-- Departures of each airport in the last 24 hours, every hour.
-- HOP, written as a table function in the SQL: windows of 24 hours, a new one each hour, a flight is in 24 of them.
select
    origin,
    window_start,
    window_end,
    count(*) as departures,
    sum(departure_delay) as delay_minutes,
    round(avg(departure_delay), 1) as mean_delay
from hop(table {{ ref('stg_flights') }}, descriptor(departed_at), interval '1' hour, interval '24' hours)
group by origin, window_start, window_end
