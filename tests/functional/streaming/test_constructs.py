"""Every construct that streams: rows in random chunks over several runs give what one batch query gives."""

from __future__ import annotations

import itertools
import os
import random
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from tests.functional.streaming.feed import EventRow, Feed
from tests.lib.macros import macros
from tests.lib.support import seldom

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BOUNDS = "window_start, window_end"
LAG = 10
"""Seconds that rows may be late; the watermark of the models here."""
END = 100_000
"""Seconds at which rows come that close every window before."""

JOIN = "ON L.window_start = R.window_start AND L.window_end = R.window_end AND L.k = R.k"
L, R = (f"(SELECT * FROM tumble({table}, ts, '20 seconds')) {name}" for table, name in (("bid", "L"), ("ask", "R")))
NEAR = "R.ts BETWEEN L.ts - INTERVAL '15' SECOND AND L.ts + INTERVAL '5' SECOND"
"""What bounds the times of a join."""
AS_OF_WITHIN = macros().call(
    "asof_join", "bid", "ask", "k", "ts", "ts",
    tolerance="20 seconds", type="inner", ties=["v", "id"], columns={"id": "b", "v": "w"},
)  # fmt: skip
_QUOTES = (
    "(SELECT k, timestamp_seconds(s) AS ts, q FROM VALUES ('a', 1010, 1), ('a', 1060, 2), ('b', 1030, 3) v (k, s, q))"
)
AS_OF_TABLE = macros().call(
    "asof_join", "bid", _QUOTES, "k", "ts", "ts", direction="nearest", tolerance="1 minute", columns=["q"]
)
AROUND = macros().call(
    "window_around", "bid", "ask", "k", "ts", "ts", "20 seconds", "7 seconds", {"n": "count", "s": ["sum", "v"]}
)
AROUND_TABLE = macros().call(
    "window_around", "bid", _QUOTES, "k", "ts", "ts", "1 minute", "20 seconds", {"n": "count", "m": ["max", "q"]}
)
GAPS = macros(streams=True).call(
    "gapfill", f"(SELECT {BOUNDS}, k, sum(v) AS s, max(v) AS m, count(v) AS n, min(v) AS l FROM tumble(bid, ts, "
    f"'5 seconds') GROUP BY {BOUNDS}, k)", "k", "5 seconds", max_gap=9,
    fill={"m": "linear", "s": "locf", "l": "nearest", "n": 0}, **{"from": "1970-01-01 00:16:00"},
)  # fmt: skip
SUMS, SUMS_OF_HOP = (
    f"(SELECT {BOUNDS}, k, sum(v) AS s, count(*) AS n FROM {window} GROUP BY {BOUNDS}, k)"
    for window in ("tumble(bid, ts, '20 seconds')", "hop(bid, ts, '10 seconds', '20 seconds')")
)
NAMES = "(VALUES ('a', 'Ada'), ('b', 'Bob'), ('a', 'Anna') AS n (k, name))"
CONSTRUCTS = {
    "rows": "SELECT id, ts, k, v + 1 AS w FROM bid WHERE v > 1",
    "windows": "SELECT * FROM tumble(bid, ts, '20 seconds')",
    "tumble": f"SELECT {BOUNDS}, k, sum(v) AS s FROM tumble(bid, ts, '20 seconds') GROUP BY {BOUNDS}, k",
    "filtered": f"SELECT {BOUNDS}, count(*) AS n FROM tumble((SELECT * FROM bid WHERE v > 1), ts, '20 seconds') "
    f"WHERE k <> 'a' GROUP BY {BOUNDS}",
    "offset": f"SELECT {BOUNDS}, count(*) AS n FROM tumble(bid, ts, '20 seconds', '5 seconds') GROUP BY {BOUNDS}",
    "hop": f"SELECT {BOUNDS}, count(*) AS n FROM hop(bid, ts, '10 seconds', '20 seconds') GROUP BY {BOUNDS}",
    "uneven_hop": f"SELECT {BOUNDS}, k, max(v) AS m FROM hop(bid, ts, '15 seconds', '20 seconds') GROUP BY {BOUNDS}, k",
    "cumulate": f"SELECT {BOUNDS}, sum(v) AS s FROM cumulate(bid, ts, '10 seconds', '40 seconds') GROUP BY {BOUNDS}",
    "hop_of_slices": f"SELECT {BOUNDS}, k, count(*) AS n, sum(v) AS s, avg(v) AS a FROM hop(bid, ts, '5 seconds', "
    f"'100 seconds') b WHERE v > 0 GROUP BY {BOUNDS}, k HAVING n > 1",
    "extremes_of_slices": f"SELECT {BOUNDS}, window_time, k, max(v) FILTER (WHERE id % 3 > 0) AS m, min(k) AS l, "
    f"count(v) AS n FROM hop(bid, ts, '2 seconds', '45 seconds', '1 second') GROUP BY GROUPING SETS "
    f"(({BOUNDS}, window_time, k), ({BOUNDS}, window_time))",
    "cte_read_twice": f"WITH w AS {SUMS} SELECT w.* FROM w JOIN (SELECT {BOUNDS}, max(s) AS most FROM w GROUP BY "
    f"{BOUNDS}) AS m ON w.window_start = m.window_start AND w.window_end = m.window_end AND s = most",
    "equal_parts": f"WITH w AS {SUMS} SELECT L.s, R.window_end FROM w L JOIN w R ON L.window_start = R.window_start "
    "AND L.window_end = R.window_end AND L.s = R.s",
    "windows_read_twice": "WITH w AS (SELECT * FROM hop(bid, ts, '10 seconds', '20 seconds')) SELECT L.id, R.id AS o, "
    f"L.window_end FROM w AS L JOIN w AS R {JOIN} WHERE L.id < R.id",
    "cumulate_of_slices": f"WITH b AS (SELECT *, v * 2 AS w FROM bid), a AS (SELECT {BOUNDS}, k, sum(w) AS s, "
    f"max(v) AS m FROM cumulate(b, ts, '5 seconds', '1 minute') GROUP BY {BOUNDS}, k) SELECT *, rank() OVER "
    f"(PARTITION BY {BOUNDS} ORDER BY s) AS r FROM a WHERE s > 1",
    "sketches_of_slices": f"SELECT {BOUNDS}, hll_sketch_estimate(hll_sketch_agg(v)) AS h, "
    "bitmap_count(bitmap_construct_agg(bitmap_bit_position(v))) AS b FROM hop(bid, ts, '2 seconds', '45 seconds') "
    f"GROUP BY {BOUNDS}",
    "named_slices": f"SELECT w.*, name FROM (SELECT {BOUNDS}, k, count(*) AS n FROM hop(bid, ts, '1 second', "
    f"'30 seconds') GROUP BY {BOUNDS}, k) w LEFT JOIN VALUES ('a', 'Ada'), ('b', 'Bob') AS names (k, name) USING (k)",
    "session": f"SELECT {BOUNDS}, k, count(*) AS n FROM session(bid PARTITION BY k, ts, '7 seconds') "
    f"GROUP BY {BOUNDS}, k",
    "session_of_all": f"SELECT {BOUNDS}, window_time, sum(v) AS s FROM session(bid, ts, '3 seconds') "
    f"GROUP BY {BOUNDS}, window_time",
    "sessions_of_some": f"SELECT {BOUNDS}, k, count(*) AS n FROM session(bid PARTITION BY k, ts, '7 seconds') "
    f"WHERE v > 1 GROUP BY {BOUNDS}, k",
    "group_sessions_of_some": "SELECT session_end(ts, INTERVAL '7' SECOND) AS window_end, k, count(*) AS n FROM bid b "
    "WHERE b.v > 1 GROUP BY session(ts, INTERVAL '7' SECOND), k",
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
    "group_windows_of_group_windows": "SELECT tumble_start(t, INTERVAL '20' SECOND) AS window_start, "
    "tumble_end(t, INTERVAL '20' SECOND) AS window_end, count(*) AS n, sum(c) AS c FROM (SELECT tumble_rowtime(ts, "
    "INTERVAL '5' SECOND) AS t, k, count(*) AS c FROM bid GROUP BY tumble(ts, INTERVAL '5' SECOND), k) "
    "GROUP BY tumble(t, INTERVAL '20' SECOND)",
    "named_sessions": f"SELECT {BOUNDS}, name, count(*) AS n FROM session(bid PARTITION BY k, ts, '7 seconds') JOIN "
    f"VALUES ('a', 'Ada'), ('b', 'Bob') AS names (k, name) USING (k) GROUP BY {BOUNDS}, name",
    "distinct": f"SELECT {BOUNDS}, count(DISTINCT CASE v % 4 WHEN 0 THEN -0D WHEN 1 THEN 0D WHEN 2 THEN double('NaN') "
    f"ELSE v END) AS n FROM tumble(bid, ts, '20 seconds') GROUP BY {BOUNDS}",
    "distinct_values": f"SELECT {BOUNDS}, upper(b.k) AS u, 10 * count(DISTINCT v) AS n, count(DISTINCT v) FILTER "
    f"(WHERE id % 2 = 0) AS even, count(DISTINCT k, v % 2) AS pairs, sum(DISTINCT v) AS s, avg(DISTINCT v) AS a, "
    f"sum(v) AS t, sort_array(collect_list(id)) AS ids, count(*) FILTER (WHERE v > 2) AS big FROM hop(bid, ts, "
    f"'10 seconds', '20 seconds') b GROUP BY {BOUNDS}, k HAVING count(DISTINCT id) > 1 OR t > 1",
    "distinct_sets": f"SELECT {BOUNDS}, k, v % 2 AS odd, v, grouping(k) AS g, grouping_id() AS gi, count(DISTINCT v) "
    f"AS n, count(*) AS m FROM cumulate(bid, ts, '10 seconds', '40 seconds') GROUP BY {BOUNDS}, ROLLUP (k, odd, v)",
    "distinct_of_session": f"SELECT {BOUNDS}, k, count(DISTINCT v) AS n FROM session(bid PARTITION BY k, ts, "
    f"'7 seconds') GROUP BY {BOUNDS}, k",
    "distinct_levels": f"WITH a AS (SELECT window_time AS t, name, count(DISTINCT v) AS n FROM tumble(bid, ts, "
    "'10 seconds') JOIN VALUES ('a', 'Ada'), ('b', 'Bob') AS names (k, name) USING (k) GROUP BY "
    f"{BOUNDS}, window_time, name) SELECT {BOUNDS}, count(DISTINCT n) AS d, sum(n) AS s FROM "
    f"tumble(a, t, '30 seconds') GROUP BY {BOUNDS}",
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
    "windows_of_semi_join": f"SELECT {BOUNDS}, count(*) AS n FROM (SELECT L.* FROM {L} LEFT SEMI JOIN {R} {JOIN}) "
    f"GROUP BY {BOUNDS}",
    "over_semi_join": f"SELECT *, row_number() OVER (PARTITION BY {BOUNDS}, k ORDER BY ts, id) AS n FROM (SELECT L.* "
    f"FROM {L} LEFT SEMI JOIN {R} {JOIN})",
    "anti_join": f"SELECT * FROM {L} LEFT ANTI JOIN {R} {JOIN}",
    "interval_join": f"SELECT L.ts, L.id AS a, R.id AS b FROM bid L JOIN ask R ON L.k = R.k AND L.v <= R.v AND {NEAR}",
    "interval_left_join": f"SELECT L.ts, L.id AS a, R.id AS b FROM bid L LEFT JOIN ask R ON L.k = R.k AND L.v > 1 "
    f"AND {NEAR}",
    "interval_right_join": "SELECT R.ts, L.id AS a, R.id AS b FROM bid L RIGHT JOIN ask R ON L.k = R.k AND "
    "L.ts - R.ts < INTERVAL '15' SECOND AND R.ts - L.ts <= INTERVAL '5' SECOND",
    "interval_full_join": f"SELECT coalesce(L.ts, R.ts) AS ts, L.id AS a, R.id AS b FROM bid L FULL JOIN ask R ON "
    f"L.k = R.k AND {NEAR} AND R.v > 2",
    "interval_semi_join": f"SELECT * FROM bid L LEFT SEMI JOIN ask R ON L.k = R.k AND {NEAR}",
    "interval_anti_join": f"SELECT * FROM bid L LEFT ANTI JOIN ask R ON L.k = R.k AND {NEAR} AND R.v > 2",
    "interval_of_rows": "WITH o AS (SELECT id, ts AS t, k, ts + make_interval(0, 0, 0, 0, 0, 0, 3 * v) AS until FROM "
    "bid WHERE v > 0) SELECT ask.ts, o.id AS a, ask.id AS b FROM o, ask WHERE o.k = ask.k AND ask.ts BETWEEN o.t AND "
    "o.until AND ask.ts <= timestampadd(SECOND, 20, o.t)",
    "windows_of_interval_join": f"SELECT {BOUNDS}, count(*) AS n FROM tumble((SELECT L.ts, R.id FROM bid L LEFT JOIN "
    f"ask R ON L.k = R.k AND {NEAR}), ts, '20 seconds') GROUP BY {BOUNDS}",
    "as_of": "SELECT bid.id, bid.ts, ask.ts AS asked FROM bid LEFT ASOF JOIN ask MATCH_CONDITION (bid.ts > ask.ts) "
    "ON bid.k = ask.k",
    "as_of_within": f"SELECT * FROM {AS_OF_WITHIN}",
    "as_of_table": f"SELECT * FROM {AS_OF_TABLE}",
    "around": f"SELECT * FROM {AROUND}",
    "around_table": f"SELECT * FROM {AROUND_TABLE}",
    "gapfill": f"SELECT * FROM {GAPS} WHERE NOT k <=> 'z'",  # which comes at last, and is not closed
    "carried": "SELECT id, ts, last_value(v, TRUE) OVER w AS held, lag(v) OVER w AS before FROM bid WINDOW w AS "
    "(PARTITION BY k ORDER BY ts, id)",
    "group_window": "SELECT hop_end(ts, INTERVAL '10' SECOND, INTERVAL '20' SECOND) AS window_end, k, sum(v) AS s FROM "
    "bid WHERE v > 0 GROUP BY hop(ts, INTERVAL '10' SECOND, INTERVAL '20' SECOND), k",
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
    "over_nulls": "SELECT id, ts, lag(id) OVER (PARTITION BY k ORDER BY ts, v NULLS LAST, id) AS l, sum(v) OVER (ORDER "
    "BY ts, v DESC NULLS FIRST, id ROWS 2 PRECEDING) AS s FROM bid",
    "over_rows_range": "SELECT id, ts, count(*) OVER (PARTITION BY id % 2 ORDER BY ts ROWS_RANGE BETWEEN 20s PRECEDING "
    "AND 1s PRECEDING MAXSIZE 3) AS n FROM bid",
    "over_windows": f"SELECT *, s - lag(s) OVER (PARTITION BY k ORDER BY window_end) AS change FROM "
    f"(SELECT {BOUNDS}, k, sum(v) AS s FROM tumble(bid, ts, '20 seconds') GROUP BY {BOUNDS}, k)",
    "share_of_window": f"WITH a AS (SELECT {BOUNDS}, k, sum(v) AS s FROM tumble(bid, ts, '20 seconds') GROUP BY "
    f"{BOUNDS}, k) SELECT *, s / sum(s) OVER (PARTITION BY {BOUNDS}) AS share FROM a",
    "lag_of_hop": f"SELECT *, lag(s, 2, 0) OVER (PARTITION BY k ORDER BY window_end) AS p FROM {SUMS_OF_HOP}",
    "rows_of_slices": f"SELECT *, sum(s) OVER (PARTITION BY k ORDER BY window_end ROWS BETWEEN 2 PRECEDING AND CURRENT "
    f"ROW) AS p FROM (SELECT {BOUNDS}, k, sum(v) AS s FROM hop(bid, ts, '5 seconds', '60 seconds') "
    f"GROUP BY {BOUNDS}, k)",
    "range_of_windows": f"SELECT *, max(s) OVER (ORDER BY window_end RANGE BETWEEN INTERVAL '40' SECOND PRECEDING AND "
    f"CURRENT ROW) AS p FROM {SUMS}",
    "named_over": f"SELECT a.*, name FROM (SELECT *, lag(s) OVER (PARTITION BY k ORDER BY window_end) AS p "
    f"FROM {SUMS}) a LEFT JOIN {NAMES} USING (k)",
    "lateral_view": f"SELECT {BOUNDS}, x, count(*) AS n FROM tumble((SELECT ts, x FROM bid LATERAL VIEW "
    f"explode(array(v, v + 1)) e AS x), ts, '20 seconds') GROUP BY {BOUNDS}, x",
    "union_of_windows": f"SELECT {BOUNDS}, sum(n) AS n FROM (SELECT {BOUNDS}, n FROM {SUMS} UNION ALL SELECT {BOUNDS}, "
    f"count(*) AS n FROM tumble(ask, ts, '20 seconds') GROUP BY {BOUNDS}) GROUP BY {BOUNDS}",
    "over_union": "SELECT id, ts, count(*) OVER (PARTITION BY k ORDER BY ts RANGE INTERVAL '9' SECOND PRECEDING) AS n "
    "FROM (SELECT * FROM bid UNION ALL SELECT * FROM ask)",
    "full_join_of_sums": f"SELECT coalesce(L.window_end, R.window_end) AS window_end, L.s, R.s AS t FROM {SUMS} L FULL "
    f"JOIN (SELECT {BOUNDS}, k, sum(v) AS s FROM tumble(ask, ts, '20 seconds') GROUP BY {BOUNDS}, k) R {JOIN}",
    "self_join": f"SELECT L.window_start, L.window_end, L.id AS a, R.id AS b FROM {L} JOIN (SELECT * FROM tumble(bid, "
    f"ts, '20 seconds')) R {JOIN} AND L.id < R.id",
    "three_levels": f"SELECT {BOUNDS}, max(a) AS m FROM tumble((SELECT window_time AS t, avg(n) AS a FROM (SELECT "
    f"{BOUNDS}, window_time, k, count(*) AS n FROM tumble(bid, ts, '5 seconds') GROUP BY {BOUNDS}, window_time, k) "
    f"GROUP BY {BOUNDS}, window_time), t, '20 seconds') GROUP BY {BOUNDS}",
    "over_session": f"SELECT *, sum(v) OVER (PARTITION BY {BOUNDS}, k ORDER BY ts, id) AS run FROM session(bid "
    "PARTITION BY k, ts, '7 seconds')",
    "top_of_interval_join": f"SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY {BOUNDS} ORDER BY n DESC, k) "
    f"AS r FROM (SELECT {BOUNDS}, k, count(*) AS n FROM tumble((SELECT L.ts, L.k FROM bid L JOIN ask R ON L.k = R.k "
    f"AND {NEAR}), ts, '20 seconds') GROUP BY {BOUNDS}, k)) WHERE r = 1",
    "over_interval_join": f"SELECT a, b, ts, lag(b) OVER (PARTITION BY k ORDER BY ts, a, b) AS p FROM (SELECT L.ts, "
    f"L.k, L.id AS a, R.id AS b FROM bid L JOIN ask R ON L.k = R.k AND {NEAR})",
    "as_of_filtered": "SELECT bid.id, bid.ts, ask.ts AS q FROM (SELECT * FROM bid WHERE v > 1) bid ASOF JOIN (SELECT * "
    "FROM ask WHERE v IS NOT NULL) ask MATCH_CONDITION (bid.ts > ask.ts) ON bid.k = ask.k",
    "change_within_cumulate": f"SELECT *, s - lag(s) OVER (PARTITION BY window_start, k ORDER BY window_end) AS d FROM "
    f"(SELECT {BOUNDS}, k, sum(v) AS s FROM cumulate(bid, ts, '10 seconds', '40 seconds') GROUP BY {BOUNDS}, k)",
    "two_overs": f"SELECT *, sum(r) OVER (PARTITION BY {BOUNDS}) AS t FROM (SELECT *, row_number() OVER (PARTITION BY "
    f"{BOUNDS} ORDER BY s, k) AS r FROM {SUMS})",
    "unpivot": f"SELECT * FROM {SUMS} UNPIVOT INCLUDE NULLS (val FOR c IN (s, n))",
}

FLINK = {
    # Of two versions of one time any may be taken, so their time is what is compared.
    "temporal_join": "WITH v AS (SELECT k, v, ts FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) "
    "AS rn FROM ask) WHERE rn = 1) SELECT b.id, b.ts, b.v + 1 AS w, v.ts AS since FROM bid AS b LEFT JOIN v "
    "FOR SYSTEM_TIME AS OF b.ts ON b.k = v.k",
    "matches": "SELECT k, a, b, ts FROM bid MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts, id MEASURES A.id AS a, "
    "LAST(B.id) AS b, MATCH_ROWTIME() AS ts ONE ROW PER MATCH AFTER MATCH SKIP PAST LAST ROW PATTERN (A B* C) WITHIN "
    "INTERVAL '40' SECOND DEFINE A AS A.v IS NOT NULL, B AS B.v < 3, C AS C.v >= 3)",
    "sessions_of_some": "SELECT window_start, window_end, k, COUNT(*) AS n FROM TABLE(SESSION(TABLE bid PARTITION BY "
    "k, DESCRIPTOR(ts), INTERVAL '7' SECOND)) WHERE v > 1 GROUP BY window_start, window_end, k",
    "sessions_of_some_within": "WITH s AS (SELECT *, v + 1 AS w FROM TABLE(SESSION(TABLE bid PARTITION BY k, "
    "DESCRIPTOR(ts), INTERVAL '7' SECOND))) SELECT window_start, window_end, k, SUM(w) AS n FROM (SELECT * FROM s "
    "WHERE v <> 3) WHERE w > 2 GROUP BY window_start, window_end, k",
    "group_sessions_of_some": "SELECT SESSION_END(ts, INTERVAL '7' SECOND) AS window_end, k, COUNT(*) AS n FROM bid "
    "WHERE v > 1 GROUP BY SESSION(ts, INTERVAL '7' SECOND), k",
}
"""The same in Flink's words."""


FIRST = (
    "hop_of_slices",
    "cte_read_twice",
    "equal_parts",
    "windows_read_twice",
    "cascade",
    "interval_left_join",
    "over_rows",
)
"""What `make test-long` runs where rows come that close every window."""
FLUSHED = (
    "distinct_sets",
    "filtered",
    "extremes_of_slices",
    "session",
    "left_join",
    "over_semi_join",
    "interval_full_join",
    "static_join",
    "over_time",
    "as_of",
    "around_table",
    "carried",
)
"""What `make test-all` runs where the last run flushes: others, with conditions, state, joins and history."""


SEED = int(os.environ.get("SPARKSTREAM_SEED", 0))
"""Of the cases that `make test-all` makes; 0 for another one each time. It is printed."""


@dataclass(frozen=True)
class Chunk:
    """Rows that come together, as a file of each table."""

    bids: list[EventRow]
    asks: list[EventRow]
    runs: bool
    """Whether the models run before the next ones come."""


@dataclass(frozen=True)
class Story:
    """What happens to two tables, and to the models that stream from them."""

    chunks: list[Chunk]
    max_files: int | None
    flush: bool
    """Whether the last run flushes; else rows come that close every window before."""


@st.composite
def stories(draw: st.DrawFn, flush: bool) -> Story:
    """Rows with ties, gaps, disorder and NULLs, none of them late: no more than LAG behind its table's latest."""
    latest = {"bid": 1000, "ask": 1000}
    ids = itertools.count()

    def rows(table: str) -> list[EventRow]:
        jump = draw(st.sampled_from((3, 25, 70)))
        times = draw(st.lists(st.integers(latest[table] - LAG + 1, latest[table] + jump), max_size=9))
        latest[table] = max([latest[table], *times])
        values = st.one_of(st.none(), st.integers(0, 5))
        return [(next(ids), time, draw(st.sampled_from(("a", "b", "c", None))), draw(values)) for time in times]

    chunks = [Chunk(rows("bid"), rows("ask"), draw(st.integers(0, 9)) < 7) for _ in range(draw(st.integers(2, 4)))]
    return Story(chunks, draw(st.sampled_from((None, 1))), flush)


# A story takes a minute, too long for finding a shorter one that fails too.
told = settings(
    deadline=None,
    database=None,
    phases=(Phase.generate,),
    suppress_health_check=list(HealthCheck),
)


def tell(embedded: SparkSession, story: Story, names: Sequence[str], dialect: str) -> None:
    """Runs models as a story says, and compares their tables with the same queries in batch."""
    feed = Feed(embedded, dialect=dialect)
    constructs = FLINK if dialect == "flink" else CONSTRUCTS
    options = {"flush": False if story.flush else None, "max_files_per_trigger": story.max_files}

    def run(**more: Any) -> None:
        with ThreadPoolExecutor(2) as threads:
            list(threads.map(lambda name: feed.run(constructs[name], name, **{**options, **more}), names))

    try:
        for chunk in story.chunks:
            feed.add("bid", chunk.bids)
            feed.add("ask", chunk.asks)
            if chunk.runs:
                run()
        if story.flush:
            run(flush=True)
        else:
            # Of values that pass every filter: Spark filters before it looks at times.
            feed.add("bid", [(998, END, "z", 9)])
            feed.add("ask", [(999, END, "y", 9)])
            run()
        for name in names:
            closed = (
                "TRUE"
                if story.flush or name in ("rows", "windows", "as_of_table", "around_table")
                else f"{end_of(feed, name)} <= {CLOSED}"
            )
            assert feed.table(name) == feed.batch(constructs[name], closed), name
            if story.flush:
                assert feed.state(name) == 0, name
    finally:
        feed.drop()


CLOSED = f"timestamp_seconds({END - LAG})"


def end_of(feed: Feed, name: str) -> str:
    columns = [f.name for f in feed.spark.table(f"{feed.schema}.{name}").schema]
    return "window_end" if "window_end" in columns else "ts"


def tell_stories(
    embedded: SparkSession,
    names: Sequence[str],
    number: int,
    flush: bool,
    stories_told: int,
    *,
    empty: bool,
    dialect: str = "spark",
) -> None:
    """Tells some stories; `empty` says whether that of no rows, which is always the first one, is among them."""

    @seed(number)
    @settings(told, max_examples=1 + stories_told)
    @given(story=stories(flush))
    def telling(story: Story) -> None:
        if empty or any(chunk.bids or chunk.asks for chunk in story.chunks):
            tell(embedded, story, names, dialect)

    telling()


ends = pytest.mark.parametrize("flush", [False, True], ids=["end_by_rows", "end_by_flush"])
seldom_flushed = pytest.mark.parametrize("flush", [False, *seldom([True])], ids=["end_by_rows", "end_by_flush"])


@pytest.mark.long
@seldom_flushed
def test_chunks_over_runs_are_one_batch(embedded: SparkSession, flush: bool) -> None:
    tell_stories(embedded, FLUSHED if flush else FIRST, number=1, flush=flush, stories_told=1, empty=False)


@pytest.mark.full
@ends
def test_chunks_over_runs_are_one_batch_for_every_construct(embedded: SparkSession, flush: bool) -> None:
    number = SEED or random.randrange(1, 1_000_000)
    print(f"SPARKSTREAM_SEED={number}")
    tell_stories(embedded, list(CONSTRUCTS), number, flush, stories_told=2, empty=True)


@pytest.mark.full
@ends
def test_chunks_over_runs_are_one_batch_in_flinks_words(embedded: SparkSession, flush: bool) -> None:
    tell_stories(embedded, list(FLINK), number=1, flush=flush, stories_told=1, empty=False, dialect="flink")


WINDOWS = {
    "tumble": ("tumble(bid, ts, '20 seconds')", 20, 20),
    "hop": ("hop(bid, ts, '10 seconds', '30 seconds')", 10, 30),
    "hop_of_slices": ("hop(bid, ts, '5 seconds', '90 seconds')", 5, 90),
}
"""Window functions with their slides and sizes in seconds."""


RUNS = st.lists(st.lists(st.integers(1000, 1200), min_size=1, max_size=12), min_size=2, max_size=4)


@pytest.mark.full
def test_a_few_rows_are_late_or_in_their_windows(embedded: SparkSession) -> None:
    rows_are_late_or_in_their_windows(
        embedded, [[1000, 1030, 1030, 1104], [1093, 1095, 1019, 1061, 1190], [1100, 1180]]
    )


@pytest.mark.full
@seed(2)
@settings(told, max_examples=3)
@given(runs=RUNS)
def test_rows_are_late_or_in_their_windows(embedded: SparkSession, runs: list[list[int]]) -> None:
    rows_are_late_or_in_their_windows(embedded, runs)


def rows_are_late_or_in_their_windows(embedded: SparkSession, runs: list[list[int]]) -> None:
    """Rows of any times: each is in its window, or among the late ones when that was closed before its run."""
    feed = Feed(embedded)
    groups = "GROUP BY window_start, window_end"
    try:
        late: dict[str, set[tuple[int, int]]] = {name: set() for name in WINDOWS}
        latest, number = None, 0
        for times in runs:
            rows = [(number + i, time, "a", 1) for i, time in enumerate(times)]
            feed.add("bid", rows)
            for name, (window, slide, size) in WINDOWS.items():
                ends = [
                    (id_, time // slide * slide - i * slide + size)
                    for id_, time, _, _ in rows
                    for i in range(size // slide)
                ]
                late[name] |= {pair for pair in ends if latest is not None and pair[1] <= latest - LAG}
                feed.run(f"SELECT window_start, window_end, count(*) AS n FROM {window} {groups}", name, keep_late=True)
            latest, number = max([latest or 0, *times]), number + len(rows)
        feed.add("bid", [(999, END, "a", 1)])
        for name, (window, _, _) in WINDOWS.items():
            feed.run(f"SELECT window_start, window_end, count(*) AS n FROM {window} {groups}", name, keep_late=True)
            kept = (
                feed.spark.table(f"{feed.schema}.{name}__late").selectExpr("id", "unix_seconds(window_end)").collect()
            )
            assert sorted(map(tuple, kept)) == sorted(late[name]), name
            feed.spark.table(f"{feed.schema}.{name}__late").createOrReplaceTempView("late")
            assert feed.table(name) == feed.batch(
                f"SELECT window_start, window_end, count(*) AS n FROM (SELECT * FROM {window}) "
                f"LEFT ANTI JOIN late USING (id, window_end) {groups}",
                f"window_end <= {CLOSED}",
            ), name
    finally:
        feed.drop()


@pytest.mark.full
def test_gaps_between_windows_of_a_table(feed: Feed) -> None:
    """Its rows are windows, one of which comes early: they wait until the watermark has passed their end."""
    relation = "(SELECT ts - INTERVAL '5' SECOND AS window_start, ts AS window_end, k, v FROM bid)"
    sql = "SELECT * FROM " + macros(streams=True).call("gapfill", relation, "k", "5 seconds", fill={"v": "linear"})
    feed.add("bid", [(0, 1020, "a", 4), (1, 1005, "a", 1)])
    feed.run(sql, flush=False)
    feed.add("bid", [(2, 1030, "b", 2), (3, 1060, "a", 12)])
    feed.run(sql, flush=False)
    closed = [("a", 1.0), ("a", 2.0), ("a", 3.0), ("a", 4.0), ("b", 2.0)]
    assert sorted((key, value) for key, _, _, value, _ in feed.table()) == closed
    feed.run(sql, flush=True)
    rows = feed.table()
    assert rows == feed.batch(sql)
    assert sorted((key, value) for key, *_, value, filled in rows if filled) == [
        ("a", 2.0), ("a", 3.0), *(("a", float(value)) for value in range(5, 12))
    ]  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("side", ["full", *seldom(("left", "right"))])
def test_rows_without_a_key_meet_nobody(feed: Feed, side: str) -> None:
    feed.add("bid", [(1, 1000, None, 1), (2, 1001, "a", 2), (3, 1002, "b", 3)])
    feed.add("ask", [(4, 1000, None, 4), (5, 1003, "a", 5), (6, 1004, None, 6)])
    feed.run(CONSTRUCTS[f"{side}_join"])
    feed.add("bid", [(998, END, "z", 9)])
    feed.add("ask", [(999, END, "y", 9)])
    feed.run(CONSTRUCTS[f"{side}_join"])
    assert feed.table() == feed.batch(CONSTRUCTS[f"{side}_join"], f"window_end <= {CLOSED}")
    # The rows that close the windows are kept, and no others.
    assert feed.state() <= 2


OFTEN = ("interval_full_join",)


@pytest.mark.long
@pytest.mark.parametrize("name", [*OFTEN, *seldom(n for n in CONSTRUCTS if "interval" in n and n not in OFTEN)])
def test_rows_of_a_join_by_time_leave_the_state(feed: Feed, name: str) -> None:
    join = CONSTRUCTS[name]
    feed.add("bid", [(1, 1000, None, 1), (2, 1001, "a", 2), (3, 1002, "b", 1), (4, 1005, "b", 3)])
    feed.add("ask", [(5, 1000, None, 4), (6, 1003, "a", 5), (7, 1004, "b", 2)])
    for table in ("bid", "ask"):
        feed.spark.sql(f"INSERT INTO {feed.schema}.{table} VALUES (8, NULL, 'a', 3)")
    feed.run(join)
    feed.add("bid", [(9, 990, "b", 2), (998, END, "z", 9)])
    feed.add("ask", [(999, END, "y", 9)])
    feed.run(join, keep_late=True)
    assert feed.table() == feed.batch(
        join.replace("bid L", "(SELECT * FROM bid WHERE id <> 9) L"), f"{end_of(feed, 'model')} <= {CLOSED}"
    )
    assert feed.state() <= 2
    assert [row[0] for row in feed.spark.table(f"{feed.schema}.model__late").select("id").collect()] == [9]


@pytest.mark.long
@pytest.mark.parametrize("overlap", [12, *seldom([2])])
def test_the_state_of_a_hop_is_that_of_sparks_own(feed: Feed, overlap: int) -> None:
    feed.add("bid", [(i, 1000 + 7 * i, "abc"[i % 3], i) for i in range(50)])
    hop = f"hop(bid, ts, '10 seconds', '{10 * overlap} seconds')"
    feed.run(f"SELECT window_start, window_end, k, sum(v) AS s FROM {hop} GROUP BY window_start, window_end, k")
    feed.spark.sql(
        f"SELECT window(ts, '{10 * overlap} seconds', '10 seconds') AS w, k, sum(v) AS s "
        f"FROM STREAM {feed.schema}.bid WATERMARK ts DELAY OF INTERVAL {LAG} SECONDS GROUP BY w, k"
    ).createOrReplaceTempView("by_hand")
    by_hand = feed.spark.table("by_hand").writeStream.format("noop").trigger(availableNow=True)
    query = by_hand.option("checkpointLocation", feed.folder("by_hand")).start()
    query.awaitTermination()
    [operator] = query.recentProgress[-1].stateOperators
    assert 0 < feed.state("model") <= operator.numRowsTotal
    assert feed.state("model", "state_bytes") <= 1.1 * operator.memoryUsedBytes
