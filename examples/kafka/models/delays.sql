{{ config(
    materialized='streaming_incremental',
    watermark='0 seconds',
    trigger={'processing_time': '2 seconds'},
    sink={
        'format': 'kafka', 'topic': 'delays', 'key': ['window_start', 'origin'],
        'options': {'kafka.bootstrap.servers': env_var('DEMO_KAFKA')}
    }
) }}
select window_start, window_end, origin, count(*) as flights, round(avg(dep_delay), 1) as minutes_late
from {{ tumble(stream(source('airport', 'departures')), 'at', '1 hour') }}
group by window_start, window_end, origin
