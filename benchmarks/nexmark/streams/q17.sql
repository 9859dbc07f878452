-- As a batch, but for the day, which is a window here: it says when the bids of a day are all there.
SELECT
    auction,
    DATE_FORMAT(window_start, 'yyyy-MM-dd') AS `day`,
    COUNT(*) AS total_bids,
    COUNT(*) FILTER (WHERE price < 10000) AS rank1_bids,
    COUNT(*) FILTER (WHERE price >= 10000 AND price < 1000000) AS rank2_bids,
    COUNT(*) FILTER (WHERE price >= 1000000) AS rank3_bids,
    MIN(price) AS min_price,
    MAX(price) AS max_price,
    AVG(price) AS avg_price,
    SUM(price) AS sum_price
FROM TABLE(TUMBLE(TABLE {{ ref('bid') }}, DESCRIPTOR(`dateTime`), INTERVAL '1' DAY))
GROUP BY auction, window_start, window_end
