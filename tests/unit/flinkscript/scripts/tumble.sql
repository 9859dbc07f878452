-- Licensed to nobody.

/* Totals of an auction house. */
SET 'execution.runtime-mode' = 'batch';
SET 'table.local-time-zone' = 'UTC';
SET 'parallelism.default' = '2';

-- What was bid.
CREATE TABLE Bid (
  bidtime TIMESTAMP(3),
  price DECIMAL(10, 2) COMMENT 'in dollars; never {{ negative }}',
  item STRING,
  supplier_id VARCHAR(20),
  WATERMARK FOR bidtime AS bidtime - INTERVAL '1' MINUTE
) COMMENT 'Bids' WITH ('connector' = 'filesystem', 'path' = 'data/bid.csv', 'format' = 'csv'); -- six rows

CREATE TABLE totals (
  starts TIMESTAMP(3), ends TIMESTAMP(3), total DECIMAL(10, 2), n BIGINT
) WITH ('connector' = 'print');

-- Every ten minutes;
-- all suppliers.
INSERT INTO totals
SELECT window_start, window_end, SUM(price), COUNT(*)
FROM TABLE(TUMBLE(TABLE Bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTES)) -- ten
GROUP BY window_start, window_end;
