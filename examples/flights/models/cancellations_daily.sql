-- Cancelled flights of each day: New York's total, and each airport's and carrier's part of it.
-- TUMBLE under GROUPING SETS, as a macro in Spark SQL. Its time is the schedule's: a cancelled flight has no other.
select
    window_start as day_start,
    case
        when grouping(origin) = 0 then 'airport'
        when grouping(carrier) = 0 then 'carrier'
        else 'New York'
    end as part,
    coalesce(origin, carrier, 'all') as name,
    count(*) as flights,
    count_if(departed_at is null) as cancelled
from {{ tumble(ref('stg_flights'), 'scheduled_at', '1 day') }}
group by window_start, window_end, grouping sets ((origin), (carrier), ())
