SET 'execution.runtime-mode' = 'batch';
CREATE TABLE bid (bidtime TIMESTAMP(3), price DECIMAL(10, 2), item STRING, supplier_id STRING)
WITH ('connector' = 'filesystem', 'path' = 'data/bid.csv', 'format' = 'csv');
CREATE TABLE daily (item STRING, price DECIMAL(10, 2), kind STRING, dt STRING) PARTITIONED BY (kind, dt)
WITH ('connector' = 'filesystem', 'path' = '/tmp/nowhere', 'format' = 'parquet');
CREATE TABLE summary (kind STRING, n BIGINT) WITH ('connector' = 'print');
INSERT OVERWRITE daily PARTITION (kind = 'cheap', dt = '2020-04-15') SELECT item, price FROM bid WHERE price < 3;
INSERT INTO daily PARTITION (kind = 'dear') (item, price, dt)
(SELECT item, price, DATE_FORMAT(bidtime, 'yyyy-MM-dd') FROM bid WHERE price >= 3);
INSERT INTO summary SELECT kind, COUNT(*) FROM daily GROUP BY kind;
