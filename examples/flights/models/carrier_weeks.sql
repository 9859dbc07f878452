-- Flights and cancellations of each week by airline and by airport, with every total.
-- TUMBLE under a CUBE. The whole model is Flink SQL, as its config says. Windows of 7 days start on Thursdays, as
-- 1 January 1970 did; the offset moves them to Mondays.
{{ config(sql_dialect='flink') }}

SELECT
    window_start AS week_start,
    CASE WHEN GROUPING(airline) = 1 THEN 'all' ELSE airline END AS airline,
    CASE WHEN GROUPING(origin) = 1 THEN 'all' ELSE origin END AS origin,
    COUNT(*) AS flights,
    COUNT(*) - COUNT(departed_at) AS cancelled
FROM TUMBLE(TABLE {{ ref('stg_flights') }}, DESCRIPTOR(scheduled_at), INTERVAL '7' DAY, INTERVAL '-3' DAY) AS flights
JOIN {{ ref('stg_airlines') }} AS airlines ON airlines.carrier = flights.carrier
GROUP BY window_start, window_end, CUBE (airline, origin)
