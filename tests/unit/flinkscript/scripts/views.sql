SET execution.runtime-mode = batch;
CREATE TABLE bid (
  bidtime TIMESTAMP(3) NOT NULL, price DECIMAL(10, 2), item STRING, supplier_id STRING
) WITH ('connector' = 'filesystem', 'path' = 'data/bid.csv', 'format' = 'csv');

-- Only what costs something.
CREATE VIEW dear AS SELECT * FROM bid WHERE price > 1;
CREATE TEMPORARY VIEW IF NOT EXISTS dear_ones (item, price, `at`) COMMENT 'dear; with other names'
AS SELECT item, price, bidtime FROM dear;
CREATE VIEW best AS
WITH ranked AS (SELECT dear_ones.*, ROW_NUMBER() OVER (ORDER BY price DESC) AS rn FROM dear_ones)
SELECT item, price, `at` FROM ranked WHERE rn = 1;
CREATE TABLE report (item STRING, `at` TIMESTAMP(3), price DOUBLE, note STRING) WITH ('connector' = 'print');
INSERT INTO report (price, item) SELECT price, item FROM best;
-- What there is.
SELECT COUNT(*) AS n FROM dear_ones;
