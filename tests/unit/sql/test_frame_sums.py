"""Sums over frames that come from running sums, and those that don't, and why. Rows are compared in tests/property."""

from __future__ import annotations

import pytest

from dbt.adapters.sparkstream.sql import explain, translate

SCHEMA = {
    "t": {
        "k": "string", "ts": "timestamp", "wall": "timestamp_ntz", "dy": "date", "n": "bigint", "v": "int",
        "b": "bigint", "m": "decimal(10,2)", "wide": "decimal(18,4)", "huge": "decimal(38,2)", "d": "double",
        "f": "float",
    }
}  # fmt: skip
LAST_HOUR = "PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND CURRENT ROW"
LAST_ROWS = "PARTITION BY k ORDER BY ts ROWS BETWEEN 99 PRECEDING AND CURRENT ROW"


def decision(call: str, window: str, dialect: str = "flink") -> tuple[str | None, str | None]:
    """The rule that rewrote a call over a window, and why none did."""
    [found] = explain(f"SELECT k, {call} OVER ({window}) AS x FROM t", dialect, schema=SCHEMA).decisions
    return found.rule, found.reason


@pytest.mark.parametrize(
    ("call", "window"),
    [
        ("SUM(v)", LAST_HOUR),
        ("COUNT(*)", LAST_ROWS),
        ("AVG(m)", LAST_HOUR.replace("ts", "wall")),
        ("SUM(b + 1)", "ORDER BY dy RANGE BETWEEN INTERVAL '3' DAY PRECEDING AND INTERVAL '1' DAY PRECEDING"),
        ("COUNT(k)", "ORDER BY ts DESC, v ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING"),
    ],
)
def test_applies(call: str, window: str) -> None:
    assert decision(call, window) == ("frame-sums", None)


@pytest.mark.parametrize(
    ("call", "window", "why"),
    [
        ("MAX(v)", LAST_HOUR, "max can't be subtracted exactly"),
        ("SUM(d)", LAST_HOUR, "sum of a double can't be subtracted exactly"),
        ("VAR_POP(v)", LAST_HOUR, "its calls would take more sums than they save"),
        ("SUM(huge)", LAST_HOUR, "sum of a decimal(38,2) can't be subtracted exactly"),
        ("LAST_VALUE(v)", LAST_HOUR, "last_value can't be subtracted"),
        ("SUM(v)", LAST_HOUR.replace("ts", "ts DESC"), "rows without a key come last"),
        ("SUM(v)", LAST_HOUR.replace("ts", "n").replace("INTERVAL '1' HOUR", "3"), "its frame goes by a key of"),
        ("SUM(v)", LAST_HOUR.replace("ts", "x"), "its frame goes by a type that nobody knows"),
        ("SUM(v)", LAST_HOUR.replace("HOUR", "MONTH"), "its bounds are no intervals of a fixed length"),
        ("SUM(v)", LAST_HOUR.replace("'1' HOUR", "'86399.999999' SECOND(5, 6)"), "a microsecond more"),
        ("SUM(v)", LAST_ROWS.replace("99", "5"), "its frame has no more than 8 rows"),
        ("SUM(v)", LAST_ROWS.replace("99", "1 + 98"), "its bounds are no constant whole numbers"),
    ],
)  # fmt: skip
def test_does_not_apply(call: str, window: str, why: str) -> None:
    rule, reason = decision(call, window)
    assert rule is None
    assert (reason or "").startswith(why)


def test_types_have_to_be_known() -> None:
    [found] = explain(f"SELECT SUM(v) OVER ({LAST_HOUR}) AS x FROM t", "flink").decisions
    assert found.reason == "sum of a type that nobody knows can't be subtracted exactly"


def test_frames_from_the_first_row_have_no_rule() -> None:
    for frame in ("", "RANGE UNBOUNDED PRECEDING"):
        sql = f"SELECT SUM(v) OVER (PARTITION BY k ORDER BY ts {frame}) AS x FROM t"
        assert explain(sql, "flink", schema=SCHEMA).decisions == ()


def test_groups_have_none() -> None:
    sql = f"SELECT k, SUM(COUNT(*)) OVER ({LAST_ROWS}) AS x FROM t GROUP BY k, ts"
    [found] = explain(sql, "flink", schema=SCHEMA).decisions
    assert found.reason == "the rows are groups: put the aggregation in a subquery"


def test_the_users_spark_sql_stays() -> None:
    sql = f"SELECT k, sum(v) OVER ({LAST_HOUR}) AS x FROM t"
    assert translate(sql, schema=SCHEMA) is sql
    hop = f"hop((SELECT *, sum(v) OVER ({LAST_HOUR}) AS x FROM t), ts, '1 minute', '1 hour')"
    text = translate(f"SELECT count(*) AS n FROM {hop} GROUP BY window_start, window_end", schema=SCHEMA)
    assert "__slice" in text
    assert f"sum(v) OVER ({LAST_HOUR}) AS x" in text


def test_off_frames_stay() -> None:
    sql = f"SELECT k, COUNT(*) OVER ({LAST_HOUR}) AS x FROM t"
    assert translate(sql, "flink", schema=SCHEMA, optimize=False) == sql
    assert "__gone" in translate(sql, "flink", schema=SCHEMA)


def test_of_one_frame_all_calls_or_none() -> None:
    sql = f"SELECT COUNT(*) OVER w AS n, MIN(v) OVER w AS low FROM t WINDOW w AS ({LAST_HOUR})"
    [found] = explain(sql, "flink", schema=SCHEMA).decisions
    assert (found.rule, found.reason) == (None, "min can't be subtracted exactly")
    assert translate(sql, "flink", schema=SCHEMA) == sql


def test_windows_of_one_frame_are_written_once() -> None:
    calls = ", ".join(f"{call} OVER w AS x{i}" for i, call in enumerate(("COUNT(*)", "SUM(v)", "AVG(v)")))
    sql = f"SELECT {calls}, COUNT(v) OVER ({LAST_ROWS}) AS y FROM t WHERE v > 0 WINDOW w AS ({LAST_HOUR}) ORDER BY k"
    text = translate(sql, "flink", schema=SCHEMA)
    ranged, rows = (f"PARTITION BY k ORDER BY ts {kind} BETWEEN UNBOUNDED PRECEDING AND" for kind in ("RANGE", "ROWS"))
    assert text.endswith(
        f"WINDOW w AS ({LAST_HOUR}),\n  __come_1 AS ({ranged} CURRENT ROW),\n"
        f"  __gone_1 AS ({ranged} INTERVAL '3600.000001' SECOND PRECEDING),\n"
        f"  __come_2 AS ({rows} CURRENT ROW),\n  __gone_2 AS ({rows} 100 PRECEDING) ORDER BY k"
    )


def test_each_query_has_windows_of_its_own() -> None:
    one = f"SELECT COUNT(*) OVER ({LAST_HOUR}) AS x FROM t"
    text = translate(
        f"WITH a AS ({one}) SELECT x FROM a UNION ALL {one} UNION ALL (SELECT x FROM ({one}))", "flink", schema=SCHEMA
    )
    assert text.count("WINDOW\n") == 3
    assert text.count("__gone_1 AS") == 3


ROWS_RANGE = "PARTITION BY k ORDER BY ts ROWS_RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND CURRENT ROW"


@pytest.mark.parametrize(
    ("call", "window", "rule"),
    [
        ("sum(v)", ROWS_RANGE, "frame-sums"),
        ("count(k) FILTER (WHERE v > 0)", ROWS_RANGE, "frame-sums"),
        ("avg(v)", f"{ROWS_RANGE} EXCLUDE CURRENT_ROW", "frame-sums"),
        ("sum(v)", f"{ROWS_RANGE} EXCLUDE CURRENT_TIME", None),
        ("sum(v)", f"{ROWS_RANGE} MAXSIZE 5", None),
        ("sum(b)", ROWS_RANGE, "frame-sums"),
        ("avg(m)", ROWS_RANGE, "frame-sums"),
        ("avg(wide)", ROWS_RANGE, None),
        ("max(v)", ROWS_RANGE, None),
        ("sum(v)", "PARTITION BY k ORDER BY n ROWS_RANGE BETWEEN 3 PRECEDING AND CURRENT ROW", None),
        ("sum(v)", "PARTITION BY k ORDER BY v ROWS_RANGE BETWEEN 3 PRECEDING AND CURRENT ROW", "frame-sums"),
    ],
)
def test_frames_that_spark_has_not(call: str, window: str, rule: str | None) -> None:
    sql = f"SELECT {call} OVER ({window}) AS x FROM t"
    assert [d.rule for d in explain(sql, schema=SCHEMA).decisions] == ([rule] if rule else [])
    assert ("__order" in translate(sql, schema=SCHEMA)) is (rule is None)
    assert "__order" in translate(sql, schema=SCHEMA, optimize=False)


def test_columns_keep_their_names() -> None:
    sql = f"SELECT k, sum(v) OVER ({ROWS_RANGE}), count(*) OVER ({ROWS_RANGE}) AS n FROM t"
    assert translate(sql, schema=SCHEMA) == translate(sql, schema=SCHEMA, optimize=False)


def test_one_call_that_needs_the_order_is_enough() -> None:
    sql = f"SELECT sum(v) OVER w AS s, max(v) OVER w AS m FROM t WINDOW w AS ({ROWS_RANGE})"
    assert translate(sql, schema=SCHEMA) == translate(sql, schema=SCHEMA, optimize=False)


def test_a_window_that_order_by_names() -> None:
    text = translate(f"SELECT k, COUNT(*) OVER ({LAST_HOUR}) AS c FROM t ORDER BY c LIMIT 5", "flink", schema=SCHEMA)
    assert "FROM t\nWINDOW\n  __come_1" in text
    assert text.endswith("LIMIT 5")
