-- Which auctions got the most bids in the last 10 seconds? Every 2 seconds. (HOP, window join)
WITH counted AS (
    SELECT auction, window_start, window_end, COUNT(*) AS num
    FROM TABLE(HOP(TABLE {{ ref('bid') }}, DESCRIPTOR(`dateTime`), INTERVAL '2' SECOND, INTERVAL '10' SECOND))
    GROUP BY auction, window_start, window_end
),

most AS (
    SELECT window_start, window_end, MAX(num) AS num
    FROM counted
    GROUP BY window_start, window_end
)

SELECT counted.window_start, counted.window_end, counted.auction, counted.num
FROM counted
INNER JOIN most
    ON counted.window_start = most.window_start
    AND counted.window_end = most.window_end
    AND counted.num = most.num
