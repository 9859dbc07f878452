-- On each day New York's total is the sum of its airports and the sum of its carriers.
select
    day_start,
    sum(cancelled) filter (where part = 'New York') as total,
    sum(cancelled) filter (where part = 'airport') as of_airports,
    sum(cancelled) filter (where part = 'carrier') as of_carriers
from {{ ref('cancellations_daily') }}
group by day_start
having total is distinct from of_airports
    or total is distinct from of_carriers
