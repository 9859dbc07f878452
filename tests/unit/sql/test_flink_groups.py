"""Flink SQL: subqueries beside GROUP BY, sets of keys, names of columns and places in arrays; the rows are recorded in Flink."""

# A statement and its translation stay on one line.
# ruff: noqa: E501
# fmt: off

from __future__ import annotations

import pytest

from dbt.adapters.sparkstream.sql import translate
from tests.unit.sql.pairs import Pairs

SCHEMA = {
    "t": {"a": "int", "b": "bigint", "c": "string"},
    "s": {"d": "int", "h": "bigint"},
    "x": {"n": "int", "ts": "timestamp_ntz", "ar": "array<int>", "mp": "map<string,int>"},
}


class TestGroups(Pairs):
    def becomes(self, flink: str, spark: str) -> None:
        self.flink(flink, spark=spark, schema=SCHEMA)

    def test_a_subquery_reads_a_key(self) -> None:
        """Spark wants it in GROUP BY or in an aggregate; a key is the same in all rows of its group."""
        one = "(SELECT MAX(d) FROM s WHERE s.h = t.b)"
        self.becomes(f"SELECT b, {one} AS m FROM t GROUP BY b", f"SELECT b, FIRST({one}) AS m FROM t GROUP BY b")
        self.becomes(f"SELECT b FROM t GROUP BY b HAVING MAX(a) > {one}", f"SELECT b FROM t GROUP BY b HAVING MAX(a) > FIRST({one})")
        for same in ("SELECT b, (SELECT MAX(d) FROM s) AS m FROM t GROUP BY b", f"SELECT b, {one} AS m FROM t", f"SELECT MAX({one}) AS m FROM t GROUP BY b"):
            self.becomes(same, same)
        self.refused_flink(f"SELECT b, {one} AS m FROM t GROUP BY ROLLUP(b)", "several sets of keys", at=one, hint="in a query around it", schema=SCHEMA)

    def test_rollup_has_each_set_once(self) -> None:
        self.becomes("SELECT b FROM t GROUP BY ROLLUP(b, b)", "SELECT b FROM t GROUP BY GROUPING SETS ((), (b))")
        self.becomes("SELECT b FROM t GROUP BY CUBE(b, b), a", "SELECT b FROM t GROUP BY GROUPING SETS ((a), (b, a))")

    def test_many_sets(self) -> None:
        """CUBE doubles its sets with each key: they are counted, not made, and stay as they are if all keys differ."""
        keys = ", ".join(f"c{n}" for n in range(40))
        self.flink(f"SELECT c0, GROUPING(c0) AS z FROM t GROUP BY CUBE ({keys})", spark=f"SELECT c0, CAST(GROUPING(c0) AS BIGINT) AS z FROM t GROUP BY CUBE ({keys})")
        window = f"SELECT window_start, window_end, COUNT(*) AS z FROM TABLE(HOP(TABLE x, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '5' MINUTE)) GROUP BY window_start, window_end, CUBE ({keys})"
        assert f"CUBE ({keys})" in translate(window, dialect="flink")
        for group in (f"CUBE ({keys}), c0", f"CUBE ({keys}), ()", f"DISTINCT CUBE ({keys})", f"GROUPING SETS (CUBE ({keys}), (c0))"):
            self.refused_flink(f"SELECT c0 FROM t GROUP BY {group}", "more than 4096 grouping sets", at=f"GROUP BY {group}", hint="fewer keys")

    def test_unnamed_columns(self) -> None:
        """They are numbered by their places, and beside aggregates by the different names before them."""
        self.becomes("SELECT a, a, a + 1 FROM t", "SELECT a, a AS `a0`, a + 1 AS `EXPR$2` FROM t")
        self.becomes("SELECT b, b, MAX(a) FROM t GROUP BY b", "SELECT b, b AS `b0`, MAX(a) AS `EXPR$1` FROM t GROUP BY b")

    def test_places_in_arrays(self) -> None:
        """What stands at 0 or below is NULL."""
        self.becomes("SELECT ar[n] AS e, ar[2] AS f FROM x", "SELECT GET(ar, n - 1) AS e, TRY_ELEMENT_AT(ar, 2) AS f FROM x")

    @pytest.mark.parametrize(
        ("sql", "words", "at", "hint"),
        [
            ("SELECT v.b FROM (SELECT a AS b, b FROM t) AS v", "two columns of the subquery", "v.b", "another way"),
        ],
    )
    def test_refused(self, sql: str, words: str, at: str, hint: str | None) -> None:
        self.refused_flink(sql, words, at=at, hint=hint, schema=SCHEMA)
