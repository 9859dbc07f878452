SET 'execution.runtime-mode' = 'batch';
CREATE TABLE bid (
  bidtime TIMESTAMP(3), price DECIMAL(10, 2), item STRING, supplier_id STRING,
  WATERMARK FOR bidtime AS bidtime - INTERVAL '0.5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'data/bid.csv', 'format' = 'csv');
CREATE TABLE top2 (window_end TIMESTAMP(3), item STRING, price DECIMAL(10, 2), rn BIGINT) WITH ('connector' = 'print');
INSERT INTO top2
SELECT window_end, item, price, rn FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY price DESC) AS rn
  FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTES))
) WHERE rn <= 2;
CREATE TABLE last_of_supplier (supplier_id STRING, item STRING, price DOUBLE) WITH ('connector' = 'print');
INSERT INTO last_of_supplier
SELECT supplier_id, item, price FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY supplier_id ORDER BY bidtime DESC) AS rownum FROM bid
) WHERE rownum = 1;
