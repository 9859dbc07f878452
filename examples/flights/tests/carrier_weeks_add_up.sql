-- In each week the total is the sum of the airports, of the airlines, and of the airlines at each airport.
select
    week_start,
    sum(flights) filter (where airline = 'all' and origin = 'all') as total,
    sum(flights) filter (where airline = 'all' and origin <> 'all') as of_airports,
    sum(flights) filter (where airline <> 'all' and origin = 'all') as of_airlines,
    sum(flights) filter (where airline <> 'all' and origin <> 'all') as of_both
from {{ ref('carrier_weeks') }}
group by week_start
having total is distinct from of_airports
    or total is distinct from of_airlines
    or total is distinct from of_both
    or weekday(week_start) <> 0
