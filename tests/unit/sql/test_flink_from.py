"""Fields of rows and what stands in FROM, in Flink SQL; the rows behind them are recorded in Flink."""

# A statement and its translation stay on one line.
# ruff: noqa: E501
# fmt: off

from __future__ import annotations

import pytest

from dbt.adapters.sparkstream.sql.core.errors import TranslationWarning
from dbt.adapters.sparkstream.sql.core.nested import element, entry, fields
from dbt.adapters.sparkstream.sql.translate import tables, translate
from tests.unit.sql.pairs import Pairs, flat, tumble

SCHEMA = {
    "t": {"id": "int", "r": "struct<v:int,s:string>", "n": "struct<r:struct<v:int,w:string>>", "arr": "array<int>", "m": "map<string,int>", "ar": "array<struct<v:int,s:string>>", "ts": "timestamp_ntz"},
    "d": {"x": "int", "name": "string"},
    "a": {"k": "int", "n": "int", "ts": "timestamp_ntz"},
    "b": {"k": "int", "name": "string", "bt": "timestamp_ntz"},
}


class TestTypes:
    def test_parts(self) -> None:
        assert fields("struct<v:int,S:decimal(10,2)>") == (("v", "int"), ("S", "decimal(10,2)"))
        assert fields("struct<a: array<map<string,int>>, `b, c`: timestamp(3) not null>") == (("a", "array<map<string,int>>"), ("b, c", "timestamp"))
        assert fields("struct<>") == ()
        assert fields("array<int>") is fields("int") is fields(None) is None
        assert element("array<struct<v:int>>") == "struct<v:int>"
        assert element("map<string,int>") is element(None) is None
        assert entry("map<string,array<int>>") == ("string", "array<int>")
        assert entry("array<int>") is None


class TestFields(Pairs):
    def same(self, query: str) -> None:
        """A query stays as it is, with and without types."""
        assert translate(query, "flink", schema=SCHEMA) == translate(query, "flink") == query

    def test_names(self) -> None:
        self.same("SELECT r.v, t.r.s, n.r.w FROM t")
        self.same("SELECT x.r.v FROM t AS x")
        self.same("SELECT id, t.r.* FROM t")
        self.same("SELECT r.v FROM t AS r")
        self.flink("SELECT (r).v, a.r.v, b.r.v FROM t a, t b", spark="SELECT (r).v AS `EXPR$0`, a.r.v, b.r.v AS `v0` FROM t a, t b")
        self.flink("SELECT id, r.*, n.r.v FROM t", spark="SELECT id, r.*, n.r.v AS `v0` FROM t", schema=SCHEMA)
        self.flink("SELECT n.r.v, r.* FROM t", spark="SELECT n.r.v, r.`v` AS `v0`, r.`s` FROM t", schema=SCHEMA)
        self.flink("SELECT a.EXPR$1 FROM (SELECT ROW(id, r.s) AS a FROM t)", spark="SELECT a.`EXPR$1` FROM (SELECT NAMED_STRUCT('EXPR$0', id, 'EXPR$1', r.s) AS a FROM t)", schema=SCHEMA)

    def test_types(self) -> None:
        self.flink("SELECT r.v / 2 AS a, ar[1].v / 2 AS b FROM t", spark="SELECT CAST(r.v DIV 2 AS INT) AS a, CAST(TRY_ELEMENT_AT(ar, 1).v DIV 2 AS INT) AS b FROM t", schema=SCHEMA)
        self.flink("SELECT x.r.v / 2 AS a FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '5' MINUTES) AS x", spark=f"SELECT CAST(x.r.v DIV 2 AS INT) AS a FROM {tumble(flink=True)} AS x".replace("coalesce(__window.end - INTERVAL '0.001' SECOND, ts)", "__window.end - INTERVAL '0.001' SECOND").replace("CAST(ts AS TIMESTAMP_NTZ)", "ts"), schema=SCHEMA)
        self.flink("SELECT q.v / 2 AS a FROM (SELECT r AS q FROM t)", spark="SELECT CAST(q.v DIV 2 AS INT) AS a FROM (SELECT r AS q FROM t)", schema=SCHEMA)

    def test_without_the_row(self) -> None:
        """The field that lies least deep is meant, and a column before any field."""
        self.flink("SELECT v, t.w, UPPER(s) AS u FROM t", spark="SELECT r.v, t.n.r.w, UPPER(r.s) AS u FROM t", schema=SCHEMA)
        self.flink("SELECT v FROM (SELECT r, 5 AS v FROM t)", spark="SELECT v FROM (SELECT r, 5 AS v FROM t)", schema=SCHEMA)
        people = {"p": {"id": "int", "cust": "struct<name:string,addr:struct<city:string,zip:int>>"}, "q": {"city": "string"}}
        self.flink("SELECT city, addr.zip, x.addr.zip / 2 AS z FROM p AS x GROUP BY city, addr.zip, x.addr.zip", spark="SELECT cust.addr.city, cust.addr.zip, CAST(x.cust.addr.zip DIV 2 AS INT) AS z FROM p AS x GROUP BY cust.addr.city, cust.addr.zip, x.cust.addr.zip", schema=people)
        self.flink("SELECT id FROM q AS o JOIN p ON TRUE WHERE EXISTS (SELECT 1 FROM p WHERE city = 'Rome')", spark="SELECT id FROM q AS o JOIN p ON TRUE WHERE EXISTS (SELECT 1 FROM p WHERE cust.addr.city = 'Rome')", schema=people)
        # A field is as good as a column of another input (measured in 2.3).

    def test_name_of_a_key_by_slices(self) -> None:
        """A rule computes a key that is a field under another name."""
        hop = "HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '30' MINUTE)"
        query = f"SELECT r.s, SUM(r.v) AS x FROM {hop} GROUP BY window_start, window_end, r.s"
        assert translate(query, "flink", schema=SCHEMA).startswith("SELECT __key_1 AS `s`, ")


    def test_casts(self) -> None:
        self.flink("SELECT CAST(r AS ROW<V BIGINT, s ROW<t TIMESTAMP(3), u TIMESTAMP_LTZ>>) AS x FROM t", spark="SELECT CAST(r AS struct<V:bigint,s:struct<t:timestamp_ntz,u:timestamp>>) AS x FROM t")
        self.flink("SELECT CAST(m AS MAP<STRING, ARRAY<INT>>) AS x FROM t", spark="SELECT CAST(m AS map<string,array<int>>) AS x FROM t")
        self.flink("SELECT CAST(r AS ROW<a INT NOT NULL, w STRING 'a comment'>) AS x FROM t", spark="SELECT CAST(r AS struct<a:int,w:string>) AS x FROM t", schema=SCHEMA)
        self.flink("SELECT CAST(a AS ARRAY<VARCHAR(2) NOT NULL>) AS x, CAST(a AS CHAR(2) ARRAY) AS y FROM t", spark="SELECT TRANSFORM(a, e0 -> LEFT(CAST(e0 AS STRING), 2)) AS x, TRANSFORM(a, e0 -> RPAD(CAST(e0 AS STRING), 2, ' ')) AS y FROM t", schema={"t": {"a": "array<int>"}})
        self.flink("SELECT CAST(r AS ROW<a INT, w CHAR(2)>) AS x FROM t", spark="SELECT TRANSFORM(ARRAY(r), e0 -> CASE WHEN e0 IS NOT NULL THEN NAMED_STRUCT('a', CAST(e0.v AS INT), 'w', RPAD(e0.s, 2, ' ')) END)[0] AS x FROM t", schema=SCHEMA)


    def test_texts(self) -> None:
        self.flink("SELECT CAST(r AS STRING) AS z FROM t", spark="SELECT CASE WHEN r IS NOT NULL THEN CONCAT('(', COALESCE(CAST(r.v AS STRING), 'NULL'), ', ', COALESCE(r.s, 'NULL'), ')') END AS z FROM t", schema=SCHEMA)
        self.flink("SELECT CAST(m AS VARCHAR(9)) AS z FROM t", spark="SELECT LEFT(CONCAT('{', ARRAY_JOIN(TRANSFORM(MAP_ENTRIES(m), e0 -> CONCAT(e0.key, '=', COALESCE(CAST(e0.value AS STRING), 'NULL'))), ', '), '}'), 9) AS z FROM t", schema=SCHEMA)

    def test_fields_have_the_names_of_the_first_row(self) -> None:
        self.flink("SELECT COALESCE(r, ROW(9, 'z')) AS z FROM t", spark="SELECT COALESCE(r, CAST(NAMED_STRUCT('EXPR$0', 9, 'EXPR$1', 'z') AS struct<v:int,s:string>)) AS z FROM t", schema=SCHEMA)
        self.flink("SELECT CASE WHEN TRUE THEN r ELSE ROW(9.5, 'z') END AS z FROM t", spark="SELECT CASE WHEN TRUE THEN r ELSE NAMED_STRUCT('EXPR$0', 9.5, 'EXPR$1', 'z') END AS z FROM t", schema=SCHEMA)

    def test_subscripts(self) -> None:
        self.flink("SELECT r[1] AS y, r['s'] AS z FROM t", spark="SELECT r.v AS y, r.s AS z FROM t", schema=SCHEMA)


class TestUnnest(Pairs):
    def becomes(self, join: str, spark: str) -> None:
        self.flink(f"SELECT id FROM t {join}", spark=f"SELECT id FROM t {spark}", schema=SCHEMA)

    def test_joins(self) -> None:
        self.becomes("CROSS JOIN UNNEST(t.arr) AS u(x)", "CROSS JOIN LATERAL EXPLODE(t.arr) AS u(x)")
        self.becomes(", UNNEST(arr) u(x)", ", LATERAL EXPLODE(arr) AS u(x)")
        self.becomes("CROSS JOIN LATERAL UNNEST(arr) AS u(x)", "CROSS JOIN LATERAL EXPLODE(arr) AS u(x)")
        self.becomes("CROSS JOIN LATERAL UNNEST(arr) WITH ORDINALITY AS u(x, o)", "CROSS JOIN LATERAL INLINE(TRANSFORM(arr, (e, i) -> NAMED_STRUCT('x', e, 'o', i + 1))) AS u")
        self.becomes("JOIN UNNEST(arr) AS u(x) ON TRUE", "CROSS JOIN LATERAL EXPLODE(arr) AS u(x)")
        self.becomes("LEFT OUTER JOIN UNNEST(arr) AS u(x) ON TRUE", "CROSS JOIN LATERAL EXPLODE_OUTER(arr) AS u(x)")
        self.flink("SELECT x FROM UNNEST(ARRAY[1, 2]) AS u(x)", spark="SELECT x FROM EXPLODE(ARRAY(1, 2)) AS u(x)")

    def test_conditions(self) -> None:
        self.becomes("INNER JOIN UNNEST(arr) AS u(x) ON u.x > id", "CROSS JOIN LATERAL EXPLODE(FILTER(arr, x -> x > id)) AS u(x)")
        self.becomes("LEFT JOIN UNNEST(m) AS u(k, x) ON u.x > t.id AND k <> 'a'", "CROSS JOIN LATERAL EXPLODE_OUTER(MAP_FILTER(m, (k, x) -> x > t.id AND k <> 'a')) AS u(k, x)")
        self.becomes("LEFT JOIN UNNEST(ar) AS u(a, b) ON u.a / 2 > id", "CROSS JOIN LATERAL INLINE_OUTER(FILTER(ar, __row -> __row IS NOT NULL AND (CAST(__row.v DIV 2 AS INT) > id))) AS u(a, b)")
        self.becomes("LEFT JOIN UNNEST(arr) WITH ORDINALITY AS u(x, o) ON o < 3", "CROSS JOIN LATERAL INLINE_OUTER(FILTER(TRANSFORM(arr, (e, i) -> NAMED_STRUCT('x', e, 'o', i + 1)), __row -> __row.o < 3)) AS u")

    def test_names(self) -> None:
        self.becomes("CROSS JOIN UNNEST(arr)", "CROSS JOIN LATERAL EXPLODE(arr) AS __unnest(`EXPR$0`)")
        self.becomes("CROSS JOIN UNNEST(arr) AS u", "CROSS JOIN LATERAL EXPLODE(arr) AS u(u)")
        self.becomes("CROSS JOIN UNNEST(m) AS u", "CROSS JOIN LATERAL EXPLODE(m) AS u(KEY, VALUE)")
        self.becomes("CROSS JOIN UNNEST(ar) AS u", "CROSS JOIN LATERAL INLINE(ARRAY_COMPACT(ar)) AS u")
        self.becomes("CROSS JOIN UNNEST(ar) AS u(a, b)", "CROSS JOIN LATERAL INLINE(ARRAY_COMPACT(ar)) AS u(a, b)")
        self.becomes("CROSS JOIN UNNEST(arr) WITH ORDINALITY AS u", "CROSS JOIN LATERAL INLINE(TRANSFORM(arr, (e, i) -> NAMED_STRUCT('u', e, 'ORDINALITY', i + 1))) AS u")
        self.becomes("CROSS JOIN UNNEST(ar) WITH ORDINALITY AS u(a, b, o)", "CROSS JOIN LATERAL INLINE(TRANSFORM(ar, (e, i) -> NAMED_STRUCT('a', e.v, 'b', e.s, 'o', i + 1))) AS u")
        self.becomes("CROSS JOIN UNNEST(m) WITH ORDINALITY", "CROSS JOIN LATERAL INLINE(TRANSFORM(MAP_ENTRIES(m), (e, i) -> NAMED_STRUCT('KEY', e.key, 'VALUE', e.value, 'ORDINALITY', i + 1)))")

    def test_without_types(self) -> None:
        self.flink("SELECT x FROM c, UNNEST(xs) AS u(x)", spark="SELECT x FROM c, LATERAL EXPLODE(xs) AS u(x)")
        self.flink("SELECT k FROM c, UNNEST(xs) AS u(k, v)", spark="SELECT k FROM c, LATERAL EXPLODE(xs) AS u(k, v)")
        self.flink("SELECT k FROM c, UNNEST(xs) AS u(k, v, w)", spark="SELECT k FROM c, LATERAL INLINE(ARRAY_COMPACT(xs)) AS u(k, v, w)")
        self.flink("SELECT k FROM c LEFT JOIN UNNEST(xs) AS u(k, v, w) ON k > 1", spark="SELECT k FROM c LEFT JOIN LATERAL INLINE(ARRAY_COMPACT(xs)) AS u(k, v, w) ON k > 1")

    def test_columns_are_known(self) -> None:
        self.flink("SELECT x / 2 AS h, y / 2 AS i FROM t, UNNEST(arr) AS u(x), UNNEST(ar) AS w(y, z)", spark="SELECT CAST(x DIV 2 AS INT) AS h, CAST(y DIV 2 AS INT) AS i FROM t, LATERAL EXPLODE(arr) AS u(x), LATERAL INLINE(ARRAY_COMPACT(ar)) AS w(y, z)", schema=SCHEMA)
        self.flink("SELECT a / 2 AS h FROM (SELECT ARRAY_AGG(r) AS rs FROM t) w, UNNEST(rs) AS u(a, b)", spark="SELECT CAST(a DIV 2 AS INT) AS h FROM (SELECT NULLIF(TRANSFORM(ARRAY_AGG(STRUCT(r AS e)), s -> s.e), ARRAY()) AS rs FROM t) w, LATERAL INLINE(ARRAY_COMPACT(rs)) AS u(a, b)", schema=SCHEMA)

    def test_multiset(self) -> None:
        self.flink("SELECT x FROM (SELECT COLLECT(DISTINCT id) AS ids FROM t) AS w, UNNEST(w.ids) AS u(x)", spark="SELECT x FROM (SELECT COLLECT_LIST(DISTINCT id) AS ids FROM t) AS w, LATERAL EXPLODE(w.ids) AS u(x)", schema=SCHEMA)
        self.refused_flink("SELECT * FROM (SELECT COLLECT(id) AS ids FROM t) AS w, UNNEST(w.ids) AS u(x)", "MULTISET", at="COLLECT(id)", hint="ARRAY_AGG")
        self.refused_flink("SELECT ids, x FROM (SELECT COLLECT(id) AS ids FROM t) AS w, UNNEST(w.ids) AS u(x)", "MULTISET", at="COLLECT(id)", hint="ARRAY_AGG")
        counted = "GET(TRANSFORM(ARRAY(COLLECT_LIST(id)), __l -> MAP_FROM_ARRAYS(ARRAY_DISTINCT(__l), TRANSFORM(ARRAY_DISTINCT(__l), __v -> SIZE(FILTER(__l, __e -> __e = __v))))), 0)"
        self.flink("SELECT COLLECT(id) AS ids FROM t", spark=f"SELECT {counted} AS ids FROM t", schema=SCHEMA)

    def test_refused(self) -> None:
        self.flink("SELECT id FROM t LEFT JOIN UNNEST(arr) AS u(x)", spark="SELECT id FROM t LEFT JOIN LATERAL EXPLODE_OUTER(arr) AS u(x)", schema=SCHEMA)
        self.refused_flink("SELECT id FROM t, UNNEST(arr) AS u(x, y)", "names 2 columns, and UNNEST gives 1 column: u", at="UNNEST(arr) AS u(x, y)", schema=SCHEMA)
        self.refused_flink("SELECT id FROM t, UNNEST(ar) AS u(x)", "names 1 columns, and UNNEST gives 2 columns: v, s", at="UNNEST(ar) AS u(x)", schema=SCHEMA)
        self.refused_flink("SELECT id FROM t, UNNEST(arr, arr) AS u(x, y)", "one array or map", at="UNNEST(arr, arr) AS u(x, y)", hint="ordinality", schema=SCHEMA)


class TestRelations(Pairs):
    def test_values(self) -> None:
        self.flink("SELECT * FROM (VALUES (1, 'a'), (2, 'b'))", spark="SELECT * FROM (VALUES (1, 'a'), (2, 'b') AS __values(`EXPR$0`, `EXPR$1`))")
        self.flink("SELECT v.EXPR$1 FROM (VALUES (1, 'a')) AS v", spark="SELECT v.`EXPR$1` FROM (VALUES (1, 'a')) AS v(`EXPR$0`, `EXPR$1`)")
        self.flink("WITH v AS (VALUES (1, 2)) SELECT * FROM v", spark="WITH v AS (VALUES (1, 2) AS __values(`EXPR$0`, `EXPR$1`)) SELECT * FROM v")
        self.flink("VALUES (UPPER('a')), (UPPER('b'))", spark="VALUES (UPPER('a')), (UPPER('b')) AS __values(`EXPR$0`)")
        self.flink("VALUES 1, 2", spark="VALUES 1, 2 AS __values(`EXPR$0`)")
        self.flink("SELECT * FROM (VALUES 1, 2) AS v(a)", spark="SELECT * FROM (VALUES 1, 2) AS v(a)")
        self.flink("SELECT id FROM t WHERE (id, 1) IN (VALUES (1, 1))", spark="SELECT id FROM t WHERE (id, 1) IN (SELECT * FROM VALUES (1, 1))")

    def test_unnamed_columns_are_read(self) -> None:
        self.flink("SELECT EXPR$0 + 1 AS a FROM (SELECT id + 1 FROM t)", spark="SELECT `EXPR$0` + 1 AS a FROM (SELECT id + 1 AS `EXPR$0` FROM t)")

    def test_tables(self) -> None:
        self.flink("SELECT * FROM (TABLE d) AS q", spark="SELECT * FROM (TABLE d) AS q")

    def test_a_table_as_a_query(self) -> None:
        for query in ("TABLE d", "TABLE `d`", "TABLE d UNION ALL TABLE d", "WITH e AS (TABLE d) SELECT x FROM e", "SELECT x FROM (TABLE d) AS q", "SELECT k FROM a WHERE k IN (SELECT x FROM (TABLE d) q)"):
            self.flink(query, spark=query, schema=SCHEMA)
        self.flink("SELECT x / 2 AS h FROM (TABLE default_catalog.default_database.d)", spark="SELECT CAST(x DIV 2 AS INT) AS h FROM (TABLE d)", schema=SCHEMA)

    def test_joins_in_parentheses(self) -> None:
        self.flink("SELECT a.k, b.name FROM (a JOIN b ON a.k = b.k) WHERE a.n / 2 > 1", spark="SELECT a.k, b.name FROM (a JOIN b ON a.k = b.k) WHERE CAST(a.n DIV 2 AS INT) > 1", schema=SCHEMA)
        self.flink("SELECT d.x, a.n / 2 AS h FROM d LEFT JOIN (a JOIN (b CROSS JOIN t) ON a.k = b.k) ON d.x = a.k", spark="SELECT d.x, CAST(a.n DIV 2 AS INT) AS h FROM d LEFT JOIN (a JOIN (b CROSS JOIN t) ON a.k = b.k) ON d.x = a.k", schema=SCHEMA)
        self.flink("SELECT k, n FROM ((a JOIN b USING (k)) JOIN d ON d.x = n)", spark="SELECT k, n FROM ((a JOIN b USING (k)) JOIN d ON d.x = n)", schema=SCHEMA)
        self.flink("SELECT * FROM (a JOIN b ON a.k = b.k)", spark="SELECT `a`.`k`, `a`.`n`, `a`.`ts`, `b`.`k` AS `k0`, `b`.`name`, `b`.`bt` FROM (a JOIN b ON a.k = b.k)", schema=SCHEMA)
        self.flink("SELECT * FROM (a JOIN b USING (k))", spark="SELECT * FROM (a JOIN b USING (k))", schema=SCHEMA)

    def test_names_that_a_star_gives_again(self) -> None:
        """The query around knows the second column of a name by a number, too."""
        self.flink("SELECT q.k0 / 2 AS h FROM (SELECT * FROM a x JOIN a y ON x.k = y.n) q", spark="SELECT CAST(q.k0 DIV 2 AS INT) AS h FROM (SELECT `x`.`k`, `x`.`n`, `x`.`ts`, `y`.`k` AS `k0`, `y`.`n` AS `n0`, `y`.`ts` AS `ts0` FROM a x JOIN a y ON x.k = y.n) q", schema=SCHEMA)
        self.flink("WITH j AS (SELECT n AS k, a.* FROM a) SELECT k, k0 FROM j", spark="WITH j AS (SELECT n AS k, `a`.`k` AS `k0`, `a`.`n`, `a`.`ts` FROM a) SELECT k, k0 FROM j", schema=SCHEMA)

    def test_lateral(self) -> None:
        """Flink gives no row for an aggregate of no rows."""
        self.flink("SELECT id FROM t, LATERAL (SELECT COUNT(*) AS c FROM d WHERE d.x = t.id) AS l", spark="SELECT id FROM t, LATERAL (SELECT COUNT(*) AS c FROM d WHERE d.x = t.id HAVING COUNT(*) > 0) AS l")
        self.flink("SELECT id FROM t, LATERAL (SELECT MAX(x) AS c FROM d WHERE x = id HAVING MAX(x) > 1) AS l", spark="SELECT id FROM t, LATERAL (SELECT MAX(x) AS c FROM d WHERE x = id HAVING (MAX(x) > 1) AND COUNT(*) > 0) AS l", schema=SCHEMA)
        self.flink("SELECT id FROM t, LATERAL (SELECT COUNT(*) AS c FROM d) AS l", spark="SELECT id FROM t, LATERAL (SELECT COUNT(*) AS c FROM d) AS l")
        self.flink("SELECT id FROM t, LATERAL (SELECT x FROM d WHERE d.x = t.id) AS l", spark="SELECT id FROM t, LATERAL (SELECT x FROM d WHERE d.x = t.id) AS l")


VERSIONS = "WITH vb AS (SELECT k, name, bt FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY bt DESC) AS rn FROM b) WHERE rn = 1)"
SORTED = """(SELECT __row.*, __{v} FROM (
    SELECT __row, LAST_VALUE(__version, TRUE) OVER (PARTITION BY __key0 ORDER BY __time, __is_row ROWS UNBOUNDED PRECEDING) AS __{v}
    FROM (
      SELECT STRUCT(*) AS __row, NULL AS __version, {a}.k AS __key0, {a}.ts AS __time, TRUE AS __is_row FROM {rows}
      UNION ALL SELECT NULL, STRUCT(*), k, bt, FALSE FROM __all_vb)) WHERE __row IS NOT NULL) AS {a}"""


class TestTemporalJoin(Pairs):
    def becomes(self, sql: str, spark: str) -> None:
        versions = "SELECT k, name, bt FROM (SELECT *, CAST(1 AS BIGINT) AS rn FROM b)"
        assert flat(translate(f"{VERSIONS} {sql}", "flink")) == flat(f"WITH __all_vb AS ({versions}) {spark}")

    def test_joins(self) -> None:
        self.becomes("SELECT a.n, vb.name FROM a JOIN vb FOR SYSTEM_TIME AS OF a.ts ON a.k = vb.k", f"SELECT a.n, vb.name FROM {SORTED.format(a='a', v='vb', rows='a')} CROSS JOIN LATERAL INLINE(FILTER(ARRAY(a.__vb), __row -> __row IS NOT NULL)) AS vb")
        self.becomes("SELECT * FROM a AS l LEFT JOIN vb FOR SYSTEM_TIME AS OF l.ts AS v ON v.k = l.k AND v.name <> 'x'", f"SELECT * EXCEPT (__v) FROM {SORTED.format(a='l', v='v', rows='a AS l')} CROSS JOIN LATERAL INLINE_OUTER(FILTER(ARRAY(l.__v), __row -> __row IS NOT NULL AND __row.name <> 'x')) AS v")

    def refused_join(self, sql: str, message: str, *, at: str, hint: str) -> None:
        self.refused_flink(f"{VERSIONS} {sql}", message, at=at, hint=hint, schema=SCHEMA)

    def test_refused(self) -> None:
        self.refused_flink("SELECT 1 FROM a JOIN b FOR SYSTEM_TIME AS OF a.ts ON a.k = b.k", "the versions of b aren't known", at="b FOR SYSTEM_TIME AS OF a.ts", hint="ROW_NUMBER()", schema=SCHEMA)
        self.refused_join("SELECT 1 FROM a RIGHT JOIN vb FOR SYSTEM_TIME AS OF a.ts ON a.k = vb.k", "JOIN or LEFT JOIN", at="vb FOR SYSTEM_TIME AS OF a.ts", hint="ON a.k = versions.k")
        self.refused_join("SELECT 1 FROM a JOIN vb FOR SYSTEM_TIME AS OF a.ts ON a.k > vb.k", "equates the key: k", at="a.k > vb.k", hint="ON a.k = vb.k")
        self.refused_join("SELECT 1 FROM a JOIN d ON d.x = a.n JOIN vb FOR SYSTEM_TIME AS OF a.ts ON d.x = vb.k", "of the input of its time, a", at="d.x", hint="a subquery")
        self.refused_join("SELECT 1 FROM a JOIN vb FOR SYSTEM_TIME AS OF TIMESTAMP '2024-01-01 00:00:00' ON a.k = vb.k", "a time column", at="TIMESTAMP '2024-01-01 00:00:00'", hint="a.ts")
        self.refused_join("SELECT 1 FROM a JOIN vb FOR SYSTEM_TIME ON a.k = vb.k", "a time column", at="vb FOR SYSTEM_TIME", hint="AS OF a.ts")
        first = VERSIONS.replace("DESC", "ASC")
        self.refused_flink(f"{first} SELECT 1 FROM a JOIN vb FOR SYSTEM_TIME AS OF a.ts ON a.k = vb.k", "aren't known", at="vb FOR SYSTEM_TIME AS OF a.ts", hint="DESC")
        starred = VERSIONS.replace("SELECT k, name, bt", "SELECT *")
        self.refused_flink(f"{starred} SELECT 1 FROM a JOIN vb FOR SYSTEM_TIME AS OF a.ts ON a.k = vb.k", "are to be listed", at="vb FOR SYSTEM_TIME AS OF a.ts", hint="SELECT k, x, ts")


class TestNames(Pairs):
    def test_own_catalog(self) -> None:
        """Spark has no default_catalog: a name without it is one of the model's schema."""
        for before in ("default_catalog.default_database.", "`default_catalog`.default_database.", "default_database."):
            self.flink(f"SELECT {before}d.x, name FROM {before}d", spark="SELECT d.x, name FROM d", schema=SCHEMA)
            self.flink(f"SELECT q.x FROM {before}d AS q JOIN db.d ON TRUE", spark="SELECT q.x FROM d AS q JOIN db.d ON TRUE")
        typed = translate("SELECT x / 2 AS h FROM default_catalog.default_database.d", "flink", schema=SCHEMA)
        assert typed == "SELECT CAST(x DIV 2 AS INT) AS h FROM d"
        window = "TUMBLE(TABLE default_database.t, DESCRIPTOR(ts), INTERVAL '5' MINUTES)"
        assert "FROM t\n" in translate(f"SELECT * FROM {window}", "flink", schema=SCHEMA)
        assert tables(f"SELECT * FROM {window} JOIN default_catalog.default_database.d ON TRUE", "flink") == ["d", "t"]
        self.refused_flink("WITH d AS (SELECT 1 AS x) SELECT x FROM default_database.d", "WITH has a query called d", at="default_database.d", hint="another name")

    def test_columns_that_flink_does_not_read(self) -> None:
        window = "TUMBLE(TABLE t, DESCRIPTOR({}), INTERVAL '5' MINUTES)"
        with pytest.warns(TranslationWarning, match="the first column of DESCRIPTOR"):
            several = translate(f"SELECT * FROM {window.format('ts, id, v')}", "flink", schema=SCHEMA)
        assert several == translate(f"SELECT * FROM {window.format('ts')}", "flink", schema=SCHEMA)
        self.refused_flink(f"SELECT * FROM {window.format('ts, 77')}", "DESCRIPTOR takes columns", at="77", hint="DESCRIPTOR(ts)")

    def test_functions_of_tables(self) -> None:
        for call, name in (
            ("ML_PREDICT(TABLE t, MODEL m, DESCRIPTOR(id))", "ML_PREDICT"),
            ("TABLE(TO_CHANGELOG(input => TABLE t PARTITION BY id))", "TO_CHANGELOG"),
            ("d, LATERAL VECTOR_SEARCH(TABLE t, DESCRIPTOR(arr), d.x, 10)", "VECTOR_SEARCH"),
            ("Mine(1, TABLE t)", "Mine"),
        ):
            self.refused_flink(f"SELECT * FROM {call}", "is a function of tables", at=name, hint="table function of Spark's", schema=SCHEMA)
