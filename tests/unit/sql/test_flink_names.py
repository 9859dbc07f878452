"""Names in Flink SQL: reserved words, columns of USING, and what ORDER BY means; each rule was asked of Flink 2.3."""

# A statement and its translation stay on one line.
# ruff: noqa: E501
# fmt: off

from __future__ import annotations

import json

import pytest

from dbt.adapters.sparkstream.sql import TranslationError, translate
from tests.golden.runner import DATA
from tests.unit.sql.pairs import Pairs

SCHEMA = {
    "t": {"a": "int", "b": "bigint", "c": "string"},
    "u": {"a": "int", "d": "int"},
}
_WORDS = json.loads((DATA / "flink_queries.json").read_text(encoding="utf-8"))["words"]


class TestWords(Pairs):
    def test_words_of_flinks_parser_are_names(self) -> None:
        """Spark takes most of them as names; the rest is refused by it, or by sqlglot."""
        for word in _WORDS["names"].split():
            assert translate(f"SELECT a AS {word} FROM t", "flink") == f"SELECT a AS {word} FROM t"
        for word in _WORDS["reserved"].split():
            assert translate(f"SELECT a AS `{word}` FROM t", "flink") == f"SELECT a AS `{word}` FROM t"

    @pytest.mark.parametrize(
        ("sql", "spark"),
        [
            ("SELECT value, t.year FROM t AS day", "SELECT value, t.year FROM t AS day"),
            ("WITH year AS (SELECT 1 AS x) SELECT * FROM year", "WITH year AS (SELECT 1 AS x) SELECT * FROM year"),
            ("SELECT a FROM raw.match", "SELECT a FROM raw.match"),  # as source() writes it
            ("SELECT TIMESTAMPADD(YEAR, 1, ts) AS x FROM t", "SELECT TIMESTAMPADD(YEAR, 1, ts) AS x FROM t"),
            ("SELECT CURRENT_DATE AS x, LOCALTIMESTAMP AS y FROM t", "SELECT CURRENT_DATE AS x, LOCALTIMESTAMP() AS y FROM t"),
            ("SELECT MAP['a', 1] AS x FROM t", "SELECT MAP('a', 1) AS x FROM t"),
        ],
    )
    def test_words_that_are_no_names(self, sql: str, spark: str) -> None:
        self.flink(sql, spark=spark)


class TestUsing(Pairs):
    @pytest.mark.parametrize(
        "sql",
        [
            "SELECT a + 1 AS z FROM t JOIN u USING (a)",
            "SELECT COUNT(*) FILTER (WHERE a > 1) AS n FROM t JOIN u USING (a)",
            "SELECT a FROM t JOIN u USING (a) GROUP BY a",
            "SELECT a FROM t JOIN u USING (a) ORDER BY a",
            "SELECT t.a AS z FROM t JOIN u USING (a) WHERE t.a > 1 AND d > 2 ORDER BY u.a",
            "SELECT d FROM t JOIN u USING (a) WHERE EXISTS (SELECT 1 FROM t AS x WHERE x.a = u.a)",
        ],
    )
    def test_one_column(self, sql: str) -> None:
        self.flink(sql, spark=sql, schema=SCHEMA)

    def test_its_type(self) -> None:
        self.flink(
            "SELECT SUM(a) AS s FROM t JOIN u USING (a)",
            spark="SELECT CAST(SHIFTRIGHT(SUM(a) << 32, 32) AS INT) AS s FROM t JOIN u USING (a)",
            schema=SCHEMA,
        )


class TestOrder(Pairs):
    @pytest.mark.parametrize(
        ("order", "spark"),
        [
            ("1", "1"),
            ("+2 DESC", "2 DESC"),
            ("1.9, b", "1, b"),
            ("2e0", "2"),
            ("(1)", "1"),
            ("-1, a", "CAST(-1 AS INT), a"),
            ("- 5", "CAST(- 5 AS INT)"),
            ("a + 1, 'x'", "a + 1, 'x'"),
        ],
    )
    def test_places_and_constants(self, order: str, spark: str) -> None:
        self.flink(f"SELECT a, b FROM t ORDER BY {order}", spark=f"SELECT a, b FROM t ORDER BY {spark}", schema=SCHEMA)

    @pytest.mark.parametrize(
        ("sql", "message", "at"),
        [
            ("SELECT a AS x, b AS x FROM t ORDER BY x", "x is ambiguous", "x"),
            ("SELECT a, b AS a FROM t ORDER BY 1 + a", "a is ambiguous", "a"),
            ("SELECT *, b AS a FROM t ORDER BY a", "a is ambiguous", "a"),
            ("SELECT b AS x, a AS x FROM t UNION ALL SELECT a, b FROM t ORDER BY 2", "x is ambiguous", "2"),
            ("SELECT a AS x, b AS X FROM t ORDER BY x", "doesn't tell x from X", "x"),
        ],
    )
    def test_refused(self, sql: str, message: str, at: str) -> None:
        with pytest.raises(TranslationError) as raised:
            translate(sql, "flink", schema=SCHEMA)
        assert message in raised.value.message
        assert sql[raised.value.column - 1 :].startswith(at) and raised.value.column > sql.index("ORDER")

    def test_window_functions(self) -> None:
        """Spark sorts by none: they become columns of a query within, and so does what isn't selected."""
        self.flink("SELECT a FROM t ORDER BY RANK() OVER (ORDER BY b) DESC, t.b + 1, 1, a LIMIT 2", spark="SELECT * EXCEPT (__order_0, __order_1) FROM (SELECT a, t.b + 1 AS __order_0, CAST(RANK() OVER (ORDER BY b) AS BIGINT) AS __order_1 FROM t) ORDER BY __order_1 DESC, __order_0, 1, a LIMIT 2")
        self.flink("SELECT b, COUNT(*) FROM t GROUP BY b HAVING COUNT(*) > 1 ORDER BY (ROW_NUMBER() OVER (ORDER BY b))", spark="SELECT * EXCEPT (__order_0) FROM (SELECT b, COUNT(*) AS `EXPR$1`, (CAST(ROW_NUMBER() OVER (ORDER BY b) AS BIGINT)) AS __order_0 FROM t GROUP BY b HAVING COUNT(*) > 1) ORDER BY __order_0")
        self.refused_flink("SELECT a AS b FROM t ORDER BY MAX(b) OVER (PARTITION BY a)", "b is an alias", at="b", hint="repeat")
        self.flink("SELECT a FROM t ORDER BY (SELECT RANK() OVER (ORDER BY b) FROM t LIMIT 1)", spark="SELECT a FROM t ORDER BY (SELECT CAST(RANK() OVER (ORDER BY b) AS BIGINT) FROM t LIMIT 1)")

    def test_names_that_a_star_gives(self) -> None:
        """Of two columns of one name, the second one of a star gets a number."""
        join = "FROM t JOIN u ON t.b = u.d"
        star = "`t`.`a`, `t`.`b`, `t`.`c`, `u`.`a` AS `a0`, `u`.`d`"
        self.flink(f"SELECT * {join} ORDER BY a, a0", spark=f"SELECT {star} {join} ORDER BY a, a0", schema=SCHEMA)
        self.flink(f"SELECT t.a, d {join} ORDER BY a", spark=f"SELECT t.a, d {join} ORDER BY a", schema=SCHEMA)
        self.flink("SELECT a, * FROM t ORDER BY a", spark="SELECT a, `t`.`a` AS `a0`, `t`.`b`, `t`.`c` FROM t ORDER BY a", schema=SCHEMA)
