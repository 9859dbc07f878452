-- An aircraft's working spells: departures from New York no more than 8 hours apart.
-- SESSION per aircraft, written in Flink SQL; around it goes on plain Spark SQL.
with spells as (

    {% call window_sql(dialect='flink') %}
    SELECT
        tailnum,
        window_start AS first_departure,
        MAX(departed_at) AS last_departure,
        COUNT(*) AS departures,
        COUNT(DISTINCT origin) AS airports,
        SUM(miles) AS miles,
        SUM(air_minutes) AS air_minutes
    FROM SESSION(TABLE {{ ref('stg_flights') }} PARTITION BY tailnum, DESCRIPTOR(departed_at), INTERVAL '8' HOUR)
    GROUP BY tailnum, window_start, window_end
    {% endcall %}

)

select
    spells.*,
    planes.manufacturer,
    planes.model
from spells
left join {{ ref('stg_planes') }} as planes on planes.tailnum = spells.tailnum
