"""The windows that are found in a statement, and the queries of their rows."""

from __future__ import annotations

import pytest

from dbt.adapters.sparkstream.sql.membership import FrameUse, Key, SampleRow, WindowUse, find


def flat(sql: str) -> str:
    """SQL on one line."""
    return " ".join(sql.split())


WITH = "with a as (select 1), b as (select * from bid where price > 1) "


def inputs(sql: str, dialect: str = "spark", arrival: str | None = None) -> list[list[str]]:
    return [[flat(i.sql) for i in use.inputs] for use in find(sql, dialect, arrival=arrival)]


@pytest.mark.parametrize(
    ("sql", "dialect", "expected"),
    [
        (
            "select * from tumble(bid, bidtime, '10 minutes')",
            "spark",
            "SELECT *, bidtime AS __time, bidtime AS __key_1 FROM bid",
        ),
        (
            f"{WITH} select * from (select * from hop(b, t, '1m', '5m')) as x",
            "spark",
            "WITH b as (select * from bid where price > 1) SELECT *, t AS __time, t AS __key_1 FROM b",
        ),
        (
            "with b as (with a as (select * from bid) select * from a) select * from tumble(b, t, '1m')",
            "spark",
            "WITH b as (with a as (select * from bid) select * from a) SELECT *, t AS __time, t AS __key_1 FROM b",
        ),
        (
            f"{WITH}, c as (select * from tumble(b, t, '1m')) select * from c",
            "spark",
            "WITH b as (select * from bid where price > 1) SELECT *, t AS __time, t AS __key_1 FROM b",
        ),
        (
            "SELECT * FROM SESSION(TABLE Bid PARTITION BY item, DESCRIPTOR(bidtime), INTERVAL '2' MINUTES)",
            "flink",
            "SELECT *, bidtime AS __time, item AS __lane_1, bidtime AS __key_1 FROM Bid",
        ),
        (
            "SELECT COUNT(*) FROM t WHERE a > 1 GROUP BY k, SESSION(ts, INTERVAL '1' HOUR)",
            "flink",
            "SELECT *, ts AS __time, k AS __lane_1, ts AS __key_1 FROM t WHERE a > 1",
        ),
        (
            "select sum(x) over (partition by k, m order by ts desc, id rows 2 preceding) from t where a > 1",
            "spark",
            "SELECT *, ts AS __time, k AS __lane_1, m AS __lane_2, ts AS __key_1, id AS __key_2 from t where a > 1",
        ),
        (
            "SELECT MAX(PRICE) OVER (PARTITION BY K RANGE INTERVAL '3' SECOND PRECEDING) FROM bids",
            "sqlstream",
            "SELECT *, ROWTIME AS __time, K AS __lane_1, ROWTIME AS __key_1 FROM bids",
        ),
        (
            "select sum(x) over (partition by k order by ts rows 2 preceding)",
            "spark",
            "SELECT *, ts AS __time, k AS __lane_1, ts AS __key_1",
        ),
    ],
)
def test_rows_of_a_window(sql: str, dialect: str, expected: str) -> None:
    assert inputs(sql, dialect) == [[expected]]


def test_union_tables_and_arrival() -> None:
    sql = (
        "SELECT sum(q) OVER w FROM trades WINDOW w AS (UNION quotes, (SELECT * FROM old) PARTITION BY trades.sym "
        "ORDER BY ts ROWS_RANGE BETWEEN 3s PRECEDING AND CURRENT ROW)"
    )
    ours = "ts AS __time, trades.sym AS __lane_1, ts AS __key_1, seq AS __key_2"
    assert inputs(sql, "openmldb", "seq") == [
        [
            f"SELECT *, {ours} FROM trades",
            f"SELECT *, {ours} FROM quotes AS trades",
            f"SELECT *, {ours} FROM (SELECT * FROM old) AS trades",
        ]
    ]


@pytest.mark.parametrize(
    "sql",
    [
        "select sum(x) over (partition by k) from t",
        "select row_number() over (order by ts), lag(x) over (order by ts) from t",
        "select k, sum(count(*)) over (order by k) from t group by k",
        "select 1",
        "select sum(x) over w from t window w as (w)",
        "select sum(x) over v from t window v as (w), w as (v)",
    ],
)
def test_what_has_no_rows_on_a_line_of_time(sql: str) -> None:
    assert find(sql) == []


def test_a_frame_that_several_calls_have_is_found_once() -> None:
    over = "over (partition by k order by ts rows 2 preceding)"
    sql = f"select sum(a) {over}, sum(b) {over}, avg(a) over w, sum(a) over w from t window w as (order by ts)"
    assert [(use.name, use.written, use.line) for use in find(sql)] == [
        ("sum over", "partition by k order by ts rows 2 preceding", 1),
        ("w", "order by ts", 1),
    ]


def test_windows_stand_in_the_order_of_the_text() -> None:
    sql = "select sum(x) over (order by ts)\nfrom tumble((select ts from\n hop(t, ts, '1m', '5m')), ts, '5m')"
    assert [(use.name, use.line) for use in find(sql)] == [("sum over", 1), ("tumble", 2), ("hop", 3)]


def test_frames_of_spark_can_be_left_out() -> None:
    sql = "select sum(x) over (order by ts), sum(y) over (order by ts rows_range between 1s preceding and current row)"
    [use] = find(f"{sql} from t", own_frames=False)
    assert use.words == "rows_range between 1s preceding and current row"


def test_members_of_windows() -> None:
    [use] = find(
        "select * from session(click partition by (usr), ts, own, close_on => kind = 'bye', max_duration => '1h')"
    )
    assert isinstance(use, WindowUse) and use.lanes
    assert flat(use.inputs[0].sql).startswith(
        "SELECT *, ts AS __time, usr AS __lane_1, ts AS __key_1, own AS __key_2, kind = 'bye' AS __key_3"
    )
    keys = Key("timestamp", "2024-01-01 00:00:00.000000+01:00"), Key("string", "it's"), Key("boolean", None)
    sql = flat(use.members([[SampleRow(7, 1, keys)]]))
    assert "(7, 1, CAST('2024-01-01 00:00:00.000000+01:00' AS timestamp), CAST('it\\'s' AS string), CAST(NULL AS" in sql
    assert "at most on __key_1, per __lane, closed on __key_3" in sql


def test_members_of_frames() -> None:
    [use] = find(
        "SELECT sum(q) OVER w FROM t WINDOW w AS (UNION u PARTITION BY a, b ORDER BY ts "
        "ROWS BETWEEN 3 PRECEDING AND CURRENT ROW)",
        "openmldb",
    )
    assert isinstance(use, FrameUse)
    assert use.over == "UNION __union_1 PARTITION BY __lane ORDER BY __key_1 ROWS BETWEEN 3 PRECEDING AND CURRENT ROW"
    sql = flat(use.members([[SampleRow(0, 0, (Key("int", "5"),))], []]))
    assert (
        "__union_1 AS ( SELECT * FROM VALUES (0, 0, CAST('5' AS int)) AS t(__id, __lane, __key_1) WHERE FALSE )" in sql
    )


def test_members_of_frames_of_flink() -> None:
    """Flink refuses functions that it hasn't, such as Spark's collect_list."""
    frame = "range between interval '1' hour preceding and current row"
    sql = f"select sum(v) over (partition by k order by ts {frame}) from t"
    [use] = find(sql, "flink")
    assert isinstance(use, FrameUse)
    found = flat(use.members([[SampleRow(0, 0, (Key("timestamp_ntz", "2024-03-01 10:00:00"),))]]))
    assert "RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND CURRENT ROW" in found.upper()
    assert "ARRAY_AGG(STRUCT(__id AS e)) OVER __w" in found
