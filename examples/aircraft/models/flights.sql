select
    icao24,
    window_start as heard_from,
    window_end - interval 10 minutes as heard_to,
    max(callsign) as callsign,
    count(*) as pings,
    {{ first_by('altitude', 'ts') }} as first_altitude,
    {{ last_by('altitude', 'ts') }} as last_altitude,
    max(altitude) as top_altitude,
    -- where it came through 2,000 ft for the last time: before it landed, if it did
    max(ts) filter (where altitude >= 2000) as last_at_2000,
    {{ last_by('if(altitude >= 2000, latitude, null)', 'ts') }} as latitude_at_2000,
    {{ last_by('if(altitude >= 2000, track, null)', 'ts') }} as track_at_2000,
    count(distinct callsign) as callsigns
from {{ session(ref('pings'), 'ts', '10 minutes', partition_by='icao24') }}
group by icao24, window_start, window_end
