"""Every construct that streams: rows in random chunks over several runs give what one batch query gives."""

from __future__ import annotations

import itertools
import random

import pytest

from tests.functional.streaming.feed import EventRow, Feed

BOUNDS = "window_start, window_end"
LAG = 10
"""Seconds that rows may be late; the watermark of the models here."""
END = 100_000
"""Seconds at which rows come that close every window before."""

JOIN = "ON L.window_start = R.window_start AND L.window_end = R.window_end AND L.k = R.k"
L, R = (f"(SELECT * FROM tumble({table}, ts, '20 seconds')) {name}" for table, name in (("bid", "L"), ("ask", "R")))
CONSTRUCTS = {
    "rows": "SELECT id, ts, k, v + 1 AS w FROM bid WHERE v > 1",
    "windows": "SELECT * FROM tumble(bid, ts, '20 seconds')",
    "tumble": f"SELECT {BOUNDS}, k, sum(v) AS s FROM tumble(bid, ts, '20 seconds') GROUP BY {BOUNDS}, k",
    "offset": f"SELECT {BOUNDS}, count(*) AS n FROM tumble(bid, ts, '20 seconds', '5 seconds') GROUP BY {BOUNDS}",
    "hop": f"SELECT {BOUNDS}, count(*) AS n FROM hop(bid, ts, '10 seconds', '20 seconds') GROUP BY {BOUNDS}",
    "uneven_hop": f"SELECT {BOUNDS}, k, max(v) AS m FROM hop(bid, ts, '15 seconds', '20 seconds') GROUP BY {BOUNDS}, k",
    "cumulate": f"SELECT {BOUNDS}, sum(v) AS s FROM cumulate(bid, ts, '10 seconds', '40 seconds') GROUP BY {BOUNDS}",
    "session": f"SELECT {BOUNDS}, k, count(*) AS n FROM session(bid PARTITION BY k, ts, '7 seconds') "
    f"GROUP BY {BOUNDS}, k",
    "session_of_all": f"SELECT {BOUNDS}, window_time, sum(v) AS s FROM session(bid, ts, '3 seconds') "
    f"GROUP BY {BOUNDS}, window_time",
    "sessions_of_rows": "SELECT * FROM session(bid PARTITION BY k, ts, '7 seconds')",
    "sessions_by_window": f"SELECT {BOUNDS}, v, count(*) AS n FROM session(bid PARTITION BY k, ts, '7 seconds') "
    f"GROUP BY GROUPING SETS (({BOUNDS}, v), ({BOUNDS})) HAVING n > 1",
    "session_own_gap": f"SELECT {BOUNDS}, k, sum(v) AS s FROM session(bid PARTITION BY k, ts, v) GROUP BY {BOUNDS}, k",
    "session_at_most": "SELECT * FROM session((SELECT *, 3 * v AS gap FROM bid WHERE v <> 4) PARTITION BY k, ts, gap, "
    "max_duration => '20 seconds')",
    "session_closed": f"WITH s AS (SELECT *, upper(k) AS u FROM session(bid, ts, '9 seconds', max_duration => "
    f"'1 minute', close_on => v = 5)) SELECT {BOUNDS}, max(u) AS u, count(*) AS n FROM s GROUP BY {BOUNDS}",
    "top_of_session": f"SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY {BOUNDS}, k ORDER BY v DESC, id) AS "
    "rn FROM session(bid PARTITION BY k, ts, '9 seconds', close_on => v = 0) s) WHERE rn = 1",
    "session_of_windows": f"SELECT {BOUNDS}, count(*) AS n FROM session((SELECT window_time AS t, k, sum(v) AS s "
    f"FROM tumble(bid, ts, '5 seconds') GROUP BY {BOUNDS}, window_time, k) PARTITION BY k, t, s, "
    f"max_duration => '15 seconds') GROUP BY {BOUNDS}",
    "named_sessions": f"SELECT {BOUNDS}, name, count(*) AS n FROM session(bid PARTITION BY k, ts, '7 seconds') JOIN "
    f"VALUES ('a', 'Ada'), ('b', 'Bob') AS names (k, name) USING (k) GROUP BY {BOUNDS}, name",
    "grouping_sets": f"SELECT {BOUNDS}, k, v, count(*) AS n FROM tumble(bid, ts, '20 seconds') "
    f"GROUP BY GROUPING SETS (({BOUNDS}, k, v), ({BOUNDS}, k), ({BOUNDS}))",
    "rollup": f"SELECT {BOUNDS}, k, count(*) AS n FROM tumble(bid, ts, '20 seconds') GROUP BY {BOUNDS}, ROLLUP (k)",
    "having": f"SELECT {BOUNDS}, k, count(*) AS n FROM tumble(bid, ts, '20 seconds') GROUP BY {BOUNDS}, k HAVING n > 1",
    "cascade": f"SELECT {BOUNDS}, max(s) AS m FROM tumble((SELECT window_time AS t, k, sum(v) AS s "
    f"FROM tumble(bid, ts, '10 seconds') GROUP BY {BOUNDS}, window_time, k), t, '30 seconds') GROUP BY {BOUNDS}",
    "two_levels": f"SELECT {BOUNDS}, max(n) AS m FROM (SELECT {BOUNDS}, k, count(*) AS n "
    f"FROM tumble(bid, ts, '20 seconds') GROUP BY {BOUNDS}, k) GROUP BY {BOUNDS}",
    "cte": f"WITH w AS (SELECT *, v * 2 AS d FROM tumble(bid, ts, '20 seconds')), a AS (SELECT {BOUNDS}, sum(d) AS s "
    f"FROM w GROUP BY {BOUNDS}) SELECT *, s + 1 AS t FROM a WHERE s > 3",
    "union": f"SELECT {BOUNDS}, count(*) AS n FROM tumble((SELECT ts FROM bid UNION ALL SELECT ts FROM ask), ts, "
    f"'20 seconds') GROUP BY {BOUNDS}",
    "join": f"SELECT L.window_start, L.window_end, L.id AS a, R.id AS b FROM {L} JOIN {R} {JOIN}",
    "left_join": f"SELECT L.window_start, L.window_end, L.id AS a, R.id AS b FROM {L} LEFT JOIN {R} {JOIN}",
    "right_join": f"SELECT R.window_start, R.window_end, L.id AS a, R.id AS b FROM {L} RIGHT JOIN {R} {JOIN}",
    "full_join": f"SELECT coalesce(L.window_end, R.window_end) AS window_end, L.id AS a, R.id AS b "
    f"FROM {L} FULL JOIN {R} {JOIN}",
    "semi_join": f"SELECT L.* FROM {L} LEFT SEMI JOIN {R} {JOIN}",
    "anti_join": f"SELECT * FROM {L} LEFT ANTI JOIN {R} {JOIN}",
    "static_join": f"SELECT {BOUNDS}, name, count(*) AS n FROM tumble(bid, ts, '20 seconds') JOIN "
    f"VALUES ('a', 'Ada'), ('b', 'Bob') AS names (k, name) USING (k) GROUP BY {BOUNDS}, name",
    "top_n": f"SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY {BOUNDS} ORDER BY s DESC, k) AS rn FROM "
    f"(SELECT {BOUNDS}, k, sum(v) AS s FROM tumble(bid, ts, '20 seconds') GROUP BY {BOUNDS}, k)) WHERE rn <= 2",
    "top_n_of_rows": f"SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY {BOUNDS}, k ORDER BY v DESC, id) AS rn "
    "FROM hop(bid, ts, '10 seconds', '20 seconds')) WHERE rn <= 2",
    "over_time": "SELECT id, ts, k, sum(v) OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL '30' SECOND "
    "PRECEDING AND CURRENT ROW) AS s, count(*) OVER (ORDER BY ts RANGE INTERVAL '5' SECOND PRECEDING) AS n FROM bid",
    "over_rows": "SELECT * FROM (SELECT *, lag(v, 2) OVER w AS l, max(v) OVER (PARTITION BY k ORDER BY ts, id DESC "
    "ROWS BETWEEN 3 PRECEDING AND CURRENT ROW) AS m FROM bid b WHERE v > 1 WINDOW w AS "
    "(PARTITION BY k ORDER BY ts, id)) WHERE m > 2",
    "over_rows_range": "SELECT id, ts, count(*) OVER (PARTITION BY id % 2 ORDER BY ts ROWS_RANGE BETWEEN 20s PRECEDING "
    "AND 1s PRECEDING MAXSIZE 3) AS n FROM bid",
    "over_windows": f"SELECT *, s - lag(s) OVER (PARTITION BY k ORDER BY window_end) AS change FROM "
    f"(SELECT {BOUNDS}, k, sum(v) AS s FROM tumble(bid, ts, '20 seconds') GROUP BY {BOUNDS}, k)",
    "share_of_window": f"WITH a AS (SELECT {BOUNDS}, k, sum(v) AS s FROM tumble(bid, ts, '20 seconds') GROUP BY "
    f"{BOUNDS}, k) SELECT *, s / sum(s) OVER (PARTITION BY {BOUNDS}) AS share FROM a",
}


def chunks(rng: random.Random, number: int, first: int) -> list[list[EventRow]]:
    """Rows with ties, gaps and disorder, of which no chunk has one that is late after the ones before it."""
    latest, out = 1000, []
    ids = itertools.count(first)
    for _ in range(number):
        size = rng.choice((0, 1, 4, 9))
        times = [rng.randint(latest - LAG + 1, latest + rng.choice((3, 25, 70))) for _ in range(size)]
        latest = max([latest, *times])
        out.append([(next(ids), time, rng.choice("abc"), rng.randint(0, 5)) for time in times])
    return out


FIRST = (
    "tumble",
    "hop",
    "cumulate",
    "session",
    "session_at_most",
    "session_closed",
    "cascade",
    "left_join",
    "anti_join",
    "top_n_of_rows",
    "over_time",
    "over_rows",
)
"""What `make test` runs."""


@pytest.mark.parametrize(
    "name", [name if name in FIRST else pytest.param(name, marks=pytest.mark.full) for name in CONSTRUCTS]
)
def test_chunks_over_runs_are_one_batch(feed: Feed, name: str) -> None:
    sql = CONSTRUCTS[name]
    rng = random.Random(name)
    bids, asks = chunks(rng, 4, 0), chunks(rng, 4, 100)
    for bid, ask in zip(bids, asks, strict=True):
        # What comes to one of them must not be late by the time of the other.
        feed.add("bid", bid)
        feed.add("ask", ask)
        if rng.random() < 0.7:
            feed.run(sql)
    feed.add("bid", [(98, END, "z", 0)])
    feed.add("ask", [(99, END, "y", 0)])
    outcome = feed.run(sql)
    ends = "window_end" if "window_end" in [f.name for f in feed.spark.table(f"{feed.schema}.model").schema] else "ts"
    closed = "TRUE" if name in ("rows", "windows") else f"{ends} <= timestamp_seconds({END} - {LAG})"
    expected = feed.batch(sql, closed)
    assert feed.table() == expected
    assert expected, "no rows to compare"
    assert outcome.rows <= len(expected)
