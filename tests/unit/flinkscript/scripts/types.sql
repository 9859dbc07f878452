SET 'execution.runtime-mode' = 'batch';
CREATE TABLE `All Types` (
  a BOOLEAN, b TINYINT, c SMALLINT, d INT, e INTEGER, f BIGINT, g FLOAT, h DOUBLE PRECISION, i DOUBLE,
  j DECIMAL, k DEC(5), l NUMERIC(7, 3), m CHAR(3), n VARCHAR, o STRING NOT NULL, p BYTES, q VARBINARY(9),
  r DATE, s TIMESTAMP, t TIMESTAMP(6) WITHOUT TIME ZONE, u TIMESTAMP_LTZ(3), v TIMESTAMP(3) WITH LOCAL TIME ZONE,
  w ARRAY<INT NOT NULL>, x MAP<STRING, ARRAY<DOUBLE>>, y ROW<a INT, `b c` ROW(z STRING 'deep')>, z MULTISET<STRING>,
  clock TIME(0), `order` INT, `an odd name` INT COMMENT 'it''s odd',
  file_name STRING METADATA FROM 'file.name' VIRTUAL,
  f2 AS f * 2 COMMENT 'twice', later AS s + INTERVAL '1 02:03' DAY TO MINUTE, proc AS PROCTIME(),
  CONSTRAINT pk PRIMARY KEY (f) NOT ENFORCED
) WITH ('connector' = 'filesystem', 'path' = 's3://bucket/all', 'format' = 'parquet');
CREATE TABLE copied LIKE `All Types` (EXCLUDING GENERATED EXCLUDING METADATA OVERWRITING OPTIONS);
CREATE TABLE numbers (a TINYINT, b FLOAT, c DECIMAL(5, 1), `d e` STRING) WITH ('connector' = 'print');
INSERT INTO numbers SELECT b, g, l, CAST(`an odd name` AS STRING) || 'x' FROM `All Types` WHERE later > s + INTERVAL '36' HOUR AND f2 > 3;
INSERT INTO numbers (`d e`, a) VALUES ('x', 1), ('{% y %}', 2);
INSERT INTO numbers SELECT * FROM (VALUES (1, 2.5, 3, 'z')) AS v (a, b, c, d);
