SET 'execution.runtime-mode' = 'batch';
SET 'table.local-time-zone' = 'UTC';

CREATE TABLE visits (
  usr STRING,
  page STRING,
  ms BIGINT,
  dur INT,
  ts AS TO_TIMESTAMP_LTZ(ms, 3),
  WATERMARK FOR ts AS ts
) WITH ('connector' = 'filesystem', 'path' = './data/visits', 'format' = 'json', 'json.ignore-parse-errors' = 'true');

CREATE TABLE hops (window_start TIMESTAMP(3), window_end TIMESTAMP(3), dur INT) WITH ('connector' = 'blackhole');
CREATE TABLE grown (window_end TIMESTAMP(3), usr STRING, n BIGINT) WITH ('connector' = 'blackhole');
CREATE TABLE spells (usr STRING, s TIMESTAMP(3), e TIMESTAMP(3), pages BIGINT) WITH ('connector' = 'blackhole');

EXECUTE STATEMENT SET BEGIN
-- Ten minutes, every five.
INSERT INTO hops
SELECT window_start, window_end, SUM(dur) AS dur
FROM HOP(TABLE visits, DESCRIPTOR(ts), INTERVAL '5' MINUTES, INTERVAL '10' MINUTES)
GROUP BY window_start, window_end;
INSERT INTO grown
SELECT window_end, usr, COUNT(*) AS n
FROM CUMULATE(TABLE visits, DESCRIPTOR(ts), INTERVAL '10' MINUTES, INTERVAL '1' HOUR)
GROUP BY window_start, window_end, usr;
INSERT INTO spells
SELECT usr, window_start, window_end, COUNT(DISTINCT page)
FROM SESSION(TABLE visits PARTITION BY usr, DESCRIPTOR(ts), INTERVAL '5' MINUTES)
GROUP BY usr, window_start, window_end;
END;
