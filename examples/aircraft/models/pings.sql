-- One row per position that an aircraft sent: one a second, where it was heard.
select
    icao24,
    trim(callsign) as callsign,
    timestamp_millis(bigint(timestamp)) as ts,
    latitude,
    longitude,
    -- slow aircraft are on the ground, where some send 39,000 ft; above 60,000 ft there is nobody: a bit was heard wrong
    if(groundspeed >= 80 and altitude <= 60000, altitude, null) as altitude,
    groundspeed,
    track
from json.`{{ var('data') }}/pings.json`
