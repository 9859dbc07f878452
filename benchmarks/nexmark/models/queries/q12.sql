-- How many bids does somebody make in 10 seconds of the clock on the wall? (processing time)
--
-- Not run: a table does not know when its rows arrived, so the answer would change from run to run. Enabled, it is
-- refused. By the bids' own time it is TUMBLE(TABLE bid, DESCRIPTOR(dateTime), INTERVAL '10' SECOND).
{{ config(enabled=false) }}
WITH arrivals AS (
    SELECT bidder, PROCTIME() AS arrived
    FROM {{ ref('bid') }}
)

SELECT bidder, window_start, window_end, COUNT(*) AS bid_count
FROM TABLE(TUMBLE(TABLE arrivals, DESCRIPTOR(arrived), INTERVAL '10' SECOND))
GROUP BY bidder, window_start, window_end
