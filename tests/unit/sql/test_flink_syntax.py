"""Syntax that Flink's parser reads otherwise than sqlglot or Spark, and lengths of time that are no constants."""

# A statement and its translation stay on one line.
# ruff: noqa: E501
# fmt: off

from __future__ import annotations

import pytest

from dbt.adapters.sparkstream.sql import translate
from tests.unit.sql.pairs import Pairs

SCHEMA = {
    "t": {
        "a": "int", "b": "bigint", "c": "string", "day_": "date", "ts": "timestamp_ntz", "ok": "boolean",
        "arr": "array<int>", "m": "map<string,int>", "r": "struct<x:int,y:string>", "bin": "binary", "d": "decimal(5,2)",
    },
    "s": {"d": "int", "h": "bigint"},
}  # fmt: skip


class TestSyntax(Pairs):
    @pytest.mark.parametrize(
        ("sql", "message", "at", "hint"),
        [
            ("SELECT INTERVAL a DAY TO HOUR FROM t", "one unit", "INTERVAL a DAY TO HOUR", "HOUR TO MINUTE"),
            ("SELECT t.UNKNOWN FROM t", "a word of Flink's own", "UNKNOWN", None),
        ],
    )
    def test_refused(self, sql: str, message: str, at: str, hint: str | None) -> None:
        self.refused_flink(sql, message, at=at, hint=hint, schema=SCHEMA)

    @pytest.mark.parametrize(
        "sql", ["SELECT a FROM t,", "SELECT ABS(a,) AS z FROM t", "SELECT a FROM t GROUP BY a, HAVING COUNT(*) > 1"]
    )
    def test_a_comma_that_nothing_stands_behind_is_left_to_spark(self, sql: str) -> None:
        self.flink(sql, spark=sql, schema=SCHEMA)

    @pytest.mark.parametrize(
        ("flink", "spark"),
        [
            ("ok IS TRUE IS FALSE", "(ok IS TRUE) IS FALSE"),
            ("a IS NOT NULL IS TRUE", "(a IS NOT NULL) IS TRUE"),
            ("a IS DISTINCT FROM 1 IS TRUE", "(a IS DISTINCT FROM 1) IS TRUE"),
            ("(a > 1) IS TRUE", "(a > 1) IS TRUE"),
            ("NOT ok IS UNKNOWN", "NOT ok IS UNKNOWN"),
            ("ok OR UNKNOWN", "ok OR CAST(NULL AS BOOLEAN)"),
            ("COALESCE(UNKNOWN, ok)", "COALESCE(CAST(NULL AS BOOLEAN), ok)"),
            ("MAP['a', 1, 'b', 2, 'a', 3]", "MAP('a', 3, 'b', 2)"),
            ("MAP['a', 1, c, 2]", "MAP('a', 1, c, 2)"),
            ("UNHEX('616263')", "UNHEX('616263')"),
            ("c LIKE 'a%'", "c LIKE 'a%'"),
            ("c NOT LIKE 'a\\_b'", "c NOT LIKE 'a\\\\_b' ESCAPE '\\0'"),
            ("c LIKE c || '%'", "c LIKE c || '%' ESCAPE '\\0'"),
            ("c LIKE c ESCAPE '!'", "c LIKE c ESCAPE '!'"),
            ("c LIKE 'a!%!!' ESCAPE '!'", "c LIKE 'a!%!!' ESCAPE '!'"),
            ("UNHEX(c)", "CASE WHEN LENGTH(c) % 2 = 1 THEN IF(UNHEX(c) IS NOT NULL, UNHEX(CONCAT('0', SUBSTRING(c, 2))), NULL) ELSE UNHEX(c) END"),
        ],
    )
    def test_written(self, flink: str, spark: str) -> None:
        self.flink(f"SELECT {flink} AS z FROM t", spark=f"SELECT {spark} AS z FROM t", schema=SCHEMA)


class TestLengths(Pairs):
    @pytest.mark.parametrize(
        ("flink", "spark"),
        [
            ("ts + INTERVAL 1 DAY", "ts + INTERVAL 1 DAY"),
            ("ts - INTERVAL -2 HOUR", "ts - INTERVAL -2 HOUR"),
            ("ts + INTERVAL -'1:30' HOUR TO MINUTE", "ts + INTERVAL -'1:30' HOUR TO MINUTE"),
            ("day_ + INTERVAL -'1' DAY", "DATE_ADD(day_, CAST(EXTRACT(DAY FROM INTERVAL -'1' DAY) AS INT))"),
            ("ts + INTERVAL a HOUR", "ts + (a * INTERVAL '1' HOUR)"),
            ("ts - INTERVAL (a * 2) MINUTE", "ts - ((a * 2) * INTERVAL '1' MINUTE)"),
            ("day_ + INTERVAL a MONTH", "day_ + (a * INTERVAL '1' MONTH)"),
            ("day_ + INTERVAL a DAY", "DATE_ADD(day_, CAST(EXTRACT(DAY FROM (a * INTERVAL '1' DAY)) AS INT))"),
            ("day_ - INTERVAL '5' HOUR * a", "DATE_SUB(day_, CAST(EXTRACT(DAY FROM INTERVAL '5' HOUR * a) AS INT))"),
            ("day_ + a * INTERVAL '1' YEAR", "day_ + a * INTERVAL '1' YEAR"),
            ("day_ + INTERVAL '30' HOUR", "day_ + INTERVAL '1' DAY"),
        ],
    )
    def test_written(self, flink: str, spark: str) -> None:
        self.flink(f"SELECT {flink} AS z FROM t", spark=f"SELECT {spark} AS z FROM t", schema=SCHEMA)

    def test_months_between(self) -> None:
        """Backwards, a month more counts where the days are as far apart, and the end is the earlier time of day."""
        made = translate("SELECT TIMESTAMPDIFF(MONTH, ts, TIMESTAMP '2024-01-29 00:00:00') AS z FROM t", "flink", schema=SCHEMA)
        assert "ELSE -(" in made
        assert "= CAST(TIMESTAMP_NTZ '2024-01-29 00:00:00' AS DATE) AND ts - CAST(CAST(ts AS DATE) AS TIMESTAMP_NTZ) > TIMESTAMP_NTZ '2024-01-29 00:00:00' - " in made


class TestAggregates(Pairs):
    def test_a_single_value(self) -> None:
        several = "RAISE_ERROR('SINGLE_VALUE(a) has more than one row')"
        self.flink("SELECT SINGLE_VALUE(a) AS z FROM t", spark=f"SELECT CASE WHEN COUNT(*) > 1 THEN {several} ELSE FIRST(a) END AS z FROM t", schema=SCHEMA)
        self.flink(
            "SELECT SINGLE_VALUE(a) OVER (PARTITION BY b) AS z FROM t",
            spark=f"SELECT CASE WHEN COUNT(*) OVER (PARTITION BY b) > 1 THEN {several} ELSE FIRST(a) OVER (PARTITION BY b) END AS z FROM t",
            schema=SCHEMA,
        )

    def test_a_multiset_as_a_text(self) -> None:
        made = translate("SELECT CAST(COLLECT(c) AS STRING) AS z FROM t", "flink", schema=SCHEMA)
        assert "MAP_ENTRIES(GET(TRANSFORM(ARRAY(COLLECT_LIST(c))" in made

    @pytest.mark.parametrize(
        "condition", ["EXISTS (SELECT 1 FROM s WHERE s.h = t.b)", "a IN (SELECT d FROM s WHERE s.h = t.b)"]
    )
    def test_subqueries_beside_several_sets_of_keys(self, condition: str) -> None:
        sql = f"SELECT b FROM t GROUP BY ROLLUP (a, b) HAVING NOT {condition}"
        self.refused_flink(sql, "beside several sets of keys", at=condition, hint="in a query around it", schema=SCHEMA)
        plain = sql.replace("ROLLUP (a, b)", "a, b")
        assert translate(plain, "flink", schema=SCHEMA) == plain


class TestUnknownTypes(Pairs):
    """What is written for columns of types that nobody knows holds for each type that they may have."""

    @pytest.mark.parametrize(
        ("flink", "spark"),
        [
            ("x['y']", "x['y']"),
            ("x[1]", "TRY_ELEMENT_AT(x, 1)"),
            ("x[n - 1]", "CASE WHEN typeof(x) LIKE 'map%' OR n - 1 > 0 THEN TRY_ELEMENT_AT(x, n - 1) END"),
            ("TRUNCATE(x, 1)", "CASE WHEN x < 0 THEN CEIL(x, 1) ELSE FLOOR(x, 1) END"),
            ("CARDINALITY(`collect`)", "CASE WHEN `collect` IS NOT NULL THEN SIZE(`collect`) END"),
            ("TRUNCATE(x, -\n 1)", "CASE WHEN x < 0 THEN CEIL(x, -1) ELSE FLOOR(x, -1) END"),
        ],
    )
    def test_written(self, flink: str, spark: str) -> None:
        self.flink(f"SELECT {flink} AS z FROM t", spark=f"SELECT {spark} AS z FROM t")
