-- Departures of each airport on each day, added up from its hours.
-- A cascade, macros again: windows over windows follow window_time, the last millisecond of the smaller window,
-- which the hourly table keeps as hour_time.
select
    origin,
    window_start as day_start,
    window_end as day_end,
    sum(departures) as departures,
    sum(late_departures) as late_departures,
    sum(delay_minutes) as delay_minutes,
    max(departures) as busiest_hour
from {{ tumble(ref('departures_hourly'), 'hour_time', '1 day') }}
group by origin, window_start, window_end
