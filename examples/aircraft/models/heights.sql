-- The altitude of each flight every 10 seconds. Where none was heard for up to 5 minutes, it is on the line between.
with heard as (

    select p.icao24, f.heard_from, p.ts, p.altitude
    from {{ ref('pings') }} as p
    join {{ ref('flights') }} as f
        on p.icao24 = f.icao24 and p.ts between f.heard_from and f.heard_to
    where p.altitude is not null

),

heights as (

    select icao24, heard_from, window_start, window_end, avg(altitude) as altitude
    from {{ tumble('heard', 'ts', '10 seconds') }}
    group by icao24, heard_from, window_start, window_end

)

select *
from {{ gapfill(
    'heights', by=['icao24', 'heard_from'], size='10 seconds', fill={'altitude': 'linear'}, max_gap='5 minutes') }}
