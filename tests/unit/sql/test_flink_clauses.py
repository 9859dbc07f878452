"""Small clauses of Flink SQL, its literals and frames; the rows behind them are recorded in Flink."""

# A statement and its translation stay on one line.
# ruff: noqa: E501
# fmt: off

from __future__ import annotations

import pytest

from dbt.adapters.sparkstream.sql import translate
from dbt.adapters.sparkstream.sql.core.errors import TranslationWarning
from tests.unit.sql.pairs import Pairs

SCHEMA = {
    "c": {"i": "int", "k": "string", "d": "decimal(10,2)", "ts": "timestamp_ntz"},
    "u": {"a": "int", "b": "int"},
}


class TestClauses(Pairs):
    def becomes(self, flink: str, spark: str) -> None:
        self.flink(flink, spark=spark, schema=SCHEMA)

    def rewritten(self, flink: str, spark: str) -> None:
        self.becomes(f"SELECT {flink} AS z FROM c", f"SELECT {spark} AS z FROM c")

    def test_limits(self) -> None:
        self.becomes("SELECT i FROM c ORDER BY i FETCH FIRST 2 ROWS ONLY", "SELECT i FROM c ORDER BY i LIMIT 2")
        self.becomes("SELECT i FROM c ORDER BY i OFFSET 1 ROW", "SELECT i FROM c ORDER BY i OFFSET 1")
        self.becomes("SELECT i FROM c ORDER BY i OFFSET 1 ROWS FETCH NEXT 3 ROWS ONLY", "SELECT i FROM c ORDER BY i LIMIT 3 OFFSET 1")
        self.becomes("SELECT i FROM c UNION ALL SELECT a FROM u OFFSET 1 FETCH NEXT 2 ROWS ONLY", "SELECT i FROM c UNION ALL SELECT a FROM u LIMIT 2 OFFSET 1")
        self.becomes("SELECT i FROM c ORDER BY i LIMIT 3 OFFSET 1", "SELECT i FROM c ORDER BY i LIMIT 3 OFFSET 1")
        self.becomes(*["SELECT i FROM c FETCH FIRST 2 PERCENT ROWS ONLY"] * 2)  # which Spark refuses

    def test_numbers_that_no_double_holds(self) -> None:
        self.becomes("SELECT i FROM c ORDER BY 1e400", "SELECT i FROM c ORDER BY 1e400")  # Spark refuses it
        self.refused_flink("SELECT JSON_ARRAY(i, 1e400) AS z FROM c", "as large as this number", at="1e400", hint="at most 1.7e308")

    def test_one_group_of_all_rows(self) -> None:
        self.becomes("SELECT COUNT(*) AS z FROM c GROUP BY () HAVING COUNT(*) > 0", "SELECT COUNT(*) AS z FROM c HAVING COUNT(*) > 0")
        self.becomes("SELECT 1 AS z FROM c GROUP BY ()", "SELECT 1 AS z FROM c HAVING COUNT(*) >= 0")
        self.becomes("SELECT COUNT(*) AS z FROM c GROUP BY (), i", "SELECT COUNT(*) AS z FROM c GROUP BY i")
        sql = "SELECT 1 AS z FROM c GROUP BY () HAVING 1 = 2"
        self.refused_flink(sql, "Spark's GROUP BY has no ()", at="GROUP BY ()", hint="leave GROUP BY () out", schema=SCHEMA)

    def test_sets_that_come_again(self) -> None:
        """Flink groups by all keys where only one set is left for the second go."""
        for sets, written in (
            ("GROUPING SETS ((i), (i), (i, k))", "GROUPING SETS ((i), (i, k), (i, k))"),
            ("i, ROLLUP(i, k)", "GROUPING SETS ((i), (i, k), (i, k))"),
            ("GROUPING SETS ((i), (i), (k), (k))", "GROUPING SETS ((i), (i), (k), (k))"),
            ("DISTINCT ROLLUP(i), ROLLUP(i, k)", "GROUPING SETS ((), (i), (i, k))"),
            ("DISTINCT i, k", "i, k"),
        ):
            self.becomes(f"SELECT COUNT(*) AS z FROM c GROUP BY {sets}", f"SELECT COUNT(*) AS z FROM c GROUP BY {written}")
        sql = "SELECT GROUPING(i) AS g FROM c GROUP BY GROUPING SETS ((i), (i), (i, k))"
        self.refused_flink(sql, "one set alone comes again", at="GROUPING(i)", hint="each set of keys once", schema=SCHEMA)

    def test_samples_and_rows(self) -> None:
        self.becomes("SELECT i FROM c TABLESAMPLE BERNOULLI (10) REPEATABLE (3) AS x", "SELECT i FROM c TABLESAMPLE (10 PERCENT) REPEATABLE (3) AS x")
        self.becomes("SELECT x FROM (VALUES ROW(1, 2), ROW(3, 4)) t(x, y)", "SELECT x FROM (VALUES (1, 2), (3, 4)) t(x, y)")

    def test_order_of_distinct_rows(self) -> None:
        self.becomes("SELECT DISTINCT i + 1 FROM c ORDER BY i + 1 DESC", "SELECT DISTINCT i + 1 AS `EXPR$0` FROM c ORDER BY `EXPR$0` DESC")

    def test_a_member_whose_null_is_seen(self) -> None:
        q = "FROM (SELECT a FROM u) AS q(v))"
        member = f"((SELECT COUNT(*) {q} > 0 AND (ARRAY_CONTAINS((SELECT COLLECT_SET(v) {q}, i) OR (SELECT COUNT(*) > COUNT(v) AND NULL {q}))"
        self.rewritten("i IN (SELECT a FROM u)", member)
        self.rewritten("i NOT IN (SELECT a FROM u)", f"(NOT {member})")
        self.rewritten("i IN (SELECT a FROM u WHERE u.b = c.i)", "i IN (SELECT a FROM u WHERE u.b = c.i)")
        self.becomes("SELECT i FROM c WHERE i IN (SELECT a FROM u) OR i > 1", "SELECT i FROM c WHERE i IN (SELECT a FROM u) OR i > 1")
        self.rewritten("i IN ((SELECT a FROM u))", member)
        self.becomes("SELECT i FROM c WHERE i NOT IN (((SELECT a FROM u)))", "SELECT i FROM c WHERE i NOT IN (SELECT a FROM u)")
        self.becomes("SELECT i FROM c WHERE i <> ALL (VALUES 1, 2)", "SELECT i FROM c WHERE i NOT IN (VALUES 1, 2)")

    def test_numbers_and_texts_in_a_list(self) -> None:
        self.rewritten("i IN ('1', '2', NULL)", "i IN (CAST('1' AS INT), CAST('2' AS INT), NULL)")
        self.rewritten("k NOT IN (1, 2)", "k NOT IN (CAST(1 AS STRING), CAST(2 AS STRING))")

    def test_a_lone_text_of_a_subquery(self) -> None:
        """Spark reads (SELECT 'a') as a constant of a type SELECT."""
        self.becomes("SELECT i FROM c WHERE k IN (SELECT 'a') AND k <> (SELECT 'b\\')", "SELECT i FROM c WHERE k IN (SELECT 'a' AS `EXPR$0`) AND k <> (SELECT 'b\\\\' AS `EXPR$0`)")
        self.becomes("SELECT i FROM c WHERE k IN (SELECT 'a' FROM u)", "SELECT i FROM c WHERE k IN (SELECT 'a' FROM u)")

    def test_floats_in_a_list(self) -> None:
        """What is written 0.1 is found among FLOATs, which `f = 0.1` doesn't (measured in 2.3)."""
        schema = {"f": {"f": "float", "d": "decimal(3,1)", "x": "double"}}
        self.flink("SELECT f IN (0.1, d, 1) AS a, f = 0.1 AS b, x IN (0.1) AS c FROM f", spark="SELECT f IN (CAST(0.1 AS FLOAT), CAST(d AS FLOAT), 1) AS a, f = 0.1 AS b, x IN (0.1) AS c FROM f", schema=schema)


    def test_windows_that_begin_with_another(self) -> None:
        self.becomes("SELECT i, MAX(i) OVER (w ORDER BY ts DESC, i) AS z FROM c WINDOW w AS (PARTITION BY k)", "SELECT i, MAX(i) OVER (PARTITION BY k ORDER BY ts DESC, i) AS z FROM c WINDOW w AS (PARTITION BY k)")
        self.becomes("SELECT MAX(i) OVER (b ROWS 1 PRECEDING) AS z FROM c WINDOW a AS (PARTITION BY k), b AS (a ORDER BY i DESC NULLS LAST)", "SELECT MAX(i) OVER (PARTITION BY k ORDER BY i DESC NULLS LAST) AS z FROM c WINDOW a AS (PARTITION BY k), b AS (PARTITION BY k ORDER BY i DESC NULLS LAST)")
        self.becomes("SELECT MAX(i) OVER (w) AS z FROM c WINDOW w AS (ORDER BY i)", "SELECT MAX(i) OVER (w) AS z FROM c WINDOW w AS (ORDER BY i)")
        self.refused_flink("SELECT MAX(i) OVER (w ROWS 1 PRECEDING) FROM c WINDOW W AS (ORDER BY i ROWS 2 PRECEDING)", "the window w has a frame already", at="w", hint="in full")
        self.refused_flink("SELECT MAX(i) OVER (w ORDER BY ts) FROM c WINDOW w AS (PARTITION BY i + 1)", "has columns only", at="i + 1", hint="in full")
        self.refused_flink("SELECT MAX(i) OVER (w ORDER BY ts) FROM c WINDOW w AS k", "is in parentheses", at="w AS k", hint="WINDOW w AS (...)")

    def test_negative_offsets(self) -> None:
        """Flink's batch takes them in RANGE: the frame holds the current row, so rows without a key stay peers."""
        for frame in ("-1 FOLLOWING AND 10 FOLLOWING", "10 PRECEDING AND -1 PRECEDING"):
            sql = f"SELECT COUNT(*) OVER (ORDER BY i RANGE BETWEEN {frame}) AS z FROM c"
            self.becomes(sql, sql)
        self.refused_flink("SELECT MAX(i) OVER (ORDER BY i RANGE BETWEEN 1 FOLLOWING AND -1 FOLLOWING) FROM c", "ends before it starts", at="MAX(i) OVER (ORDER BY i RANGE BETWEEN 1 FOLLOWING AND -1 FOLLOWING)", hint="earlier bound")
        self.refused_flink("SELECT MAX(i) OVER (ORDER BY i ROWS BETWEEN -1 FOLLOWING AND 2 FOLLOWING) FROM c", "not negative", at="-1", hint="PRECEDING")

    def test_frames_behind_the_name_of_a_window(self) -> None:
        """Flink forgets them, with ORDER BY before them or without it."""
        self.becomes("SELECT MAX(i) OVER (w ORDER BY ts ROWS 1 PRECEDING) AS z FROM c WINDOW w AS (PARTITION BY k)", "SELECT MAX(i) OVER (PARTITION BY k ORDER BY ts) AS z FROM c WINDOW w AS (PARTITION BY k)")
        self.becomes("SELECT MAX(i) OVER w - i AS z FROM c WINDOW w AS (ORDER BY i)", "SELECT MAX(i) OVER (w) - i AS z FROM c WINDOW w AS (ORDER BY i)")
        self.becomes("SELECT MAX(i) OVER v AS z FROM c WINDOW w AS (ORDER BY i), v AS (w RANGE BETWEEN 2 PRECEDING AND 1 PRECEDING)", "SELECT MAX(i) OVER v AS z FROM c WINDOW w AS (ORDER BY i), v AS (ORDER BY i)")
        heard: list[TranslationWarning] = []
        translate("SELECT MAX(i) OVER (w ROWS 1 PRECEDING) AS z FROM c WINDOW w AS (ORDER BY i)", "flink", schema=SCHEMA, warn=heard.append)
        assert ["heeds no frame" in warning.message for warning in heard] == [True]

    def test_quantified_comparisons(self) -> None:
        q = "FROM (SELECT a FROM u) AS q(v))"
        self.becomes("SELECT i FROM c WHERE i = SOME (SELECT a FROM u)", "SELECT i FROM c WHERE i IN (SELECT a FROM u)")
        self.becomes("SELECT i FROM c WHERE i + 1 <> ALL (SELECT a FROM u) AND i > 0", "SELECT i FROM c WHERE (i + 1) NOT IN (SELECT a FROM u) AND i > 0")
        self.rewritten("i > ALL (SELECT a FROM u)", f"((SELECT COUNT(*) {q} = 0 OR i > (SELECT MAX(v) {q} AND (SELECT COUNT(*) = COUNT(v) OR NULL {q})")
        self.rewritten("i <= ANY (SELECT a FROM u)", f"((SELECT COUNT(*) {q} > 0 AND (i <= (SELECT MAX(v) {q} OR (SELECT COUNT(*) > COUNT(v) AND NULL {q}))")
        self.rewritten("i <> SOME (SELECT a FROM u)", f"((SELECT COUNT(*) {q} > 0 AND (i <> (SELECT MIN(v) {q} OR i <> (SELECT MAX(v) {q} OR (SELECT COUNT(*) > COUNT(v) AND NULL {q}))")
        self.rewritten("i > ALL (1, 2)", "(i > 1 AND i > 2)")
        self.rewritten("i = ANY (1, 2)", "(i = 1 OR i = 2)")

    def test_membership_with_nulls(self) -> None:
        """Outside WHERE, where NULL isn't FALSE, Spark's IN would say FALSE for 1 IN (SELECT NULL)."""
        sql = translate("SELECT i = SOME (SELECT a FROM u) AS z FROM c", "flink", schema=SCHEMA)
        assert "ARRAY_CONTAINS((SELECT COLLECT_SET(v) FROM (SELECT a FROM u) AS q(v)), i)" in sql
        assert " IN (" not in translate("SELECT i FROM c WHERE NOT (i = SOME (SELECT a FROM u))", "flink", schema=SCHEMA)

    def test_qualify(self) -> None:
        self.becomes("SELECT i, RANK() OVER (ORDER BY i) AS r FROM c QUALIFY r = 1", "SELECT i, CAST(RANK() OVER (ORDER BY i) AS BIGINT) AS r FROM c QUALIFY r = 1")
        self.refused_flink("SELECT i AS k, RANK() OVER (ORDER BY i) AS r FROM c QUALIFY r = 1 AND k > 0", "an alias of this SELECT, and a column", at="k", hint="name of its own", schema=SCHEMA)

    def test_names_of_columns_have_no_types(self) -> None:
        self.becomes("SELECT * FROM c AS `CAST`(x AS INTERVAL DAY)", "SELECT * FROM c AS `CAST`(x AS INTERVAL DAY)")

    def test_group_id(self) -> None:
        self.becomes("SELECT GROUP_ID() AS z FROM c GROUP BY CUBE (i, k)", "SELECT CAST(0 AS BIGINT) AS z FROM c GROUP BY CUBE (i, k)")
        for group in ("GROUPING SETS (i, (i), ())", "i, ROLLUP (i, k)", "GROUPING SETS ((i, k), (k, i))"):
            self.refused_flink(f"SELECT GROUP_ID() FROM c GROUP BY {group}", "numbers equal grouping sets", at="GROUP_ID()", hint="UNION ALL")

    def test_grouping(self) -> None:
        self.becomes("SELECT i, COUNT(*) AS z FROM c GROUP BY ROLLUP (i) HAVING GROUPING(i) = 1", "SELECT i, COUNT(*) AS z FROM c GROUP BY ROLLUP (i) HAVING CAST(GROUPING(i) AS BIGINT) = 1")
        self.refused_flink("SELECT COUNT(*) FROM c GROUP BY ROLLUP (i) HAVING GROUPING(i) = 1", "keys that are selected", at="GROUPING(i)", hint="select i as well")
        self.becomes("SELECT GROUPING(i) AS g FROM c GROUP BY ROLLUP (i) HAVING GROUPING(i) = 1", "SELECT CAST(GROUPING(i) AS BIGINT) AS g FROM c GROUP BY ROLLUP (i) HAVING g = 1")
        self.becomes("SELECT GROUPING(c.i) AS g FROM c GROUP BY i", "SELECT CAST(0 AS BIGINT) AS g FROM c GROUP BY i")
        self.becomes("SELECT GROUPING(k) AS g FROM c GROUP BY i", "SELECT CAST(GROUPING(k) AS BIGINT) AS g FROM c GROUP BY i")

    def test_proctime(self) -> None:
        self.refused_flink("SELECT PROCTIME() AS p FROM c", "the time at which Flink reads a row", at="PROCTIME()", hint="CURRENT_TIMESTAMP")
        self.refused_flink("SELECT CURRENT_WATERMARK(ts) FROM c", "no counterpart", at="CURRENT_WATERMARK(ts)", hint="late_rows")


class TestFrames(Pairs):
    def test_empty_where_the_key_is_null(self) -> None:
        over = "OVER (ORDER BY i RANGE BETWEEN 1 FOLLOWING AND 2 FOLLOWING)"
        self.flink(f"SELECT COUNT(*) {over} AS z FROM c", spark=f"SELECT CASE WHEN i IS NOT NULL THEN COUNT(*) {over} ELSE 0 END AS z FROM c")
        self.flink("SELECT MAX(k) OVER w AS z FROM c WINDOW w AS (ORDER BY i RANGE BETWEEN 2 PRECEDING AND 1 PRECEDING)", spark="SELECT CASE WHEN i IS NOT NULL THEN MAX(k) OVER w END AS z FROM c WINDOW w AS (ORDER BY i RANGE BETWEEN 2 PRECEDING AND 1 PRECEDING)")

    def test_the_bounds_of_a_frame_have_one_unit(self) -> None:
        frame = "SELECT COUNT(k) OVER (ORDER BY ts RANGE BETWEEN {} PRECEDING AND {} FOLLOWING) AS z FROM c"
        self.flink(frame.format("INTERVAL '1' HOUR", "INTERVAL '10' MINUTE"), spark=frame.format("INTERVAL '60' MINUTE", "INTERVAL '10' MINUTE"))

    @pytest.mark.parametrize("frame", ["ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING", "RANGE BETWEEN 0 FOLLOWING AND 2 FOLLOWING", "RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING", "RANGE BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING", "ROWS 1 PRECEDING"])
    def test_other_frames(self, frame: str) -> None:
        sql = f"SELECT COUNT(*) OVER (ORDER BY i {frame}) AS z FROM c"
        self.flink(sql, spark=sql)

    @pytest.mark.parametrize("frame", ["BETWEEN CURRENT ROW AND 1 PRECEDING", "BETWEEN 1 FOLLOWING AND CURRENT ROW", "BETWEEN 2 FOLLOWING AND 1 FOLLOWING", "BETWEEN 1 PRECEDING AND 2 PRECEDING", "BETWEEN UNBOUNDED FOLLOWING AND CURRENT ROW", "1 FOLLOWING"])
    def test_ends_before_it_starts(self, frame: str) -> None:
        window = f"(ORDER BY i ROWS {frame})"
        self.refused_flink(f"SELECT COUNT(*) OVER {window} FROM c", "ends before it starts", at=f"COUNT(*) OVER {window}", hint="earlier bound first")


class TestLiterals(Pairs):
    def rewritten(self, flink: str, spark: str) -> None:
        self.flink(f"SELECT {flink} AS z FROM c", spark=f"SELECT {spark} AS z FROM c", schema=SCHEMA)

    def test_unicode(self) -> None:
        self.rewritten(r"U&'\00e9t\00E9'", "'été'")
        self.rewritten("U&'!00e9''!!\\' UESCAPE '!'", r"'é\'!\\'")
        self.rewritten(r"U&'\d83d\de00'", "'😀'")
        self.refused_flink(r"SELECT U&'\0g' FROM c", "four hexadecimal digits", at=r"U&'\0g'", hint=r"\00e9")

    def test_escapes(self) -> None:
        self.rewritten(r"E'\\a\tb''c\u0041'", "'\\\\a\tb\\'cA'")
        self.rewritten("N'it''s'", r"'it\'s'")
        self.refused_flink(r"SELECT E'\q' FROM c", "no character", at=r"E'\q'", hint=r"\n")

    def test_intervals(self) -> None:
        self.rewritten("INTERVAL '5.111' SECOND(1,3)", "INTERVAL '5.111' SECOND")
        self.rewritten("ts + INTERVAL '10 10:20:30.5' DAY(2) TO SECOND(1)", "ts + INTERVAL '10 10:20:30.5' DAY TO SECOND")
        self.rewritten("INTERVAL '100' DAY(3)", "INTERVAL '100' DAY")

    def test_variance_of_decimals(self) -> None:
        """Rounded between steps: 3.00, 1.00 and 6.00 have VAR_SAMP 6.333334 in Flink 2.2."""
        squares, total = "CAST(SUM(d * d) AS DECIMAL(38,4))", "CAST(SUM(d) AS DECIMAL(38,2))"
        self.rewritten("VAR_SAMP(d)", f"CAST((({squares} - {total} * {total} / COUNT(d)) / NULLIF(COUNT(d) - 1, 0)) AS DECIMAL(38,6))")
        self.rewritten("STDDEV_POP(d)", f"CAST(SQRT((({squares} - {total} * {total} / COUNT(d)) / COUNT(d))) AS DECIMAL(38,6))")


class TestHints(Pairs):
    @pytest.mark.parametrize(("flink", "spark", "gone"), [
        ("SELECT * FROM c /*+ OPTIONS('a'='b,c') */ AS x", "SELECT * FROM c AS x", "OPTIONS"),
        ("SELECT /*+ STATE_TTL('c'='1d'), BROADCAST(u) */ k FROM c JOIN u ON i = a", "SELECT /*+ BROADCAST(u) */ k FROM c JOIN u ON i = a", "STATE_TTL"),
        ("SELECT /*+ LOOKUP('table'='u'), NEST_LOOP(u) */ k FROM c JOIN u ON i = a", "SELECT k FROM c JOIN u ON i = a", "LOOKUP, NEST_LOOP"),
        ("SELECT k FROM c /*+ X('it''s') */ -- end", "SELECT k FROM c -- end", "X"),
        ("SELECT/*+ X *//*+ Y */k/*+ Z */FROM c", "SELECT  k FROM c", "X"),
    ])
    def test_left_out(self, flink: str, spark: str, gone: str) -> None:
        with pytest.warns(TranslationWarning, match=f"no hint {gone}, so it is left out"):
            self.flink(flink, spark=spark, schema=SCHEMA)

    def test_kept(self) -> None:
        sql = "SELECT /*+ SHUFFLE_HASH(u), BROADCAST(c) */ '/*+ X */' AS z FROM c /* y */ JOIN u ON i = a"
        self.flink(sql, spark=sql, schema=SCHEMA)

    def test_unreadable(self) -> None:
        self.refused_flink("SELECT k FROM c /*+ OPTIONS('a) */", "never closed", at="/*+ OPTIONS('a) */", hint="'key' = 'value'")
