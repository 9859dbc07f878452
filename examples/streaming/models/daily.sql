{{ config(materialized='streaming_incremental', watermark='2 hours', late_rows='keep') }}

-- One row per day and airport, appended when the day is over.
select
  window_start as day,
  window_end,
  origin,
  count(*) as flights,
  count_if(dep_time is null) as cancelled,
  round(avg(dep_delay), 1) as delay
from {{ tumble(stream(source('airport', 'flights')), 'time_hour', '1 day') }}
group by window_start, window_end, origin
