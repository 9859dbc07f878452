-- One row per airport and hour of observation. In the night of 3 November the clocks went back: 01:00 is there twice.
select
    origin,
    make_timestamp_ntz(int(year), int(month), int(day), int(hour), 0, 0) as observed_at,
    double(temp) as fahrenheit,
    double(wind_speed) as wind_mph,
    double(visib) as visibility_miles,
    double(precip) as rain_inches
from {{ csv_file('weather') }}
