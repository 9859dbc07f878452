-- Which bids were the highest of their 10 seconds? (TUMBLE on both sides of a window join)
SELECT bids.auction, bids.bidder, bids.price, bids.`dateTime`, bids.extra
FROM TABLE(TUMBLE(TABLE {{ ref('bid') }}, DESCRIPTOR(`dateTime`), INTERVAL '10' SECOND)) AS bids
INNER JOIN (
    SELECT window_start, window_end, MAX(price) AS price
    FROM TABLE(TUMBLE(TABLE {{ ref('bid') }}, DESCRIPTOR(`dateTime`), INTERVAL '10' SECOND))
    GROUP BY window_start, window_end
) AS highest
    ON bids.window_start = highest.window_start
    AND bids.window_end = highest.window_end
    AND bids.price = highest.price
