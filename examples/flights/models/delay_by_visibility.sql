-- What fog costs: the mean delay of a departure by how far one could see.
select
    case
        when visibility_miles < 1 then '1: under 1 mile'
        when visibility_miles < 3 then '2: 1 to 3 miles'
        when visibility_miles < 10 then '3: 3 to 10 miles'
        when visibility_miles >= 10 then '4: clear'
        else '5: not observed'
    end as visibility,
    count(*) as hours,
    sum(departures) as departures,
    round(sum(delay_minutes) / sum(departures), 1) as mean_delay
from {{ ref('hours_in_weather') }}
group by 1
