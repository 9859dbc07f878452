ADD JAR '/opt/pulsar.jar';
CREATE CATALOG hive WITH ('type' = 'hive');
CREATE FUNCTION IF NOT EXISTS mask AS 'org.example.Mask' LANGUAGE JAVA;
DROP TABLE IF EXISTS orders;
CREATE TABLE orders (
  id BIGINT, usr STRING, amount DECIMAL(10, 2), ts TIMESTAMP_LTZ(3) METADATA FROM 'timestamp',
  `partition` INT METADATA VIRTUAL, proctime AS PROCTIME(),
  WATERMARK FOR ts AS ts - INTERVAL '10' SECONDS
) WITH ('connector' = 'pulsar', 'topics' = 'orders', 'service-url' = 'pulsar://broker:6650', 'format' = 'json');
CREATE TABLE made_up (x INT) WITH ('connector' = 'datagen', 'rows-per-second' = '5');
CREATE TABLE rates (currency STRING, rate DOUBLE, PRIMARY KEY (currency) NOT ENFORCED)
WITH ('connector' = 'jdbc', 'url' = 'jdbc:postgresql://db/rates', 'table-name' = 'rates');
CREATE TABLE hourly (w TIMESTAMP(3), n BIGINT, amount DECIMAL(38, 2)) WITH ('connector' = 'jdbc');
CREATE TABLE masked (usr STRING) WITH ('connector' = 'print');
CREATE TABLE looked_up (id BIGINT, rate DOUBLE) WITH ('connector' = 'print');
CREATE TABLE arrived (id BIGINT, `at` TIMESTAMP(3)) WITH ('connector' = 'print');
CREATE TABLE lost (a INT) WITH ('connector' = 'print');
SET 'table.exec.state.ttl' = '1 d';
RESET 'table.exec.state.ttl';
SET 'pipeline.name' = 'hourly orders';
SET 'sql-client.execution.result-mode' = 'TABLEAU';
EXPLAIN SELECT * FROM orders;
INSERT INTO hourly
SELECT window_start, COUNT(*), SUM(amount)
FROM TUMBLE(TABLE orders /*+ OPTIONS('scan.startup.mode' = 'earliest-offset') */, DESCRIPTOR(ts), INTERVAL '1' HOUR)
GROUP BY window_start, window_end;
INSERT INTO masked SELECT mask(usr) FROM orders;
INSERT INTO looked_up SELECT o.id, r.rate FROM orders AS o JOIN rates FOR SYSTEM_TIME AS OF o.proctime AS r ON o.usr = r.currency;
INSERT INTO arrived SELECT id, proctime FROM orders;
INSERT INTO lost SELECT x FROM made_up WHERE x > (SELECT AVG(x) FROM made_up);
