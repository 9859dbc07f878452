"""Fingerprints of tables: a formatter's changes make no difference, and all others are told in words."""

from __future__ import annotations

from typing import Any

import pytest

from dbt.adapters.sparkstream.secrecy.redaction import learn
from dbt.adapters.sparkstream.sql.core.interval import Interval
from dbt.adapters.sparkstream.sql.streaming import plan
from dbt.adapters.sparkstream.sql.streaming.form import form
from dbt.adapters.sparkstream.streaming.fingerprint import Definition
from dbt.adapters.sparkstream.streaming.sources.reader import source_of

MATCH = "match_recognize (partition by k order by ts measures a.x as y pattern (A+ B) define A as x > 1, B as x < 1)"

FRAME = "select sum(x) over w from t window w as (partition by k order by ts {} between {} preceding and current row)"


@pytest.mark.parametrize(
    ("dialect", "before", "now"),
    [
        ("spark", "select a, count(*) c from bid group by a", "SELECT `A`,\n COUNT(*) AS C\nFROM Bid -- x\nGROUP BY A"),
        ("spark", "select a from t where x <> 1 and y = 2", "SELECT a FROM t WHERE (x != 1) AND (y = 2)"),
        ("spark", "select a from t left outer join d using (k)", "SELECT a FROM t LEFT JOIN d USING (k)"),
        ("spark", "select a from t inner join d using (k)", "SELECT a FROM t JOIN d USING (k);"),
        ("spark", "select sum(x) over (order by ts) s from t", "SELECT SUM(x) OVER (ORDER BY ts ASC) AS s FROM t"),
        ("spark", "select * from << tumble(t, ts, '5m') >>", "SELECT *\nFROM << TUMBLE(t, ts, '5m') >>"),
        ("spark", "from session(t partition by k, ts, '5m')", "FROM SESSION(t PARTITION BY k, ts, '5m')"),
        ("spark", "select x from t |> where x > 1", "SELECT x FROM t |> WHERE x > 1"),
        ("spark", "from t |> aggregate sum(x) s group by k", "FROM t\n|> AGGREGATE SUM(x) s GROUP BY k"),
        ("flink", f"select * from t {MATCH}", f"SELECT * FROM t {MATCH.upper()}"),
        (
            "flink",
            "select sum(x) s from table(tumble(table t, descriptor(ts), interval '10' minutes)) group by window_end",
            "SELECT SUM(x) s\nFROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' MINUTES)) GROUP BY window_end",
        ),
        (
            "openmldb",
            FRAME.format("rows_range", "10s"),
            FRAME.format("rows_range", "10s").upper().replace(" WINDOW", "\nWINDOW").replace("10S", "10s"),
        ),
    ],
)  # fmt: skip
def test_the_same_query(dialect: str, before: str, now: str) -> None:
    assert form(before, dialect) == form(now, dialect)


@pytest.mark.parametrize(
    ("dialect", "before", "now"),
    [
        ("spark", "select a from t where x = 'a'", "select a from t where x = 'A'"),
        ("spark", "select v:Abc from t", "select v:abc from t"),
        ("spark", "select a from t where x = 1", "select a from t where x = 1.0"),
        ("spark", "select a from t where x = '1'", "select a from t where x = 1"),
        ("spark", "select (a + b) * c from t", "select a + b * c from t"),
        ("spark", "select a from t left join d using (k)", "select a from t right join d using (k)"),
        ("spark", "select a from t join d using (k)", "select a from t cross join d"),
        ("spark", "select sum(x) over (order by ts) from t", "select sum(x) over (order by ts desc) from t"),
        ("spark", "select /*+ broadcast(d) */ a from t join d using (k)", "select a from t join d using (k)"),
        ("spark", "select * from tumble(t, ts, '5m')", "select * from tumble(t, ts, '6m')"),
        ("spark", "select a b from t", "select a, b from t"),
        ("flink", f"select * from t {MATCH}", f"select * from t {MATCH}".replace("A+", "A*")),
        (
            "openmldb",
            FRAME.format("rows", "10"),
            FRAME.format("rows_range", "10"),
        ),
    ],
)  # fmt: skip
def test_another_query(dialect: str, before: str, now: str) -> None:
    assert form(before, dialect) != form(now, dialect)


def definition(sql: str = "SELECT id, v FROM stream_bid WHERE v > 1", **changes: Any) -> Definition:
    minutes, reader = changes.pop("minutes", 5), changes.pop("reader", {})
    source = source_of("stream_bid", "db.bid", reader, event_time="ts", watermark=Interval.parse(f"{minutes} minutes"))
    given: dict[str, Any] = {
        "dialect": "spark",
        "sources": (source,),
        "columns": (("id", "bigint"), ("v", "int")),
        "flush": False,
        "zone": "UTC",
        **changes,
    }
    return Definition(sql, **given)


def test_what_earlier_versions_have_recorded() -> None:
    """The hash of version 0.2.0, as that version has computed it."""
    assert definition().is_of("186eb2b7c19f481b7fdf47bce7ee0a27")
    assert not definition(minutes=10).is_of("186eb2b7c19f481b7fdf47bce7ee0a27")
    written = definition("select id, v from stream_bid where v > 1")
    assert written.is_of(definition().fingerprint)
    assert not written.is_of(definition().fingerprint_of_0_2)


@pytest.mark.parametrize(
    ("now", "told"),
    [
        (definition(minutes=10), ["the watermark of db.bid: 5 minutes before, 10 minutes now"]),
        (
            definition(
                "SELECT id, v, k\nFROM stream_bid\nWHERE v > 2",
                columns=(("id", "bigint"), ("v", "int"), ("k", "string")),
            ),
            [
                "the column k is new",
                "the query: nothing before, `SELECT id, v, k` now",
                "the query: `SELECT id, v FROM stream_bid WHERE v > 1` before, `WHERE v > 2` now",
            ],
        ),
        (definition(columns=(("id", "bigint"), ("v", "bigint"))), ["the column v: int before, bigint now"]),
        (definition(columns=(("id", "bigint"),)), ["the column v is gone"]),
        (definition(zone="Europe/Berlin"), ["the time zone: UTC before, Europe/Berlin now"]),
        (definition(flush=True), ["flush: false before, true now"]),
        (definition(sources=()), ["the stream of db.bid is gone"]),
        (definition("select id, v from Stream_Bid where v > 1"), []),
    ],
)  # fmt: skip
def test_what_has_changed_is_told(now: Definition, told: list[str]) -> None:
    assert now.changes(definition().recorded()) == told


def test_options_are_told_by_name_and_secrets_not_at_all() -> None:
    learn({"password": "hidden-word-1"})
    before = definition("SELECT 'hidden-word-1'", reader={"format": "x", "options": {"token": "hidden-word-2", "a": 1}})
    now = definition("SELECT 'hidden-word-1'", reader={"format": "x", "options": {"token": "hidden-word-3"}})
    assert "hidden-word" not in "".join(before.recorded())
    assert now.changes(before.recorded()) == [
        "options's token of db.bid has another value",
        "options's a of db.bid is gone",
    ]
    assert now.other_rows(before.recorded())
    assert not definition(minutes=10, reader={"format": "x", "schema": "id int"}).other_rows(
        definition(reader={"format": "x", "schema": "id bigint", "select": ["*"]}).recorded()
    )


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT * FROM bid WHERE v > 1", False),
        ("SELECT a.* FROM bid AS a JOIN dim USING (id)", False),
        ("SELECT * FROM tumble(bid, ts, '5m')", True),
        ("SELECT window_end, count(*) AS n FROM tumble(bid, ts, '5m') GROUP BY window_start, window_end", True),
    ],
)
def test_queries_with_state(sql: str, expected: bool) -> None:
    schema = {"bid": {"id": "bigint", "ts": "timestamp", "v": "int"}}
    assert plan(sql, streams=["bid"], schema=schema, times={"bid": "ts"}).has_state is expected
