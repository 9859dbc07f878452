CREATE DATABASE IF NOT EXISTS raw;
USE raw;
CREATE TABLE t (a INT, b STRING) WITH ('connector' = 'filesystem', 'path' = '/data/raw', 'format' = 'orc');
USE `default_database`;
CREATE TABLE t (A INT, c AS A + 1) WITH ('connector' = 'filesystem', 'path' = 'file:///data/t', 'format' = 'csv');
SET 'execution.runtime-mode' = 'batch';
CREATE TABLE t2 (d STRING) WITH ('format' = 'json') LIKE raw.t;
CREATE TABLE made WITH ('connector' = 'print') AS SELECT t.c, x.b FROM t JOIN raw.t AS x ON t.A = x.a;
CREATE TABLE default_catalog.raw.other AS SELECT made.b, t2.d, elsewhere.z FROM made, t2, elsewhere, default_catalog.dwh.facts;
