-- Each approach with the one before it to the same airport in the same direction, if that is no longer than 15 minutes ago.
select
    airport,
    direction,
    ts,
    callsign,
    callsign_ahead,
    timestampdiff(second, ts_ahead, ts) as seconds_behind
from {{ asof_join(
    ref('approaches'), ref('approaches'), on=['airport', 'direction'], left_time='ts', right_time='ts',
    allow_exact=false, tolerance='15 minutes', columns={'callsign': 'callsign_ahead', 'ts': 'ts_ahead'}) }}
