-- From an airport's first departure of the day on, each full hour has its row, and no row counts fewer departures than
-- the row before.
with steps as (

    select
        origin,
        day_start,
        as_of,
        departures,
        lag(as_of) over day as previous_as_of,
        lag(departures) over day as previous_departures
    from {{ ref('delay_today') }}
    window day as (partition by origin, day_start order by as_of)

)

select *
from steps
where as_of <> previous_as_of + interval '1' hour
    or departures < previous_departures
