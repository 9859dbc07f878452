-- Each airport's hours of departures beside the weather in them.
-- Two window tables joined on airport and window. The weather is tumbled by the hour too: it has one row an hour,
-- but two for the hour that the clocks repeat in autumn.
with weather as (

    select
        origin,
        window_start,
        window_end,
        round(avg(wind_mph), 1) as wind_mph,
        round(avg(visibility_miles), 1) as visibility_miles,
        round(avg(rain_inches), 2) as rain_inches
    from {{ tumble(ref('stg_weather'), 'observed_at', '1 hour') }}
    group by origin, window_start, window_end

)

select
    hours.origin,
    hours.hour_start,
    hours.departures,
    hours.delay_minutes,
    weather.wind_mph,
    weather.visibility_miles,
    weather.rain_inches
from {{ ref('departures_hourly') }} as hours
left join weather
    on weather.origin = hours.origin
    and weather.window_start = hours.hour_start
    and weather.window_end = hours.hour_end
