SET 'execution.runtime-mode' = 'batch';
CREATE TABLE clicks (id BIGINT, usr STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE)
WITH ('connector' = 'filesystem', 'path' = 'data/clicks', 'format' = 'csv');
CREATE TABLE orders (id BIGINT, usr STRING, ts TIMESTAMP(3), amount DECIMAL(8, 2))
WITH ('connector' = 'filesystem', 'path' = 'data/orders', 'format' = 'csv', 'csv.field-delimiter' = ';');
CREATE TABLE both_ (usr STRING, window_start TIMESTAMP(3), clicks BIGINT, amount DECIMAL(38, 2)) WITH ('connector' = 'print');
CREATE TABLE soon (click BIGINT, `order` BIGINT) WITH ('connector' = 'print');
-- In the same ten minutes.
INSERT INTO both_
SELECT L.usr, L.window_start, L.n, R.amount
FROM (
  SELECT usr, window_start, window_end, COUNT(*) AS n
  FROM TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '10' MINUTES) GROUP BY usr, window_start, window_end
) L JOIN (
  SELECT usr, window_start, window_end, SUM(amount) AS amount
  FROM TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '10' MINUTES) GROUP BY usr, window_start, window_end
) R ON L.usr = R.usr AND L.window_start = R.window_start AND L.window_end = R.window_end;
-- Within a minute.
INSERT INTO soon
SELECT clicks.id, orders.id FROM clicks, orders
WHERE clicks.usr = orders.usr AND orders.ts BETWEEN clicks.ts AND clicks.ts + INTERVAL '1' MINUTE;
