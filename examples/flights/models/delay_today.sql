-- Each airport's delay so far today, at every full hour.
-- CUMULATE, written as an island: windows that start at midnight and grow by an hour until the day is full.
select
    origin,
    window_start as day_start,
    window_end as as_of,
    count(*) as departures,
    sum(departure_delay) as delay_minutes,
    max(departure_delay) as worst_delay
from << cumulate({{ ref('stg_flights') }}, departed_at, '1 hour', '1 day') >>
group by origin, window_start, window_end
