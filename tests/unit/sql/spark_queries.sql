-- pipes
FROM u |> WHERE a > 1 |> SELECT a, b
FROM u |> AGGREGATE SUM(a) AS s GROUP BY b
FROM u |> EXTEND a + 1 AS c |> DROP b
FROM u |> SET a = a * 2
FROM u |> AS x |> SELECT x.a
FROM u |> JOIN v ON u.a = v.a |> SELECT u.a
FROM u |> LEFT JOIN v USING (a) |> WHERE b IS NULL
FROM u |> ORDER BY a DESC |> LIMIT 3 OFFSET 1
FROM u |> UNION ALL (SELECT a, b, k, arr, m, s, v, ts FROM u)
FROM u |> INTERSECT DISTINCT (SELECT * FROM u)
FROM u |> EXCEPT ALL (SELECT * FROM u)
FROM u |> TABLESAMPLE (50 PERCENT)
FROM u |> SELECT a, b |> PIVOT (SUM(a) FOR b IN ('x', 'y'))
FROM u |> SELECT a, k |> UNPIVOT (val FOR name IN (a, k))
FROM u |> AGGREGATE COUNT(*) AS n
FROM u |> SELECT a, SUM(a) OVER (PARTITION BY b) AS s
FROM u |> EXTEND RANK() OVER (ORDER BY a) AS r |> WHERE r = 1
TABLE u |> SELECT a |> DISTRIBUTE BY a
TABLE u |> AGGREGATE MAX(a) AS m GROUP BY b AS key
VALUES (1, 2), (3, 4) AS t(x, y) |> WHERE x > 1
(SELECT 1 AS x UNION ALL SELECT 2) |> WHERE x > 1
SELECT a FROM u |> WHERE a > 1
FROM u
FROM u SELECT a, b
FROM u SELECT a WHERE a > 1
-- tables, values, time travel
TABLE u
VALUES (1, 'x'), (2, 'y')
VALUES 1, 2, 3
VALUES (1, 2) AS t(a, b)
SELECT * FROM VALUES (1, 2), (3, 4) AS t(a, b)
SELECT * FROM VALUES 1, 2 AS t(a)
SELECT * FROM (VALUES (1, 2)) AS t
SELECT * FROM u VERSION AS OF 1
SELECT * FROM u VERSION AS OF 'tag'
SELECT * FROM u FOR VERSION AS OF 1
SELECT * FROM u TIMESTAMP AS OF '2024-01-01'
SELECT * FROM u FOR SYSTEM_TIME AS OF '2024-01-01 00:00:00'
SELECT * FROM u FOR SYSTEM_VERSION AS OF 12
SELECT * FROM u TIMESTAMP AS OF current_timestamp() - INTERVAL 1 DAY
SELECT * FROM u FOR TIMESTAMP AS OF date_sub(current_date(), 1)
SELECT * FROM u VERSION AS OF 1 AS x JOIN u VERSION AS OF 2 AS y ON x.a = y.a
SELECT * FROM parquet.`/tmp/x.parquet`
SELECT * FROM csv.`/tmp/a b.csv`
SELECT * FROM `spark_catalog`.`default`.`u`
SELECT * FROM spark_catalog.default.u
SELECT * FROM u TABLESAMPLE (10 PERCENT)
SELECT * FROM u TABLESAMPLE (5 ROWS)
SELECT * FROM u TABLESAMPLE (BUCKET 4 OUT OF 10)
SELECT * FROM u TABLESAMPLE (10 PERCENT) REPEATABLE (42)
SELECT * FROM u TABLESAMPLE (100B)
SELECT * FROM u TABLESAMPLE (10 PERCENT) AS x
SELECT * FROM RANGE(10)
SELECT * FROM RANGE(0, 10, 2, 4) AS r(i)
SELECT id FROM range(5) t
SELECT * FROM EXPLODE(ARRAY(1, 2, 3))
SELECT * FROM EXPLODE(ARRAY(1, 2)) AS t(x)
SELECT * FROM POSEXPLODE(ARRAY('a', 'b'))
SELECT * FROM explode(collection => array(1, 2))
SELECT * FROM stack(2, 1, 2, 3, 4) AS (a, b)
SELECT * FROM inline(array(struct(1, 'a'), struct(2, 'b')))
SELECT * FROM json_tuple('{"a":1}', 'a') AS (x)
SELECT * FROM sql_keywords()
SELECT * FROM my_udtf(TABLE(u))
SELECT * FROM my_udtf(TABLE(u) PARTITION BY b)
SELECT * FROM my_udtf(TABLE(u) PARTITION BY (a, b) ORDER BY k DESC)
SELECT * FROM my_udtf(TABLE(u) WITH SINGLE PARTITION ORDER BY a)
SELECT * FROM my_udtf(TABLE(SELECT a FROM u) PARTITION BY a)
SELECT * FROM my_udtf(t => TABLE(u) PARTITION BY a, n => 3)
SELECT * FROM my_udtf(TABLE u)
SELECT * FROM my_udtf(TABLE u PARTITION BY a ORDER BY k)
SELECT * FROM my_udtf(TABLE(u) DISTRIBUTE BY a SORT BY k)
SELECT * FROM my_udtf(TABLE(VALUES (1), (2) AS t(x)) PARTITION BY x) AS f
SELECT * FROM read_files(path => '/tmp/x', format => 'json')
SELECT * FROM STREAM u
SELECT * FROM STREAM(u)
SELECT * FROM STREAM u WATERMARK ts DELAY OF INTERVAL 10 SECONDS
SELECT * FROM u WITH (`split-size` = 5)
SELECT * FROM u WITH ('fetchSize' = '10', k = 1) AS x
SELECT * FROM IDENTIFIER('u')
SELECT * FROM IDENTIFIER('spark_catalog.default.' || 'u')
SELECT IDENTIFIER('a') FROM u
SELECT IDENTIFIER('upper')('x') FROM u
SELECT u.IDENTIFIER('a') FROM u
SELECT * FROM IDENTIFIER(:tab) WHERE a = :val
SELECT a FROM u WHERE a = ? AND b = ?
SELECT :x + 1 AS y, :`my p` AS z
-- lateral, joins
SELECT * FROM u LATERAL VIEW OUTER EXPLODE(arr) t AS e
SELECT * FROM u LATERAL VIEW OUTER POSEXPLODE(arr) t AS p, e
SELECT * FROM u LATERAL VIEW explode(arr) t1 AS e LATERAL VIEW explode(m) t2 AS mk, mv
SELECT * FROM u LATERAL VIEW explode(arr) e1
SELECT * FROM u LATERAL VIEW json_tuple(s, 'a', 'b') j AS a1, b1 WHERE a1 = 'x'
SELECT * FROM u, LATERAL (SELECT u.a + 1 AS c)
SELECT * FROM u JOIN LATERAL (SELECT * FROM v WHERE v.a = u.a) AS l ON true
SELECT * FROM u LEFT JOIN LATERAL explode(u.arr) AS t(e)
SELECT * FROM u CROSS JOIN LATERAL (SELECT 1 AS one)
SELECT * FROM u, LATERAL explode(arr) AS t(e)
SELECT * FROM u, LATERAL stack(2, a, k)
SELECT * FROM u JOIN LATERAL my_udtf(TABLE(v) PARTITION BY a) f
SELECT * FROM u NATURAL JOIN v
SELECT * FROM u NATURAL LEFT OUTER JOIN v
SELECT * FROM u LEFT SEMI JOIN v ON u.a = v.a
SELECT * FROM u SEMI JOIN v USING (a)
SELECT * FROM u LEFT ANTI JOIN v ON u.a <=> v.a
SELECT * FROM u ANTI JOIN v USING (a)
SELECT * FROM u FULL OUTER JOIN v ON u.a == v.a
SELECT * FROM u CROSS JOIN v
SELECT * FROM u INNER JOIN v ON u.a = v.a AND u.b <> v.b
SELECT * FROM u JOIN (v JOIN w ON v.a = w.a) ON u.a = v.a
SELECT * FROM (u CROSS JOIN v) LEFT JOIN w USING (a)
SELECT * FROM u JOIN v
SELECT * FROM u last JOIN v ON last.a = v.a
SELECT last.a FROM u last
SELECT * FROM u open, v exclude
SELECT * FROM u rows_range JOIN v range ON rows_range.a = range.a
-- hints
SELECT /*+ BROADCAST(v) */ * FROM u JOIN v ON u.a = v.a
SELECT /*+ MERGE(u), SHUFFLE_HASH(v) */ * FROM u JOIN v USING (a)
SELECT /*+ REPARTITION(3, a) */ * FROM u
SELECT /*+ COALESCE(1) REBALANCE */ * FROM u
SELECT /*+ REPARTITION_BY_RANGE(a) */ /*+ BROADCAST(u) */ a FROM u
SELECT /*+ BROADCASTJOIN (u, v) , REPARTITION(10) */ DISTINCT a FROM u JOIN v USING (a)
SELECT /*+ my_hint('x', 1.5, a.b) */ a FROM u
-- transforms
SELECT TRANSFORM(a, b) USING 'cat' FROM u
SELECT TRANSFORM(a, b) USING 'cat' AS (x, y) FROM u
SELECT TRANSFORM(a, b) USING 'cat' AS (x STRING, y STRING) FROM u
SELECT TRANSFORM(*) USING 'cat' AS x FROM u
SELECT TRANSFORM(a) ROW FORMAT DELIMITED FIELDS TERMINATED BY ',' USING 'cat' AS (x) ROW FORMAT DELIMITED LINES TERMINATED BY '\n' FROM u
SELECT TRANSFORM(a, b) ROW FORMAT SERDE 'org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe' WITH SERDEPROPERTIES ('field.delim' = '\t') USING 'cat' AS (x STRING) FROM u WHERE a > 1
FROM u MAP a, b USING 'cat' AS (x, y)
FROM (SELECT a FROM u) x REDUCE x.a USING 'cat' AS (y)
-- lambdas and higher-order functions
SELECT transform(arr, x -> x + 1) FROM u
SELECT transform(arr, (x, i) -> x + i) FROM u
SELECT filter(arr, x -> x > 1 AND x IS NOT NULL) FROM u
SELECT aggregate(arr, 0, (acc, x) -> acc + x) FROM u
SELECT aggregate(arr, 0, (acc, x) -> acc + x, acc -> acc * 10) FROM u
SELECT reduce(arr, 0, (acc, x) -> acc + x) FROM u
SELECT zip_with(arr, arr, (x, y) -> (x, y)) FROM u
SELECT exists(arr, x -> x % 2 = 0) FROM u
SELECT forall(arr, x -> x > 0) FROM u
SELECT array_sort(arr, (l, r) -> CASE WHEN l < r THEN -1 WHEN l > r THEN 1 ELSE 0 END) FROM u
SELECT map_filter(m, (k, v) -> k > v) FROM u
SELECT transform_keys(m, (k, v) -> upper(k)), transform_values(m, (k, v) -> v + 1) FROM u
SELECT map_zip_with(m, m, (k, v1, v2) -> concat(v1, v2)) FROM u
SELECT transform(arr, x -> transform(arr, y -> x * y)) FROM u
SELECT transform(arr, `the x` -> `the x` + 1) FROM u
SELECT transform(sequence(1, 3), x -> named_struct('a', x, 'b', x + 1)).a FROM u
SELECT transform(arr, x -> x.f[0].g) FROM u
SELECT array_sort(arr, (left, right) -> left - right) FROM u
-- windows
SELECT a, SUM(a) OVER (PARTITION BY b ORDER BY k ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) FROM u
SELECT a, SUM(a) OVER (ORDER BY ts RANGE BETWEEN INTERVAL 1 DAY PRECEDING AND CURRENT ROW) FROM u
SELECT SUM(a) OVER w FROM u WINDOW w AS (PARTITION BY b)
SELECT SUM(a) OVER w1, AVG(a) OVER (w2) FROM u WINDOW w1 AS (ORDER BY a), w2 AS (PARTITION BY b ORDER BY a)
SELECT FIRST_VALUE(a) IGNORE NULLS OVER (ORDER BY k), LAST_VALUE(a) RESPECT NULLS OVER (ORDER BY k) FROM u
SELECT NTH_VALUE(a, 2) IGNORE NULLS OVER (ORDER BY k), NTILE(4) OVER (ORDER BY k) FROM u
SELECT SUM(a) OVER (DISTRIBUTE BY b SORT BY k) FROM u
SELECT SUM(a) OVER (CLUSTER BY b) FROM u
SELECT a FROM u QUALIFY ROW_NUMBER() OVER (PARTITION BY b ORDER BY k DESC) = 1
SELECT a, RANK() OVER (ORDER BY k) AS r FROM u QUALIFY r <= 2
SELECT COUNT(*) OVER () FROM u
SELECT LAG(a, 1, 0) OVER (ORDER BY k NULLS LAST) FROM u
SELECT window.start, COUNT(*) FROM u GROUP BY window(ts, '5 minutes')
SELECT session_window.start, COUNT(*) FROM u GROUP BY session_window(ts, '5 minutes'), a
SELECT window_time(window), COUNT(*) FROM u GROUP BY window(ts, '10 minutes', '5 minutes'), window
SELECT window(ts, '5 minutes').end FROM u
-- aggregates
SELECT COUNT(*) FILTER (WHERE a > 1), SUM(a) FILTER (WHERE b = 'x') FROM u
SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY a) FROM u
SELECT PERCENTILE_DISC(0.25) WITHIN GROUP (ORDER BY a DESC) FILTER (WHERE a > 0) FROM u
SELECT MODE() WITHIN GROUP (ORDER BY a DESC) FROM u
SELECT LISTAGG(b, ', ') WITHIN GROUP (ORDER BY b) FROM u
SELECT LISTAGG(DISTINCT b) WITHIN GROUP (ORDER BY b) FROM u
SELECT STRING_AGG(b) FROM u
SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY a) OVER (PARTITION BY b) FROM u
SELECT COUNT(DISTINCT a, b) FROM u
SELECT APPROX_COUNT_DISTINCT(a, 0.01) FROM u
SELECT first(a, true), last(a) IGNORE NULLS, any_value(b) FROM u
SELECT max_by(a, b), min_by(a, b), collect_set(DISTINCT a) FROM u
SELECT COUNT(IF(a > 1, 1, NULL)), COUNT_IF(a > 1), bool_and(a > 1), every(a > 1) FROM u
SELECT regr_slope(a, k), corr(a, k), histogram_numeric(a, 5) FROM u
-- grouping
SELECT b, SUM(a) FROM u GROUP BY ALL
SELECT b, k, SUM(a) FROM u GROUP BY b, k WITH ROLLUP
SELECT b, k, SUM(a) FROM u GROUP BY b, k WITH CUBE
SELECT b, k, SUM(a) FROM u GROUP BY GROUPING SETS ((b), (k), ())
SELECT b, k, SUM(a) FROM u GROUP BY b, k GROUPING SETS ((b, k), b, ())
SELECT b, SUM(a) FROM u GROUP BY ROLLUP (b, (k, b)), CUBE (a)
SELECT GROUPING(b), GROUPING_ID(), SUM(a) FROM u GROUP BY CUBE (b, k) HAVING GROUPING_ID() > 0
SELECT 1 AS x, SUM(a) FROM u GROUP BY 1
SELECT SUM(a) FROM u HAVING SUM(a) > 1
SELECT ALL a FROM u
SELECT DISTINCT a, b FROM u
-- order
SELECT * FROM u SORT BY a
SELECT * FROM u DISTRIBUTE BY a SORT BY b DESC NULLS FIRST
SELECT * FROM u CLUSTER BY a, b
SELECT * FROM u ORDER BY ALL
SELECT * FROM u ORDER BY ALL DESC NULLS LAST
SELECT * FROM u ORDER BY 1, 2 DESC LIMIT ALL
SELECT * FROM u LIMIT 10 OFFSET 5
SELECT * FROM u OFFSET 5
SELECT * FROM u LIMIT 1 + 1
SELECT * FROM u LIMIT CAST('3' AS INT)
-- sets
SELECT a FROM u MINUS SELECT a FROM v
SELECT a FROM u MINUS ALL SELECT a FROM v
SELECT a FROM u EXCEPT DISTINCT SELECT a FROM v
SELECT a FROM u INTERSECT ALL SELECT a FROM v
(SELECT a FROM u) UNION (SELECT a FROM v) ORDER BY a
SELECT a FROM u UNION ALL VALUES (1), (2)
SELECT a FROM u UNION ALL TABLE w
FROM u SELECT a UNION ALL FROM v SELECT a
(((SELECT a FROM u)))
-- pivot
SELECT * FROM u PIVOT (SUM(a) AS s FOR b IN ('x' AS bx, 'y' AS b_y))
SELECT * FROM u PIVOT (SUM(a), AVG(k) AS av FOR (b, s) IN (('x', 'p') AS xp, ('y', 'q')))
SELECT * FROM u UNPIVOT (val FOR col IN (a, k))
SELECT * FROM u UNPIVOT INCLUDE NULLS (val FOR col IN (a AS `A`, k AS `K`))
SELECT * FROM u UNPIVOT EXCLUDE NULLS ((v1, v2) FOR col IN ((a, k) AS ak, (k, a)))
SELECT * FROM u UNPIVOT (val FOR col IN (a, k)) AS up
SELECT * FROM (SELECT a, b FROM u) PIVOT (COUNT(*) FOR b IN ('x', 'y')) p WHERE p.x > 1
-- strings and literals
SELECT r'C:\new' AS p, R"a\b" AS q
SELECT 'it''s', "say \"hi\"", 'a\nb'
SELECT 'a' 'b' "c" AS abc
SELECT X'1F', x"2a", 1L, 2S, 3Y, 4.0BD, 5.0D, 6F, 1e3, 1.5E-2, .5, 5.
SELECT DATE '2024-01-01', TIMESTAMP '2024-01-01 00:00:00', TIMESTAMP_NTZ '2024-01-01', TIMESTAMP_LTZ '2024-01-01'
SELECT TIME '12:34:56.789'
SELECT INTERVAL 1 DAY, INTERVAL '1-2' YEAR TO MONTH, INTERVAL '1 10:11:12.5' DAY TO SECOND
SELECT INTERVAL 3 HOURS 2 MINUTES, INTERVAL -1 WEEK, INTERVAL '1 day 2 hours', - INTERVAL '1' DAY
SELECT INTERVAL (a + 1) DAYS FROM u
SELECT TRUE, FALSE, NULL, CURRENT_DATE, CURRENT_TIMESTAMP, CURRENT_USER, USER, LOCALTIMESTAMP
SELECT 'x' COLLATE UTF8_LCASE = 'X'
SELECT 'x' COLLATE unicode_ci, collation('a' COLLATE `UNICODE_AI`)
SELECT b COLLATE de_CI_AI AS c FROM u ORDER BY c
SELECT '\u0041', 'tab\t', '%\_x'
SELECT ${x} FROM u
SELECT '${x}' FROM u
SELECT 1 AS `select`, 2 AS `a``b`
-- operators
SELECT a <=> b, a == k, a != k, a <> k, NOT a = 1, ! true FROM u
SELECT a & 1, a | 1, a ^ 1, ~a, a << 2, a >> 2, a >>> 2 FROM u
SELECT b LIKE 'x%' ESCAPE '/', b ILIKE 'X%', b NOT LIKE '_' FROM u
SELECT b LIKE ANY ('x%', 'y%'), b LIKE ALL ('x%', 'y%'), b NOT LIKE SOME ('z') FROM u
SELECT b RLIKE '^x', b REGEXP 'y$', b NOT RLIKE '\\d+' FROM u
SELECT b ILIKE ANY ('x%', 'y%'), b NOT ILIKE ALL ('Z%') FROM u
SELECT a IN (1, 2), a NOT IN (SELECT a FROM v), (a, b) IN (SELECT a, b FROM v) FROM u
SELECT a IS DISTINCT FROM k, a IS NOT DISTINCT FROM k, (a > 1) IS TRUE, (a > 1) IS NOT UNKNOWN FROM u
SELECT EXISTS (SELECT 1 FROM v WHERE v.a = u.a), NOT EXISTS (SELECT 1) FROM u
SELECT a || b || 'x', concat_ws('-', a, b) FROM u
SELECT arr[0], m['x'], s.f, s.f.g, arr[0].x, element_at(arr, -1) FROM u
SELECT CASE a WHEN 1 THEN 'x' WHEN 2 THEN 'y' ELSE 'z' END, CASE WHEN a > 1 THEN 1 END FROM u
SELECT IF(a > 1, 'x', 'y'), nvl(a, 0), nvl2(a, 1, 2), coalesce(a, k), decode(a, 1, 'x', 'y') FROM u
SELECT a::int, b::string, '1'::decimal(10, 2)::double FROM u
SELECT try_cast(b AS INT), CAST(a AS STRING), CAST(b AS ARRAY<STRUCT<x: INT, y: MAP<STRING, INT>>>) FROM u
SELECT CAST('1' AS INTERVAL DAY TO SECOND), CAST(a AS DECIMAL), CAST(b AS CHAR(3)), CAST(b AS VARCHAR(5)) FROM u
SELECT CAST(s AS STRUCT<x: INT NOT NULL COMMENT 'c', `y z`: STRING>) FROM u
SELECT CAST(b AS STRING COLLATE UTF8_LCASE) FROM u
SELECT CAST(v AS VARIANT), CAST(ts AS TIME(3)) FROM u
-- variants and json
SELECT v:a, v:a.b, v:a[0], v:['a b'], v:a::int, v:a.b[1].c::string FROM u
SELECT v:`a b`.c FROM u
SELECT parse_json('{"a": [1, 2]}'):a[0]::int
SELECT u.v:x:y FROM u
SELECT variant_get(v, '$.a', 'int'), try_variant_get(v, '$.b'), schema_of_variant(v), is_variant_null(v) FROM u
SELECT * FROM u, LATERAL variant_explode(v)
SELECT * FROM u, LATERAL variant_explode_outer(input => v) AS t(pos, key, value)
SELECT from_json(b, 'a INT, b ARRAY<STRING>').a, to_json(struct(a, b)), get_json_object(b, '$.a') FROM u
-- named arguments and functions
SELECT mask('AbCD123', lowerChar => 'q', upperChar => 'X')
SELECT count_min_sketch(a, seed => 1, epsilon => 0.5d, confidence => 0.5d) FROM u
SELECT my_func(a => 1, b => (SELECT 2))
SELECT trim(BOTH 'x' FROM b), trim(LEADING FROM b), trim(TRAILING 'y' FROM b), trim(b) FROM u
SELECT substring(b FROM 2 FOR 3), substring(b FROM 2), substring(b, 2, 3), substr(b, 1) FROM u
SELECT overlay(b PLACING 'x' FROM 2), overlay(b PLACING 'x' FROM 2 FOR 1), position('x' IN b), position('x', b) FROM u
SELECT extract(YEAR FROM ts), extract(DAYOFWEEK_ISO FROM ts), date_part('week', ts), extract(SECONDS FROM INTERVAL 1 MINUTE) FROM u
SELECT timestampadd(HOUR, 1, ts), timestampdiff(MONTH, ts, ts), dateadd(DAY, 1, ts), datediff(WEEK, ts, ts) FROM u
SELECT date_trunc('HOUR', ts), trunc(ts, 'MM'), date_add(ts, 1), ts + INTERVAL 1 DAY, ts - ts FROM u
SELECT ceil(a, 1), floor(a), ceiling(a), floor(3.1411, -1) FROM u
SELECT current_date(), now(), current_timezone(), current_catalog(), current_database(), user() FROM u
SELECT named_struct('a', 1, 'b', 'x').b, struct(a, b), struct(a AS x), (a, b), array(1, 2)[0], map('k', 1)['k'] FROM u
SELECT if(a > 1, left(b, 2), right(b, 2)), replace(b, 'x'), char_length(b), character_length(b), chr(65) FROM u
SELECT left, right FROM (SELECT 1 AS left, 2 AS right)
SELECT spark_catalog.default.my_func(a) FROM u
SELECT system.builtin.abs(a) FROM u
SELECT try_add(a, 1), try_divide(a, 0), try_element_at(arr, 9), try_to_number(b, '99'), try_avg(a) FROM u GROUP BY ALL
SELECT timestamp(b), date(b), int(b), bigint(a), string(a), boolean(b), double(a), decimal(a), binary(b), float(a) FROM u
SELECT current_timestamp, localtimestamp(), unix_timestamp(), make_interval(0, 1), to_timestamp_ntz(b) FROM u
-- stars
SELECT * EXCEPT (a) FROM u
SELECT u.* EXCEPT (a, s.f) FROM u
SELECT s.* FROM u
SELECT struct(*), array(*) FROM u
SELECT coalesce(*), greatest(u.*) FROM u
SELECT count(*), count(u.*), count(1) FROM u
SELECT * FROM u WHERE (a, k) = (1, 2)
SELECT a AS (x, y) FROM u
SELECT inline(array(struct(1, 2))) AS (x, y)
SELECT stack(2, 1, 2, 3, 4) AS (p, q)
SELECT explode(m) AS (mk, mv) FROM u
SELECT posexplode(arr) AS (p, e) FROM u
SELECT a x, b AS y, k 'z' FROM u
SELECT a AS select_, b AS from_ FROM u
SELECT a date, b timestamp, k interval FROM u
SELECT a + 1 AS x, x + 1 AS y FROM u
-- CTEs
WITH c AS (SELECT 1 AS x) SELECT * FROM c
WITH c (x, y) AS (SELECT 1, 2), d AS (SELECT * FROM c) SELECT * FROM d
WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT * FROM r
WITH RECURSIVE r (n) MAX RECURSION LEVEL 10 AS (VALUES (1) UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT * FROM r
WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT * FROM r LIMIT 3
WITH c AS (WITH d AS (SELECT 1 AS x) SELECT * FROM d) SELECT * FROM c
WITH c AS (FROM u |> SELECT a) FROM c |> WHERE a > 1
WITH c AS (VALUES (1)) TABLE c
WITH c AS (SELECT 1 AS x) FROM c SELECT x
SELECT * FROM (WITH c AS (SELECT 1 AS x) SELECT * FROM c)
WITH `my c` AS (TABLE u) SELECT * FROM `my c`
WITH c (SELECT 1 AS x) SELECT * FROM c
-- subqueries
SELECT (SELECT max(a) FROM v) AS m, ARRAY(1, 2) FROM u
SELECT * FROM (FROM u |> SELECT a) x
SELECT * FROM (TABLE u) x
SELECT * FROM (SELECT a FROM u) AS x (c)
SELECT * FROM u AS x (a1, b1)
SELECT * FROM u WHERE a IN (VALUES (1), (2))
SELECT * FROM u WHERE a IN (FROM v |> SELECT a)
SELECT * FROM u WHERE a > (FROM v |> AGGREGATE MAX(a))
SELECT * FROM u WHERE a = (TABLE w)
SELECT * FROM u WHERE EXISTS (FROM v |> WHERE v.a = u.a)
SELECT 1 WHERE 1 = 1
SELECT 1 AS one HAVING count(*) > 0
SELECT a FROM u WHERE a > 1 -- a comment
SELECT /* a /* nested */ comment */ a FROM u
SELECT a, FROM u
-- more of each
SELECT a, count(*) AS n FROM u WHERE a IN (1, 2, 3) GROUP BY a HAVING count(*) > 1 ORDER BY count(*) DESC NULLS LAST LIMIT 5
SELECT sum(a) FILTER (WHERE a > 0) OVER (PARTITION BY b) FROM u
SELECT * FROM u WHERE b LIKE r'\d%' ESCAPE '!'
SELECT CASE WHEN EXISTS (FROM v |> WHERE v.a = u.a) THEN 1 END AS x FROM u
SELECT * FROM u FULL JOIN v USING (a) LEFT OUTER JOIN w ON w.a = v.a
SELECT measure(total) FROM mv GROUP BY ALL
SELECT current_time(3), session_user, date_format(ts, 'yyyy') FROM u
SELECT try_cast(NULL AS INTERVAL YEAR TO MONTH)
SELECT a FROM u WHERE ts >= now() - INTERVAL '1' HOUR AND ts < TIMESTAMP'2024-01-01'
SELECT count(DISTINCT a) FILTER (WHERE b IS NOT NULL) FROM u
SELECT u.* FROM u JOIN v ON u.a BETWEEN v.a AND v.a + 1
SELECT tumble_start(a), tumble_end(a, b), session(b), hop(c), hop(c, 1), cumulate(d), session_start(x) FROM u GROUP BY session(b)
SELECT hop(a) FROM u |> EXTEND session(b) AS s |> DROP a
SELECT array(1, 2)[0] AS tumble, map('hop', 1).hop AS session FROM u hop
FROM u |> SELECT a AS hop |> SET hop = tumble_start(hop)
FROM u |> AGGREGATE sum(a) AS s GROUP BY b AS g, k |> ORDER BY s |> LIMIT 1
FROM (FROM u |> DROP a) |> WHERE b > 1
FROM u |> EXTEND v:a.b AS p, s.f AS q
FROM u |> CROSS JOIN LATERAL (SELECT u.a + 1 AS c) |> DROP c
SELECT * FROM (SELECT v:a.b AS p FROM u) WHERE p > 1
SELECT * FROM u WHERE a IN (SELECT v:a::int FROM v)
SELECT x'00' AS b, X"ff" AS c
SELECT * FROM u ORDER BY v:a::int
SELECT sum(v:a::int) AS s FROM u GROUP BY v:b::string
WITH c AS (SELECT v:a AS p FROM u), d AS (FROM c |> DROP p) SELECT * FROM d
SELECT * FROM t1 LEFT JOIN my_udtf(TABLE(u) PARTITION BY a) AS f ON f.a = t1.a
SELECT CAST(a AS ARRAY<MAP<STRING, STRUCT<x: ARRAY<INT>>>>) FROM u
SELECT a -> b FROM u
SELECT * FROM u VERSION AS OF 3 |> DROP a
