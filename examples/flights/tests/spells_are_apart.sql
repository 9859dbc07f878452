-- Between two spells of one aircraft lie more than 8 hours, and a spell's last departure is not before its first.
select
    *,
    lag(last_departure) over (partition by tailnum order by first_departure) as previous_departure
from {{ ref('aircraft_spells') }}
qualify first_departure <= previous_departure + interval '8' hours
    or last_departure < first_departure
