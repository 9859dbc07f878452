"""Joins of HOPs: those by rows, the others, and the user's text that stays. Rows are compared in tests/property."""

from __future__ import annotations

import pytest

from dbt.adapters.sparkstream.sql import explain, translate
from dbt.adapters.sparkstream.sql.core.windows import Hop

BOUNDS = "window_start, window_end"
SIDES = {"a": {"ts": "timestamp", "k": "string", "v": "int"}, "b": {"at": "timestamp", "k": "string", "w": "int"}}
LEFT = "HOP(TABLE a, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '1' HOUR)"
RIGHT = "HOP(TABLE b, DESCRIPTOR(at), INTERVAL '1' MINUTE, INTERVAL '1' HOUR)"
EQUAL = "L.window_start = R.window_start AND L.window_end = R.window_end"
SAME = f"L.k = R.k AND {EQUAL}"
NESTED = f"(SELECT * FROM {LEFT}) AS L JOIN (SELECT * FROM {RIGHT} AS b WHERE b.w > 1) AS R ON {SAME}"
DIRECT = f"{LEFT} AS L JOIN {RIGHT} AS R ON {SAME}"
THREE, FOUR = (DIRECT.replace("'1' HOUR", f"'{n}' MINUTE") for n in (3, 4))
UNEVEN = DIRECT.replace("'1' MINUTE", "'7' MINUTE")
SHIFTED = DIRECT.replace("HOUR) AS R", "HOUR, INTERVAL '-2' MINUTE) AS R")


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT L.k, L.v, R.w, L.window_start FROM {NESTED}",
        f"SELECT L.k, R.w + 1 AS w FROM {DIRECT} WHERE L.v > R.w ORDER BY w",
        f"SELECT v, w, struct(L.*) AS l, count(*) OVER (PARTITION BY R.window_time) AS n FROM {NESTED}",
        f"SELECT L.k, count(*) FROM {DIRECT} GROUP BY L.k HAVING count(*) > 1",
        f"SELECT upper(L.k) AS u, sum(w) AS w FROM {DIRECT} GROUP BY u ORDER BY w LIMIT 3",
        f"SELECT R.*, L.window_end FROM {LEFT} `L` INNER JOIN {RIGHT} R"
        " ON (R.window_end <=> L.window_end) AND L.window_start = R.window_start AND R.window_time = L.window_time",
        f"WITH x AS (SELECT L.v FROM {NESTED}) SELECT * FROM x JOIN x AS y ON x.v = y.v",
        f"SELECT L.v FROM {NESTED.replace('TABLE a', 'TABLE (SELECT * FROM a WHERE v IN (SELECT w FROM b))')}",
        f"SELECT DISTINCT L.k, v FROM {DIRECT} ORDER BY k, v",
        f"SELECT 1 AS one FROM {DIRECT} UNION ALL SELECT v FROM a",
        f"SELECT * FROM {SHIFTED}",
        f"SELECT L.k, L.window_end FROM {FOUR}",
        f"SELECT L.k, R.window_time FROM {UNEVEN}",
    ],
)
def test_joins_rows(sql: str) -> None:
    found = explain(sql, schema=SIDES)
    assert [(d.rule, d.reason) for d in found.decisions] == [("hop-join", None)] * 2
    assert translate(sql, schema=SIDES) == found.sql
    assert found.sql != translate(sql, schema=SIDES, optimize=False)


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        (f"SELECT L.k FROM {NESTED.replace('JOIN', 'LEFT JOIN')}", "LEFT JOIN: whether a row has a partner"),
        (f"SELECT L.k FROM {DIRECT.replace('JOIN', 'LEFT SEMI JOIN')}", "SEMI JOIN"),
        (f"SELECT L.k FROM {LEFT} AS L JOIN {RIGHT} AS R USING (k, window_start, window_end)", "without ON"),
        (f"SELECT L.k FROM {LEFT} AS L NATURAL JOIN {RIGHT} AS R", "without ON"),
        (f"SELECT L.k FROM {LEFT} AS L, {RIGHT} AS R WHERE {SAME}", "without ON"),
        (f"SELECT L.k FROM {DIRECT} JOIN a ON a.k = L.k", "more than two tables"),
        (f"SELECT L.k FROM {DIRECT} LATERAL VIEW explode(array(1)) AS x", "laterals"),
        (f"SELECT L.k FROM {LEFT} AS L JOIN a AS R ON {SAME}", "joins beside"),
        (f"SELECT L.k FROM {LEFT} AS L JOIN TUMBLE(b, at, INTERVAL '1' HOUR) AS R ON {SAME}", "is no HOP"),
        (f"SELECT L.k FROM {DIRECT.replace('HOUR) AS R', 'DAY) AS R')}", "other windows"),
        ("SELECT L.k FROM " + SHIFTED.replace("MINUTE) AS R", "SECOND) AS R"), "other windows"),
        (f"SELECT L.k FROM {DIRECT.replace('TABLE b', 'TABLE c')}", "nobody knows the type of at"),
        (f"SELECT L.k FROM {DIRECT.replace('TABLE b', 'TABLE n')}", "different types"),
        (f"SELECT L.k FROM {DIRECT.replace('HOUR', 'MINUTE')}", "a row is in 1 windows at most"),
        (f"SELECT L.k FROM {THREE}", "a row is in 3 windows at most"),
        ("SELECT L.k FROM " + DIRECT.replace("'1' HOUR", "'29' DAY"), "clock skips an hour"),
        (f"SELECT L.k FROM {DIRECT} AND L.ts < R.window_end", "in another way than for equality"),
        (f"SELECT L.k FROM {DIRECT} OR L.v = 1", "in another way than for equality"),
        (f"SELECT L.k FROM {LEFT} AS L JOIN {RIGHT} AS R ON L.window_end = R.window_end", "both window_start and"),
        (f"SELECT L.k FROM {LEFT} AS L JOIN {RIGHT} AS R ON L.window_end = R.window_start", "in another way than"),
        (f"SELECT L.k FROM {DIRECT} AND L.v IN (SELECT v FROM a)", "ON holds a subquery"),
        (f"SELECT L.k FROM {DIRECT} AND rand() < 0.5", "rand() in ON"),
        (f"SELECT L.k FROM {NESTED.replace('b.w > 1', 'rand() > 0.5')}", "rand() in WHERE"),
        (f"SELECT L.k FROM {NESTED.replace('b.w', 'b.window_end')}", "condition on windows"),
        (
            f"SELECT L.k FROM {NESTED.replace('SELECT * FROM HOP(TABLE a', 'SELECT k FROM HOP(TABLE a')}",
            "isn't SELECT *",
        ),
        (f"SELECT L.k FROM {NESTED.replace('b.w > 1', 'b.w > 1 LIMIT 3')}", "more than SELECT * FROM"),
        (f"SELECT L.k + 1 FROM {DIRECT}", "L.k + 1 has no name"),
        (f"SELECT * EXCEPT (v) FROM {DIRECT}", "EXCEPT"),
        (f"SELECT to_json(struct(*)) AS j FROM {DIRECT}", "a star in an expression"),
        (
            f"SELECT L.k, v FROM {DIRECT.replace('TABLE a', 'TABLE (SELECT *, k AS ts2 FROM a JOIN c)')}",
            "of either side",
        ),
        (f"SELECT x.k FROM {DIRECT}", "x.k names neither side"),
        (f"SELECT DISTINCT L.k FROM {DIRECT} ORDER BY L.k", "ORDER BY of what DISTINCT"),
        (f"SELECT L.k FROM {DIRECT} UNION SELECT k FROM a ORDER BY L.k", "ORDER BY of what DISTINCT"),
        (f"SELECT to_json(L) AS j FROM {DIRECT}", "L is a side of the join"),
        (f"SELECT * FROM a WHERE EXISTS (SELECT 1 AS one FROM {DIRECT} AND a.k = L.k)", "in a condition"),
        (f"SELECT L.k, (SELECT max(v) FROM a) AS m FROM {DIRECT}", "a subquery beside"),
        (f"SELECT L.k, count(*) AS n FROM {DIRECT} GROUP BY ALL", "GROUP BY ALL"),
        (f"SELECT L.k, R.k AS rk, count(*) AS n FROM {DIRECT} GROUP BY ROLLUP (L.k, R.k)", "grouping sets"),
        (f"SELECT /*+ BROADCAST(R) */ L.k FROM {DIRECT}", "hint"),
        (f"SELECT L.k, sum(R.w) AS v FROM {DIRECT} GROUP BY L.k, L.v HAVING v > 1", "v in HAVING may be"),
    ],
)
def test_does_not_join_rows(sql: str, reason: str) -> None:
    schema = {**SIDES, "n": {"at": "timestamp_ntz", "k": "string", "w": "int"}}
    decisions = explain(sql, schema=schema).decisions
    assert all(decision.rule is None for decision in decisions)
    assert all(reason in (d.reason or "") for d in decisions if isinstance(d.window, Hop))
    assert translate(sql, schema=schema) == translate(sql, schema=schema, optimize=False)


def test_a_join_of_aggregates_is_none_of_windows_rows() -> None:
    query = f"SELECT {BOUNDS}, k, count(*) AS n FROM {{}} GROUP BY {BOUNDS}, k"
    sql = f"SELECT L.n FROM ({query.format(LEFT)}) AS L JOIN ({query.format(RIGHT)}) AS R ON {SAME}"
    assert [(d.rule, d.reason) for d in explain(sql, schema=SIDES).decisions] == [("hop-slices", None)] * 2


def test_what_stands_around_a_join_stays() -> None:
    sql = f"""\
SELECT  v,   -- the left one's
        L.window_start /* kept */
FROM    {LEFT}  AS L  -- left
  JOIN  {RIGHT} AS R
  ON    L.k = R.k  -- the key
    AND (L.window_start = R.window_start)  AND  L.window_end = R.window_end
    AND L.k <> '
'  -- last
WHERE   w > 3
"""
    text = translate(sql, schema=SIDES)
    assert text.startswith("SELECT  L.v,   -- the left one's\n        L.window_start /* kept */\nFROM (\n")
    assert "  FROM    (\n" in text and ")  AS L  -- left\n  JOIN  (\n" in text
    assert "\n  ON    L.k = R.k  -- the key\n    AND (" in text
    assert "\n    AND L.k <> '\n'\n  LATERAL VIEW " in text
    assert text.endswith(" AS window_start\n)  -- last\nWHERE   R.w > 3\n")


def test_estimates_of_a_join() -> None:
    left, right = explain(f"SELECT L.k FROM {DIRECT}", schema=SIDES).decisions
    assert dict(left.steps(1000)) == {"rows read": 1000, "rows joined, each in one bucket of time": 1000}
    assert dict(right.steps(1000)) == {"rows read": 1000, "rows joined, each in two buckets of time at most": 2000}
    assert right.steps(None) == []


NAIVE = {
    "bid": {"ts": "timestamp_ntz", "k": "string", "v": "int"},
    "ask": {"ts": "timestamp", "k": "string", "v": "int"},
}
BID, ASK = (
    f"(SELECT k, {BOUNDS}, max(v) AS v FROM TUMBLE(TABLE {t}, DESCRIPTOR(ts), INTERVAL '1' HOUR) GROUP BY k, {BOUNDS})"
    for t in ("bid", "ask")
)
SLID = BID.replace("TUMBLE", "HOP").replace("INTERVAL '1' HOUR", "INTERVAL '25' MINUTE, INTERVAL '1' HOUR")
GROWN = BID.replace("TUMBLE", "CUMULATE").replace("INTERVAL '1' HOUR", "INTERVAL '6' MINUTE, INTERVAL '1' HOUR")
DAILY = BID.replace("'1' HOUR", "'1' DAY")
LASTING = BID.replace("TUMBLE", "SESSION")


def last_condition(sql: str, *, optimize: bool = True) -> str:
    """What is left of `ON` or `WHERE` of a query's outermost join."""
    text = translate(sql, schema=NAIVE, optimize=optimize)
    return text[max(text.rfind("ON "), text.rfind("WHERE ")) :].partition(" ")[2]


@pytest.mark.parametrize(
    ("join", "left"),
    [
        (f"{BID} AS L JOIN {BID} AS R ON {SAME}", "L.k = R.k AND L.window_start = R.window_start"),
        (f"{BID} AS L LEFT JOIN {SLID} AS R ON {EQUAL}", "L.window_start = R.window_start"),
        (f"{BID} AS L FULL JOIN {BID} AS R ON {EQUAL} AND L.v = R.v", "L.window_start = R.window_start AND L.v = R.v"),
        (f"{GROWN} AS L JOIN {GROWN} AS R ON {EQUAL}", "L.window_end = R.window_end"),
        (f"{GROWN} AS L JOIN {GROWN} AS R ON ({EQUAL}) OR L.k = R.k", None),
        (f"{BID} AS L, {BID} AS R WHERE {EQUAL} -- both", "L.window_start = R.window_start -- both"),
        (
            f"{BID} AS L JOIN {BID} AS R ON L.window_end = R.window_end --\n AND R.window_start = L.window_start",
            "R.window_start = L.window_start",
        ),
        (f"{BID} AS L JOIN {BID} AS R ON (L.k = R.k AND L.window_start = R.window_start) AND"
         " (L.window_end = R.window_end)", "(L.k = R.k AND L.window_start = R.window_start) AND (TRUE)"),
        (f"{BID} AS L JOIN {BID} AS R ON L.window_start = R.window_end AND L.window_end = R.window_start", None),
        (f"{BID} AS L JOIN {BID} AS R ON L.window_start <=> R.window_start AND L.window_end = R.window_end", None),
        (f"{BID} AS L JOIN {DAILY} AS R ON {EQUAL}", None),
        (f"{BID} AS L JOIN {GROWN} AS R ON {EQUAL}", None),
        (f"{LASTING} AS L JOIN {LASTING} AS R ON {EQUAL}", None),
        (f"{BID} AS L JOIN {BID.replace('GROUP BY', 'GROUP BY ROLLUP(').replace('_end)', '_end))')} AS R ON {EQUAL}",
         None),
        (f"{BID} AS L JOIN (SELECT x.k, x.window_start, y.window_end FROM {BID} AS x CROSS JOIN {BID} AS y) AS R"
         f" ON {EQUAL}", None),
        (f"{BID} AS L JOIN (SELECT k, window_start, max(window_end) AS window_end FROM {BID} GROUP BY 1, 2) AS R"
         f" ON {EQUAL}", None),
        (f"{BID} AS L JOIN {BID.replace('bid', 'unknown')} AS R ON {EQUAL}", None),
        (f"{ASK} AS L JOIN {ASK} AS R ON {EQUAL}", None),  # 02:30 and 03:30 may begin at the same instant
    ],
)  # fmt: skip
def test_one_bound_tells_the_other(join: str, left: str | None) -> None:
    sql = f"SELECT L.k, R.v FROM {join}"
    plain = last_condition(sql, optimize=False)
    assert last_condition(sql) == (left or plain) != (plain if left else None)


def test_bounds_of_flink_tell_each_other_for_every_time() -> None:
    rows = "TABLE(TUMBLE(TABLE ask, DESCRIPTOR(ts), INTERVAL '1' HOUR))"
    sql = f"""
        WITH a AS (SELECT window_start AS s, window_end AS e, k FROM {rows} GROUP BY window_start, window_end, k),
          b AS (SELECT * FROM a WHERE k > 'a')
        SELECT a.k FROM a JOIN b ON a.k = b.k AND a.s = b.s AND a.e = b.e WHERE a.k <> 'c'"""
    assert "ON a.k = b.k AND a.s = b.s WHERE" in translate(sql, "flink", schema=NAIVE)
    assert "AND a.e = b.e" in translate(sql, "flink", schema=NAIVE, optimize=False)


COUNTED = (
    f"counted AS (SELECT {BOUNDS}, k, count(*) AS num FROM HOP(TABLE bid, DESCRIPTOR(ts), {{}}) GROUP BY {BOUNDS}, k)"
)
MOST = f"most AS (SELECT {BOUNDS}, max(num) AS num FROM counted GROUP BY {BOUNDS})"
BEST = (
    "WITH " + COUNTED.format("INTERVAL '1' MINUTE, INTERVAL '1' HOUR") + f", {MOST} "
    "SELECT counted.k, most.num AS top, most.window_end FROM counted JOIN most ON"
    " counted.window_start = most.window_start AND counted.window_end = most.window_end AND counted.num = most.num"
    " WHERE most.num > 1 ORDER BY top"
)
RANK = "rank() OVER (PARTITION BY {} ORDER BY num {}) AS __place"


@pytest.mark.parametrize(
    ("old", "new", "rank"),
    [
        ("", "", RANK.format("window_start", "DESC")),
        ("max(num)", "min(num)", RANK.format("window_start", "ASC NULLS LAST")),
        ("TABLE bid", "TABLE ask", RANK.format("window_start, window_end", "DESC")),
        ("JOIN most", "INNER JOIN (SELECT num AS x FROM counted) AS most", None),
        ("JOIN most", "LEFT JOIN most", None),
        (" AND counted.num = most.num", "", None),
        ("counted.num = most.num", "counted.num >= most.num", None),
        ("counted.num = most.num", "counted.num = most.num AND counted.k > 'a'", None),
        ("counted.window_end = most.window_end", "counted.window_end = most.window_start", None),
        ("SELECT counted.k", "SELECT most.*, counted.k", None),
        ("SELECT counted.k", "SELECT *", None),
        ("FROM counted GROUP", "FROM counted WHERE k > 'a' GROUP", None),
        ("FROM counted GROUP", "FROM counted AS c JOIN bid ON true GROUP", None),
        ("max(num)", "max(DISTINCT num)", None),
        ("max(num) AS num FROM counted", "max(num) AS num", None),
        ("max(num) AS num", "max(num) AS num, min(k) AS low", None),
        ("count(*) AS num", "sum(d) AS num", None),  # 0.0 and -0.0 are equal
        ("count(*) AS num", "max(unknown) AS num", None),
        ("most.num > 1", "most.num IN (SELECT v FROM bid)", None),
        ("count(*) AS num", "min(k) AS __place, count(*) AS num", None),
    ],
)
def test_highest_of_a_window_by_rank(old: str, new: str, rank: str | None) -> None:
    text = translate(BEST.replace(old, new, 1), schema=NAIVE)
    assert ("rank()" in text) == (rank is not None)
    assert rank is None or rank in text


def test_what_the_highest_of_a_window_are_called() -> None:
    text = translate(BEST, schema=NAIVE)
    assert "SELECT counted.k, counted.num AS top, counted.window_end AS window_end FROM (\n" in text
    assert text.endswith(") AS counted WHERE counted.num > 1 ORDER BY top")
    keyed = BEST.replace(f"{BOUNDS}, max", f"{BOUNDS}, k, max").replace(
        f"counted GROUP BY {BOUNDS}", f"counted GROUP BY {BOUNDS}, k"
    )
    keyed = keyed.replace("counted.num = most.num", "counted.num = most.num AND most.k = counted.k")
    assert "  AND k IS NOT NULL\n" in translate(keyed, schema=NAIVE)
    assert "IS NOT NULL" not in text.replace("num IS NOT NULL", "")
