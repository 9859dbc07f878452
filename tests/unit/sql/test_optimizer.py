"""When rules apply, when not, and what of the user's text stays. Rows are compared in tests/property."""

from __future__ import annotations

from contextlib import suppress

import pytest

from dbt.adapters.sparkstream.sql import TranslationError, explain, translate

SCHEMA = {"bid": {"ts": "timestamp", "k": "string", "v": "int", "m": "decimal(10,2)", "big": "decimal(38,2)"}}
HOP = "HOP(TABLE bid, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '1' HOUR)"
CUMULATE = "CUMULATE(TABLE bid, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '1' HOUR)"
SESSION = "SESSION(TABLE bid PARTITION BY k, DESCRIPTOR(ts), INTERVAL '10' MINUTE)"
ALL_IN_ONE = SESSION.replace(" PARTITION BY k", "")
LIMITED = "session(bid PARTITION BY k, ts, '10 minutes', max_duration => '1 hour')"
CLOSED = "session(bid PARTITION BY k, ts, '10 minutes', close_on => v > 5)"
BOUNDS = "window_start, window_end"
DAY = "TIMESTAMP '2020-01-01 00:00:00'"


def decision(sql: str, typed: bool = True) -> tuple[str | None, str | None]:
    """The rule that rewrote the one window of a statement, and why none did."""
    [found] = explain(sql, schema=SCHEMA if typed else None).decisions
    return found.rule, found.reason


@pytest.mark.parametrize(
    ("sql", "rule"),
    [
        (f"SELECT {BOUNDS}, count(*) AS n FROM {HOP} GROUP BY {BOUNDS}", "hop-slices"),
        (f"SELECT {BOUNDS}, count(*) AS n FROM {CUMULATE} GROUP BY {BOUNDS}", "cumulate-slices"),
        (f"SELECT count(*) AS n FROM {HOP} AS h GROUP BY h.window_end", "hop-slices"),
        (f"SELECT {BOUNDS}, k, sum(v) FROM {HOP} GROUP BY 1, 2, 3", "hop-slices"),
        (f"SELECT upper(k) AS u, sum(v) AS s FROM {HOP} GROUP BY {BOUNDS}, u HAVING s > 1", "hop-slices"),
        (f"SELECT k, avg(m) AS a FROM {HOP} WHERE v IN (SELECT v FROM t) GROUP BY {BOUNDS}, CUBE (k)", "hop-slices"),
        (f"WITH w AS (SELECT {BOUNDS}, min(v) AS v FROM {HOP} GROUP BY {BOUNDS}) SELECT * FROM w", "hop-slices"),
        (
            f"SELECT * FROM (SELECT {BOUNDS}, min(v) AS v FROM {HOP} GROUP BY {BOUNDS}) AS x JOIN t USING (v)",
            "hop-slices",
        ),
        (f"CREATE TABLE x AS SELECT {BOUNDS}, max(v) AS v FROM {HOP} GROUP BY {BOUNDS}", "hop-slices"),
        (f"SELECT {BOUNDS}, rank() OVER (ORDER BY sum(v)) AS r FROM {HOP} GROUP BY {BOUNDS} LIMIT 3", "hop-slices"),
        (f"SELECT {BOUNDS}, k, count(*) AS n FROM {SESSION} GROUP BY {BOUNDS}, k", "session-slices"),
        (
            f"SELECT date(s.window_end) AS d, min(v) AS v FROM {SESSION} AS s GROUP BY 1, window_start, s.K",
            "session-slices",
        ),
        (f"SELECT {BOUNDS}, count(*) AS n FROM {ALL_IN_ONE} GROUP BY {BOUNDS} HAVING n > 1", "session-slices"),
        (
            f"SELECT {BOUNDS}, max(v) AS v FROM {ALL_IN_ONE} WHERE window_end > {DAY} GROUP BY {BOUNDS}",
            "session-slices",
        ),
    ],
)
def test_applies(sql: str, rule: str) -> None:
    assert decision(sql) == (rule, None)
    assert translate(sql, schema=SCHEMA) == explain(sql, schema=SCHEMA).sql
    assert "put together from slices" in translate(sql, schema=SCHEMA)
    assert "put together" not in translate(sql, schema=SCHEMA, optimize=False)
    with suppress(TranslationError):  # what doesn't stream
        assert "put together" not in translate(sql, schema=SCHEMA, mode="stream")


SHORT = HOP.replace("'1' HOUR", "'2' MINUTE")


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        (f"SELECT * FROM {HOP}", "doesn't group by the window"),
        (f"SELECT k, count(*) AS n FROM {HOP} GROUP BY k", "doesn't group by window_start and window_end"),
        (f"SELECT window_start, count(*) AS n FROM {CUMULATE} GROUP BY window_start", "doesn't group by window_start"),
        (f"SELECT {BOUNDS}, count(DISTINCT v) AS n FROM {CUMULATE} GROUP BY {BOUNDS}", "count(DISTINCT ...)"),
        (f"SELECT {BOUNDS}, collect_list(v) AS n FROM {CUMULATE} GROUP BY {BOUNDS}", "collect_list"),
        (f"SELECT {BOUNDS}, first(v) IGNORE NULLS AS n FROM {HOP} GROUP BY {BOUNDS}", "IGNORE NULLS"),
        (f"SELECT {BOUNDS}, sum(rand()) AS n FROM {HOP} GROUP BY {BOUNDS}", "rand()"),
        (f"SELECT {BOUNDS}, max(window_end) AS n FROM {HOP} GROUP BY {BOUNDS}", "looks at columns of the window"),
        (f"SELECT {BOUNDS}, sum(v) FROM {HOP} WHERE ts > window_start GROUP BY {BOUNDS}", "WHERE mixes"),
        (f"SELECT {BOUNDS}, sum(v) + 1 FROM {HOP} GROUP BY {BOUNDS}", "has no name"),
        (f"SELECT {BOUNDS}, v FROM {HOP} GROUP BY {BOUNDS}", "v is neither grouped by"),
        (f"SELECT {BOUNDS}, sum(v) AS s FROM {HOP} JOIN t USING (k) GROUP BY {BOUNDS}", "joins"),
        (f"SELECT * FROM t WHERE EXISTS (SELECT 1 FROM {HOP} WHERE k = t.k GROUP BY {BOUNDS})", "in a condition"),
        (f"SELECT {BOUNDS}, k FROM {HOP} GROUP BY GROUPING SETS (({BOUNDS}, k), ({BOUNDS}, k))", "stands there twice"),
        (f"SELECT {BOUNDS}, avg(big) AS a FROM {CUMULATE} GROUP BY {BOUNDS}", "more digits"),
        (f"SELECT {BOUNDS}, sum(v) AS s FROM {HOP} GROUP BY ALL", "GROUP BY ALL"),
        (f"SELECT {BOUNDS}, k, v, count(*) AS n FROM {SESSION} GROUP BY {BOUNDS}, k, v", "more than the keys"),
        (f"SELECT {BOUNDS}, count(*) AS n FROM {SESSION} GROUP BY {BOUNDS}", "all keys of PARTITION BY"),
        (f"SELECT {BOUNDS}, k, count(*) AS n FROM {SESSION} GROUP BY {BOUNDS}, ROLLUP (k)", "grouping sets"),
        (f"SELECT window_end, k, count(*) AS n FROM {SESSION} GROUP BY window_end, k", "doesn't group by window_start"),
        (f"SELECT {BOUNDS}, k, count(*) AS n FROM {SESSION} WHERE v > 1 GROUP BY {BOUNDS}, k", "WHERE leaves out"),
        (f"SELECT {BOUNDS}, k, count(*) AS n FROM {LIMITED} GROUP BY {BOUNDS}, k", "more than a constant gap"),
        (f"SELECT {BOUNDS}, k, count(*) AS n FROM {CLOSED} GROUP BY {BOUNDS}, k", "some rows close theirs"),
    ],
)
def test_does_not_apply(sql: str, reason: str) -> None:
    rule, why = decision(sql)
    assert rule is None
    assert reason in (why or "")
    assert translate(sql, schema=SCHEMA) == translate(sql, schema=SCHEMA, optimize=False)


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        (f"SELECT {BOUNDS}, count(*) AS n FROM {SHORT} GROUP BY {BOUNDS}", "a row is in 2 windows at most"),
        (
            f"SELECT {BOUNDS}, k, count(DISTINCT v) AS n FROM {HOP} AS h GROUP BY {BOUNDS}, ROLLUP (h.k)",
            "count(DISTINCT",
        ),
        (f"SELECT {BOUNDS}, stddev(v) AS s FROM {HOP} WHERE v > 1 GROUP BY {BOUNDS} HAVING s > 1", "stddev"),
    ],
)
def test_by_copies(sql: str, reason: str) -> None:
    """Where slices can't or don't pay, windows are Spark's own."""
    rule, why = decision(sql)
    assert rule == "hop-copies" and reason in (why or "")
    assert "window(timestamp_micros(__wall), " in translate(sql, schema=SCHEMA)


def test_without_types_an_average_may_be_of_decimals() -> None:
    sql = f"SELECT {BOUNDS}, avg(v) AS a FROM {HOP} GROUP BY {BOUNDS}"
    assert decision(sql) == ("hop-slices", None)
    assert decision(sql, typed=False) == ("hop-copies", "avg of a type that nobody knows")


def test_what_stands_around_stays() -> None:
    sql = f"""\
-- a comment
SELECT  k,   -- the key
        sum( v )  AS total /* kept */
FROM {HOP}
WHERE   v <> '
'
GROUP BY {BOUNDS}, k
ORDER   BY total
"""
    text = translate(sql, schema=SCHEMA)
    assert text.startswith("-- a comment\nSELECT  k,   -- the key\n        __sum_1  AS total /* kept */\nFROM (\n")
    assert text.endswith("\n)\nORDER   BY total\n")
    assert "WHERE v <> '\n'\n" in text


def test_a_list_of_windows() -> None:
    sql = f"SELECT {BOUNDS}, count(*) AS n FROM {{}} GROUP BY {BOUNDS}"
    both = explain(f"{sql.format(HOP)} UNION ALL {sql.format(SHORT)}")
    assert sorted(d.rule or "" for d in both.decisions) == ["hop-copies", "hop-slices"]
    assert both.sql.count("put together from slices of 1 minute") == 1


def test_nothing_of_ours() -> None:
    assert explain("SELECT 1").decisions == ()
    assert list(explain("SELECT 1").lines()) == ["no HOP, CUMULATE or SESSION here: nothing to optimise"]


def test_estimates() -> None:
    sql = f"SELECT {BOUNDS}, count(*) AS n FROM {HOP} GROUP BY {BOUNDS}"
    [fast] = explain(sql).decisions
    assert dict(fast.steps(2_000_000, 100, 86_400)) == {
        "rows read": 2_000_000,
        "slices": 144_000,
        "slices, each in two blocks": 288_000,
        "windows": 150_000,
    }
    [slow] = explain(sql.replace("count(*)", "collect_list(v)")).decisions
    assert dict(slow.steps(2_000_000, 100, 86_400))["copies of rows, one per window"] == 120_000_000
    assert fast.steps(None) == []
