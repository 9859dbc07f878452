-- Flights that landed, when they came through 2,000 ft for the last time, and from where. Le Bourget is beside Charles de Gaulle.
select
    icao24,
    callsign,
    last_at_2000 as ts,
    if(latitude_at_2000 > 48.85, 'CDG and Le Bourget', 'Orly') as airport,
    if(track_at_2000 > 180, 'from the east', 'from the west') as direction
from {{ ref('flights') }}
where last_altitude < 1000
    and top_altitude > 2500
    and last_at_2000 is not null
    and latitude_at_2000 between 48.6 and 49.1
