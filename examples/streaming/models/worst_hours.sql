{{ config(materialized='streaming_incremental', watermark='2 hours') }}

-- The three hours and airports of each day with the longest delays.
with hours as (
  select window_start as hour_start, window_time as hour_time, origin, avg(dep_delay) as delay
  from {{ tumble(stream(source('airport', 'flights')), 'time_hour', '1 hour') }}
  group by window_start, window_end, window_time, origin
),

ranked as (
  select *, row_number() over (partition by window_start, window_end order by delay desc, origin, hour_start) as place
  from {{ tumble('hours', 'hour_time', '1 day') }}
)

select window_start as day, window_end, place, hour_start, origin, round(delay) as delay
from ranked
where place <= 3
