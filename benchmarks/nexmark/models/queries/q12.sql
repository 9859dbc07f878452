-- How many bids does somebody make in 10 seconds of the clock on the wall? (processing time)
--
-- Not run: a table has no time at which a row arrived, so every run would give other rows, and all in one window. Enabled, it is
-- refused. By the bids' own time it is TUMBLE(TABLE bid, DESCRIPTOR(dateTime), INTERVAL '10' SECOND).
{{ config(enabled=false) }}
SELECT bidder, window_start, window_end, COUNT(*) AS bid_count
FROM TABLE(
    TUMBLE(TABLE (SELECT *, PROCTIME() AS arrived FROM {{ ref('bid') }}), DESCRIPTOR(arrived), INTERVAL '10' SECOND)
)
GROUP BY bidder, window_start, window_end
