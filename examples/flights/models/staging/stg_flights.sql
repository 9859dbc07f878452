-- One row per scheduled flight. Times are New York's wall clock (TIMESTAMP_NTZ), so no time zone plays a part.
with flights as (

    select
        *,
        make_timestamp_ntz(int(year), int(month), int(day), int(hour), int(minute), 0) as scheduled_at
    from {{ csv_file('flights') }}

)

select
    concat_ws(' ', carrier || flight, origin, date_format(scheduled_at, 'yyyy-MM-dd HH:mm')) as flight_id,
    scheduled_at,
    -- NULL for a cancelled flight: it is in no window over departed_at
    timestampadd(minute, int(dep_delay), scheduled_at) as departed_at,
    carrier,
    int(flight) as flight_number,
    tailnum,
    origin,
    dest,
    int(dep_delay) as departure_delay,
    int(arr_delay) as arrival_delay,
    int(air_time) as air_minutes,
    int(distance) as miles
from flights
