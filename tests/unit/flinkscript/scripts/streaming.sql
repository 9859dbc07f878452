SET 'execution.runtime-mode' = 'streaming';
SET 'table.local-time-zone' = 'UTC';
SET 'execution.checkpointing.interval' = '10 s';
CREATE TABLE clicks (
  id BIGINT, usr STRING, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE
) WITH ('connector' = 'filesystem', 'path' = 'data/clicks', 'format' = 'csv', 'source.monitor-interval' = '1 s');
CREATE VIEW known AS SELECT id, usr, ts FROM clicks WHERE usr <> 'eve';
CREATE VIEW per_window AS
SELECT window_start, window_end, window_time, usr, COUNT(*) AS n
FROM TUMBLE(TABLE known, DESCRIPTOR(ts), INTERVAL '10' MINUTES)
GROUP BY window_start, window_end, window_time, usr;

CREATE TABLE counts (starts TIMESTAMP(3), usr STRING, n BIGINT) WITH ('connector' = 'print');
CREATE TABLE odd (id BIGINT, usr STRING) WITH ('connector' = 'print');
CREATE TABLE per_user (usr STRING, n BIGINT, PRIMARY KEY (usr) NOT ENFORCED) WITH ('connector' = 'upsert-kafka');
CREATE TABLE shouted (id BIGINT, usr STRING) WITH ('connector' = 'print');

BEGIN STATEMENT SET;
INSERT INTO counts SELECT window_start, usr, n FROM per_window;
INSERT INTO odd SELECT id, usr FROM clicks WHERE MOD(id, 2) = 1;
-- never final
INSERT INTO per_user SELECT usr, COUNT(*) FROM clicks GROUP BY usr;
INSERT INTO shouted SELECT id, UPPER(usr) FROM odd;
END;
