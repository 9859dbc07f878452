"""Queries of Spark's own, of every syntax that it has, stay as they are beside a window, byte for byte.

`spark_queries.sql` holds one query a line; Spark 4.3's parser takes each of them. sqlglot parses most.
"""

# ruff: noqa: E501

from __future__ import annotations

from pathlib import Path

import pytest

from dbt.adapters.sparkstream.sql import TranslationError, translate
from dbt.adapters.sparkstream.sql.core.errors import RequestError
from dbt.adapters.sparkstream.sql.requests import request_sql
from dbt.adapters.sparkstream.sql.streaming import plan
from dbt.adapters.sparkstream.sql.translate import tables
from tests.unit.sql.pairs import Pairs

_FILE = Path(__file__).with_name("spark_queries.sql").read_text(encoding="utf-8")
QUERIES = [line for line in _FILE.splitlines() if line and not line.startswith("--")]
TUMBLE = "TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTES)"
BY_WINDOW = f"SELECT window_start, count(*) AS n FROM {TUMBLE} GROUP BY window_start"
PLACES = [
    "WITH q AS (\n{}\n) " + BY_WINDOW,
    f"WITH w AS ({BY_WINDOW})\n{{}}",
    f"SELECT * FROM ({BY_WINDOW}) AS w CROSS JOIN (\n{{}}\n) AS q",
    f"SELECT * FROM {TUMBLE} WHERE EXISTS (\n{{}}\n)",
    f"{BY_WINDOW}\nUNION ALL\n(\n{{}}\n)",
    "INSERT INTO t WITH q AS (\n{}\n) " + BY_WINDOW,
]
PIPE = "FROM u |> DROP a"
"""A query that sqlglot can't parse."""


def test_there_are_enough() -> None:
    assert len(QUERIES) == len(set(QUERIES)) >= 300


@pytest.mark.parametrize("query", QUERIES)
def test_stays_beside_a_window(query: str) -> None:
    window = translate(f"SELECT * FROM {TUMBLE}").removeprefix("SELECT * FROM ")
    for place in PLACES:
        text = place.replace("{}", query)
        assert translate(text) == text.replace(TUMBLE, window)


class TestOpaque(Pairs):
    """What is known of a query that can't be parsed, and what is refused."""

    def test_the_block_of_the_window_is_understood(self) -> None:
        self.refused(f"WITH q AS ({PIPE}) SELECT x FROM {TUMBLE} GROUP x", "can't be parsed", at="x")
        self.refused(f"WITH q AS (SELECT * FROM {TUMBLE} WHERE x IS IS 1) {PIPE}", "can't be parsed", at="1")
        self.refused(f"WITH q AS (SELECT * FROM {TUMBLE} |> DROP a) FROM u", "can't be parsed", at="DROP")

    def test_windows_within(self) -> None:
        inner = f"SELECT * FROM {TUMBLE}"
        for text in (
            f"FROM ({inner}) |> DROP a",
            f"WITH w AS ({inner}) FROM w |> DROP a",
            f"FROM u |> SET a = ({inner})",
        ):
            assert translate(text).count("window(CAST(bidtime") == 1
            assert "TUMBLE(" not in translate(text)

    def test_paths_of_variants(self) -> None:
        window = translate(f"SELECT * FROM {TUMBLE}").removeprefix("SELECT * FROM ")
        text = (
            f"SELECT v:a.b::int, w.v:`a b`, f(v):x[0].y, :p FROM {TUMBLE} AS w "
            "WHERE v:a::int > :p AND w.v:['x'] = 1 ORDER BY v:a, :q"
        )
        assert translate(text) == text.replace(TUMBLE, window)

    def test_statements_around(self) -> None:
        window = translate(f"SELECT * FROM {TUMBLE}").removeprefix("SELECT * FROM ")
        for text in (
            f"INSERT WITH SCHEMA EVOLUTION INTO x {BY_WINDOW}",
            f"BEGIN FOR r AS {BY_WINDOW} DO SELECT r.n; END FOR; END",
            f"x: BEGIN l: FOR {BY_WINDOW} DO SET do = 1; INSERT INTO x {BY_WINDOW}; END FOR l; SELECT do FROM ({BY_WINDOW}); END",
            f"BEGIN FOR r AS SELECT 1 AS n DO INSERT INTO x {BY_WINDOW}; END FOR; END",
            f"BEGIN WHILE v < 3 DO INSERT INTO x {BY_WINDOW}; SET v = v + 1; END WHILE; END",
        ):
            assert translate(text) == text.replace(TUMBLE, window)

    def test_columns_are_unknown(self) -> None:
        window = "TUMBLE({}, ts, '5m')"
        self.refused(
            f"SELECT * FROM {window.format('(SELECT a FROM u)')}", "has no column ts", at="ts", hint="it has a"
        )
        assert "ts" in translate(f"SELECT * FROM {window.format(f'({PIPE})')}")
        # The CTE hides the table of its name.
        text = f"WITH u AS ({PIPE}) SELECT * FROM {window.format('TABLE u')}"
        assert translate(text, schema={"u": {"a": "int"}}).startswith(f"WITH u AS ({PIPE}) SELECT * FROM (")
        assert tables(text) == []

    def test_no_rule_where_it_may_use_any_column(self) -> None:
        hop = "SELECT window_start, window_end, sum(x) AS s FROM HOP(TABLE bid, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '1' HOUR){} GROUP BY window_start, window_end"
        schema = {"bid": {"ts": "timestamp_ntz", "x": "int"}}
        assert "slices" in translate(hop.format(" WHERE x > 1"), schema=schema)
        assert "slices" in translate(f"WITH q AS ({PIPE}) {hop.format('')}", schema=schema)
        for where in (f" WHERE EXISTS ({PIPE})", f" WHERE x IN ({PIPE})"):
            assert "slices" not in translate(hop.format(where), schema=schema)

    def test_streams(self) -> None:
        by = f"SELECT window_start, window_end, count(*) AS n FROM {TUMBLE} GROUP BY window_start, window_end"
        assert PIPE in plan(f"WITH q AS ({PIPE}) {by}", streams=["bid"]).query
        for text in (
            f"WITH q AS (FROM BID |> DROP a) {by}",
            f"WITH w AS ({by}) FROM w |> DROP n",
            "FROM bid |> DROP a",
        ):
            with pytest.raises(TranslationError, match="what isn't understood can't read a stream"):
                plan(text, streams=["bid"])

    def test_requests(self) -> None:
        for text in (f"SELECT * FROM t JOIN ({PIPE}) AS q USING (k)", "FROM t |> DROP a"):
            with pytest.raises((TranslationError, RequestError), match="can't be parsed"):
                request_sql(text, "spark", {"k": 1}, schema={"t": {"k": "int"}})

    def test_other_dialects_understand_all(self) -> None:
        self.refused(f"WITH q AS ({PIPE}) {BY_WINDOW}", "can't be parsed", at="DROP", dialect="flink")

    def test_takes_time_in_proportion(self) -> None:
        deep = "SELECT * FROM (" * 60 + "SELECT $$ FROM u" + ")" * 60
        with pytest.raises(TranslationError):
            translate(f"{BY_WINDOW} WHERE $$ IN ({deep})")
        wide = ", ".join(f"q{i} AS ({PIPE})" for i in range(300))
        assert wide in translate(f"WITH {wide} {BY_WINDOW}")


class TestNamesOfOurs(Pairs):
    """Words of ours that are Spark's or the user's own."""

    def test_last_is_an_alias(self) -> None:
        self.unchanged(
            "SELECT * FROM t last JOIN u ON last.a = u.a",
            "FROM t LAST JOIN u ON LAST.a = u.a SELECT 1",
            "SELECT * FROM (SELECT 1 AS a) last JOIN u USING (a) ORDER BY u.b",
            "SELECT * FROM t AS a, db.t last LEFT JOIN u ON last.a = u.a",
        )

    def test_last_join(self) -> None:
        joined = "LEFT JOIN ( SELECT * EXCEPT (__nth) FROM"
        for text in (
            "SELECT * FROM t LAST JOIN u ORDER BY u.ts ON t.k = u.k",
            "SELECT * FROM t AS a LAST JOIN u ON a.k = u.k",
        ):
            assert joined in " ".join(translate(text).split())
        assert joined in " ".join(translate("SELECT * FROM t LAST JOIN u ON t.k = u.k", "openmldb").split())

    def test_functions(self) -> None:
        own = "tumble_start(a), tumble_end(a, b), session(b), hop(c, 1), hop_end(d), session_start(e, 'x')"
        self.unchanged(f"SELECT {own} FROM t", f"SELECT 1 FROM t WHERE tumble_start(a) > 1 GROUP BY {own}")
        assert own in translate(f"SELECT {own} FROM {TUMBLE}")
        assert own in translate(f"SELECT {own} FROM t GROUP BY TUMBLE(ts, INTERVAL '1' HOUR)")
        assert own in translate(f"WITH q AS (SELECT {own} FROM u |> DROP a) {BY_WINDOW}")
