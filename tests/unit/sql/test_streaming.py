"""Plans of streams: the part of a query that runs as a stream, the part on closed rows, and refusals."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dbt.adapters.sparkstream.sql import TranslationError, TranslationWarning, translate
from dbt.adapters.sparkstream.sql.streaming import RowView, StreamPlan
from dbt.adapters.sparkstream.sql.streaming import plan as plan_of
from dbt.adapters.sparkstream.sql.streaming.endings import Direct, OnClosed, OnHistory, OnSessions, OnSlices, OnWindows
from dbt.adapters.sparkstream.sql.streaming.plan import RANKED, SHARED

TUMBLE = "tumble(s, ts, '10 minutes')"
SESSION = "session(s PARTITION BY k, ts, v)"
BOUNDS = "window_start, window_end"
CLICKS = "session(s PARTITION BY k, ts, '5 minutes')"
SESSIONS = f"SELECT {BOUNDS}, k, count(*) AS n FROM {CLICKS} GROUP BY {BOUNDS}, k"
COUNTS = f"SELECT {BOUNDS}, k, count(*) AS n FROM {TUMBLE} GROUP BY {BOUNDS}, k"
TIMED = f"SELECT window_time AS t, k, count(*) AS n FROM {TUMBLE} GROUP BY {BOUNDS}, window_time, k"


def plan(sql: str, dialect: str = "spark") -> StreamPlan:
    columns = {"ts": "timestamp", "k": "string", "v": "bigint"}
    return plan_of(sql, dialect, streams=["s"], schema={"s": columns, "names": {"k": "string", "name": "string"}})


def test_a_window_function_is_a_stage_and_the_rest_stays() -> None:
    found = plan(f"SELECT {BOUNDS}, sum(v) /* all */ FROM {TUMBLE} GROUP BY {BOUNDS}")
    [stage] = found.stages
    assert (stage.view, stage.time, stage.end, stage.closes) == ("__tumble_1", "ts", "window_end", ("window_time",))
    assert "window(CAST(ts AS TIMESTAMP_NTZ), '10 minutes')" in stage.sql
    assert found.query == f"SELECT {BOUNDS}, sum(v) /* all */ FROM __tumble_1 GROUP BY {BOUNDS}"
    assert (found.streams, found.ending) == (("s",), Direct())
    assert found.windows == ("window_start", "window_end")


def test_windows_on_a_clock_that_shows_utc() -> None:
    """No time is cast there, as an instant is its own wall clock."""
    for window in (TUMBLE, "hop(s, ts, '7 minutes', '10 minutes')", "cumulate(s, ts, '5 minutes', '10 minutes')"):
        columns = {"s": {"ts": "timestamp"}}
        [stage] = plan_of(f"SELECT * FROM {window}", streams=["s"], schema=columns, utc=True).stages
        assert "window(ts, '" in stage.sql
        assert "NTZ" not in stage.sql and "coalesce" not in stage.sql


def test_stages_see_the_ctes_before_them() -> None:
    sql = f"WITH a AS (SELECT *, v + 1 AS w FROM s), b AS (SELECT * FROM {TUMBLE.replace('(s', '(a')}) SELECT * FROM b"
    found = plan(sql)
    assert found.stages[0].sql.startswith("WITH a AS (SELECT *, v + 1 AS w FROM s)\n/* tumble")
    assert found.query == "WITH a AS (SELECT *, v + 1 AS w FROM s), b AS (SELECT * FROM __tumble_1) SELECT * FROM b"


@pytest.mark.parametrize(
    ("ctes", "read", "query"),
    [
        (
            "w AS ({})",
            "w JOIN (SELECT k FROM w) x",
            "WITH w AS (1) SELECT * FROM (\n2\n) AS w JOIN (SELECT k FROM w) x",
        ),
        ("w AS ({})", "w a JOIN w AS b", "WITH w AS (1) SELECT * FROM (\n2\n) a JOIN w AS b"),
        (
            "w(a, b, c, d) AS ({})",
            "w JOIN w x",
            "WITH w(a, b, c, d) AS (1) SELECT * FROM (\n2\n) AS w(a, b, c, d) JOIN w x",
        ),
        ("w(a, b, c, d) AS ({})", "w x JOIN w", "WITH w(a, b, c, d) AS (1) SELECT * FROM (\n2\n) x(a, b, c, d) JOIN w"),
        (
            "w AS ({}), v AS (SELECT * FROM w)",
            "v JOIN v x",
            "WITH w AS (1), v AS (SELECT * FROM w) SELECT * FROM (\nSELECT * FROM (\n2\n) AS w\n) AS v JOIN v x",
        ),
    ],
)
def test_each_reading_of_a_cte_has_windows_of_its_own(ctes: str, read: str, query: str) -> None:
    """Spark forgets in the second reading of a view that a watermark closes its windows."""
    found = plan(f"WITH {ctes.format(COUNTS)} SELECT * FROM {read}")
    views = sorted(stage.view for stage in found.stages)
    assert views == ["__tumble_1", "__tumble_2"]
    first, second = sorted(views, key=found.query.index)
    assert found.query == query.replace("1", COUNTS.replace(TUMBLE, first)).replace("2", COUNTS.replace(TUMBLE, second))


def test_a_copy_of_a_cte_reads_what_the_cte_reads() -> None:
    with pytest.raises(TranslationError, match="w is read more than once, and its s is another table where it is read"):
        plan(f"WITH w AS ({COUNTS}), s AS (SELECT 1) SELECT * FROM w JOIN w x")
    own = f"WITH w AS (WITH c AS ({COUNTS}) SELECT * FROM c), c AS (SELECT 1) SELECT * FROM w JOIN w x"
    assert len(plan(own).stages) == 2


def test_a_table_is_not_staged() -> None:
    found = plan(f"SELECT * FROM s JOIN (SELECT max(v) AS m FROM {TUMBLE.replace('(s', '(t')} GROUP BY k) ON v = m")
    assert found.stages == ()
    assert "/* tumble: windows of 10 minutes on ts */" in found.query


def test_flink_dialect() -> None:
    window = "TABLE(TUMBLE(TABLE s, DESCRIPTOR(ts), INTERVAL '10' MINUTES))"
    sql = f"SELECT {BOUNDS}, COUNT(*) AS n FROM {window} GROUP BY {BOUNDS}"
    assert plan(sql, "flink").query.endswith(f"FROM __tumble_1 GROUP BY {BOUNDS}")


@pytest.mark.parametrize(
    ("sql", "query"),
    [
        (
            f"SELECT {BOUNDS}, k, sum(v) FROM session(s PARTITION BY k, ts, '5 minutes') GROUP BY {BOUNDS}, k",
            "SELECT session_window.start AS window_start, session_window.end AS window_end, k, sum(v) FROM s "
            "GROUP BY session_window(ts, '5 minutes'), k",
        ),
        (
            f"SELECT window_end AS e, sum(v) FROM session(s, ts, '5 minutes') GROUP BY {BOUNDS}",
            "SELECT session_window.end AS e, sum(v) FROM (SELECT *, 1 AS __all_rows FROM s) "
            "GROUP BY session_window(ts, '5 minutes'), __all_rows",
        ),
        (
            f"SELECT k, sum(v) FROM session(s PARTITION BY k, ts, '5 minutes') x WHERE x.k > 'a' GROUP BY {BOUNDS}, k",
            "SELECT k, sum(v) FROM s x WHERE x.k > 'a' GROUP BY session_window(ts, '5 minutes'), k",
        ),
        (
            "SELECT k, sum(v) AS n FROM s x WHERE x.v > 1 GROUP BY session(ts, INTERVAL '5' MINUTE), k",
            "SELECT k, sum(v) AS n FROM (SELECT * FROM s x WHERE x.v > 1) x "
            "GROUP BY session_window(ts, '5 minutes'), k",
        ),
        (
            "SELECT k, session_start(ts, '5m') AS b, sum(v) FROM s WHERE v > 1 GROUP BY k, session(ts, '5m')",
            "SELECT k, session_window.start AS b, sum(v) FROM (SELECT * FROM s WHERE v > 1) AS s "
            "GROUP BY session_window(ts, '5 minutes'), k",
        ),
    ],
)
def test_sessions(sql: str, query: str) -> None:
    assert " ".join(plan(sql).query.split()) == query


@pytest.mark.parametrize(
    ("sql", "query", "batch"),
    [
        (f"SELECT * FROM {SESSION}", "SELECT * FROM s", "SELECT * FROM __closed_rows"),
        (
            f"SELECT {BOUNDS}, k, sum(v) FROM {SESSION} WHERE v > 0 GROUP BY {BOUNDS}, k",
            "SELECT * FROM s",
            f"SELECT {BOUNDS}, k, sum(v) FROM __closed_rows WHERE v > 0 GROUP BY {BOUNDS}, k",
        ),
        (
            f"WITH a AS (SELECT * FROM s WHERE v > 1) SELECT {BOUNDS}, count(*) FROM session(a, ts, '1m') x JOIN names "
            f"USING (k) GROUP BY {BOUNDS}, name",
            "WITH a AS (SELECT * FROM s WHERE v > 1)\nSELECT * FROM a",
            f"SELECT {BOUNDS}, count(*) FROM __closed_rows AS x JOIN names USING (k) GROUP BY {BOUNDS}, name",
        ),
        (
            f"SELECT * FROM (SELECT *, rank() OVER (PARTITION BY {BOUNDS}, k ORDER BY v) AS r FROM {SESSION})",
            "SELECT * FROM s",
            f"SELECT * FROM (SELECT *, rank() OVER (PARTITION BY {BOUNDS}, k ORDER BY v) AS r FROM __closed_rows)",
        ),
        (
            f"SELECT {BOUNDS}, count(*) FROM << session(({TIMED}) PARTITION BY k, t, n, close_on => n > 9) >> "
            f"GROUP BY {BOUNDS}",
            f"SELECT * FROM ({TIMED.replace(TUMBLE, '__tumble_1')})",
            f"SELECT {BOUNDS}, count(*) FROM __closed_rows GROUP BY {BOUNDS}",
        ),
    ],
)
def test_sessions_of_rows(sql: str, query: str, batch: str) -> None:
    found = plan(sql)
    assert isinstance(found.ending, OnSessions)
    assert (found.query, found.ending.query) == (query, batch)
    assert found.buffered == ("__tumble_1" not in query)
    assert all("FROM __rows_so_far" in text for text in (found.ending.closed, found.ending.kept))
    assert found.time == ("ts" if found.buffered else "t")


HOP = "hop(s, ts, '1 minute', '1 hour')"
HOPS = f"SELECT {BOUNDS}, k, count(*) AS n FROM {HOP} GROUP BY {BOUNDS}, k"


def in_utc(sql: str, dialect: str = "spark", *, optimize: bool = True, time: str = "timestamp") -> StreamPlan:
    columns = {"ts": time, "k": "string", "v": "bigint"}
    schema = {"s": columns, "names": {"k": "string", "name": "string"}}
    return plan_of(sql, dialect, streams=["s"], schema=schema, utc=True, optimize=optimize)


def test_slices_are_kept() -> None:
    found, plain = in_utc(HOPS), in_utc(HOPS, optimize=False)
    [stage] = found.stages
    assert (stage.view, stage.time, stage.end, stage.closes) == ("__hop_1", "ts", "__closes", ())
    assert "timestamp_micros(__wall - pmod(__wall, 60000000) + 3600000000)" in stage.sql
    assert " ".join(found.query.split()) == (
        "SELECT k, (__wall - pmod(__wall, 60000000)) DIV 60000000 AS __slice, __closes, count(*) AS __count_1 "
        "FROM __hop_1 GROUP BY k, __wall - pmod(__wall, 60000000), __closes"
    )
    assert isinstance(found.ending, OnSlices)
    assert "max_by(__count_1, __is_new) AS __count_1" in found.ending.kept
    assert "FROM __kept_rows" in found.ending.closed and "FROM __hop_1" not in found.ending.closed
    assert found.ending.query == f"SELECT {BOUNDS}, k, __count_1 AS n FROM __closed_rows"
    assert (found.late, found.windows, found.streams) == (plain.late, plain.windows, plain.streams)
    assert (found.state, plain.state) == ("slice", "open window")
    assert "CREATE VIEW __kept_rows AS" in found.describe()


@pytest.mark.parametrize(
    ("sql", "batch"),
    [
        (
            f"WITH a AS (SELECT * FROM s WHERE v > 1), w AS (SELECT {BOUNDS}, k, sum(v) AS s FROM "
            "cumulate(a, ts, '1m', '1h') h WHERE k <> 'x' GROUP BY 1, 2, k HAVING sum(v) > 3) "
            "SELECT * FROM w /* all */ JOIN names USING (k)",
            f"WITH w AS (SELECT {BOUNDS}, k, __sum_1 AS s FROM __closed_rows AS h\nWHERE __sum_1 > 3) "
            "SELECT * FROM w /* all */ JOIN names USING (k)",
        ),
        (
            f"SELECT * FROM (SELECT *, rank() OVER (PARTITION BY {BOUNDS} ORDER BY n) AS r FROM ({HOPS})) WHERE r < 3",
            f"SELECT * FROM (SELECT *, rank() OVER (PARTITION BY {BOUNDS} ORDER BY n) AS r FROM (SELECT {BOUNDS}, k, "
            "__count_1 AS n FROM __closed_rows)) WHERE r < 3",
        ),
        (
            f"SELECT {BOUNDS}, max(n) AS m FROM ({HOPS}) GROUP BY {BOUNDS}",
            f"SELECT {BOUNDS}, max(n) AS m FROM (SELECT {BOUNDS}, k, __count_1 AS n FROM __closed_rows) "
            f"GROUP BY {BOUNDS}",
        ),
    ],
)
def test_what_is_done_with_windows_of_slices(sql: str, batch: str) -> None:
    found = in_utc(sql)
    assert found.slices
    assert found.ending.query == batch


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        (f"SELECT * FROM {HOP}", "it doesn't group by the window"),
        (HOPS.replace("1 hour", "9 minutes"), "a row is in 9 windows at most, and slices pay from 18 on"),
        (HOPS.replace("count(*)", "stddev(v)"), "stddev can't be put together from slices"),
        (HOPS.replace("count(*)", "count(DISTINCT v)"), "the different values of count(DISTINCT ...) would be kept"),
        (HOPS.replace("count(*)", "sum(rand())"), "rand() gives another value for each window of a row"),
        (HOPS.replace("GROUP BY", "WHERE k IN (SELECT k FROM names) GROUP BY"), "there is a query within it"),
        (
            f"SELECT {BOUNDS}, max(n) AS n FROM hop(({TIMED}), t, '1 minute', '1 hour') GROUP BY {BOUNDS}",
            "there are other windows beside it",
        ),
        (
            f"SELECT {BOUNDS}, max(n) AS n FROM tumble(({TIMED.replace(TUMBLE, HOP)}), t, '1 day') GROUP BY {BOUNDS}",
            "there are other windows beside it",
        ),
        (HOPS.replace("(s,", "((SELECT l.* FROM s l JOIN s r ON l.k = r.k),"), "its rows come from windows, or from a"),
        (f"{HOPS} UNION ALL {HOPS}", "there are other windows beside it"),
        (f"{HOPS} UNION ALL SELECT ts, ts, k, v FROM s", "what stands around it needs windows of several"),
        (
            f"WITH h AS ({HOPS}) SELECT l.* FROM h l JOIN h r ON l.window_start = r.window_start "
            "AND l.window_end = r.window_end",
            "there are other windows beside it",
        ),
        (
            f"SELECT *, n - lag(n) OVER (PARTITION BY k ORDER BY window_end) AS more FROM ({HOPS})",
            "OVER needs rows of several micro-batches",
        ),
    ],
)
def test_where_windows_are_kept(sql: str, why: str) -> None:
    found, plain = in_utc(sql), in_utc(sql, optimize=False)
    assert found == replace(plain, decisions=found.decisions)
    assert found.why is not None and why in found.why
    assert found.describe().startswith(f"/* windows are kept, and no slices: {why}")
    assert (plain.slices, plain.why) == (False, "the optimizer is off here")


def test_slices_are_kept_in_the_columns_of_earlier_versions() -> None:
    columns = {"ts": "timestamp", "m": "decimal(10,2)", "d": "double"}
    items, hop = f"{BOUNDS}, avg(m) AS a, avg(d) AS b, sum(d) AS c", "hop(s, ts, '1 minute', '1 hour')"
    sql = f"SELECT {items} FROM {hop} GROUP BY {BOUNDS}"
    found = plan_of(sql, streams=["s"], schema={"s": columns}, utc=True, optimize=True)
    kept = "sum(m) AS __avg_1_1", "sum(CAST(d AS DOUBLE)) AS __avg_2_1", "count(d) AS __avg_2_2", "sum(d) AS __sum_3"
    assert found.slices and all(column in found.query for column in kept), found.query


def test_where_the_clock_is_turned_windows_are_kept() -> None:
    found = plan_of(HOPS, streams=["s"], schema={}, optimize=True)
    assert found.why == "they are for a clock that shows UTC, whose windows end in the order of their times"
    assert in_utc(HOPS, time="timestamp_ntz").why == "its time can't carry a watermark"


@pytest.mark.parametrize("sql", [COUNTS, "SELECT * FROM s", f"SELECT * FROM {SESSION}"])
def test_where_there_are_no_slices(sql: str) -> None:
    assert (in_utc(sql).slices, in_utc(sql).why) == (False, None)
    assert in_utc(sql) == in_utc(sql, optimize=False)


def test_slices_of_flink_sql() -> None:
    window = "TABLE(HOP(TABLE s, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '1' HOUR))"
    found = in_utc(f"SELECT {BOUNDS}, CHAR_LENGTH(k) AS l, MAX(v) AS m FROM {window} GROUP BY {BOUNDS}, k", "flink")
    assert found.slices
    assert isinstance(found.ending, OnSlices) and "FROM __closed_rows" in found.ending.query


def shown(sql: str, dialect: str = "spark", *, utc: bool = True) -> StreamPlan:
    columns = {"ts": "timestamp", "k": "string", "v": "bigint"}
    schema = {"s": columns, "r": columns, "names": {"k": "string", "name": "string"}}
    return plan_of(sql, dialect, streams=["s", "r"], schema=schema, utc=utc, optimize=True, shows_open=True)


def test_open_windows_are_kept() -> None:
    found = shown(
        f"SELECT {BOUNDS}, upper(k) AS u, sum(v) AS n FROM {TUMBLE} t WHERE v > 1 GROUP BY 1, 2, k HAVING n > 3"
    )
    [stage] = found.stages
    assert (stage.view, stage.time, stage.end, stage.closes) == ("__tumble_1", "ts", "window_end", ())
    assert " ".join(found.query.split()) == (
        "SELECT k, window_start, window_end, sum(v) AS __sum_1 FROM __tumble_1 AS t WHERE v > 1 "
        "GROUP BY k, window_start, window_end"
    )
    ending = found.ending
    assert isinstance(ending, OnWindows)
    assert ending.query == f"SELECT {BOUNDS}, upper(k) AS u, __sum_1 AS n FROM __closed_rows AS t\nWHERE (__sum_1) > 3"
    assert "max_by(__sum_1, __is_new) AS __sum_1" in ending.kept
    assert ending.kept.endswith("GROUP BY k, window_start, window_end")
    assert ending.open is not None and ending.open.endswith("WHERE window_end > (SELECT until_at FROM __closed_until)")
    assert (found.slices, found.updates, found.keeps, found.state) == (False, True, ("open",), "open window")
    assert (found.windows, found.late) == (plan(COUNTS).windows, shown(COUNTS).late)
    assert "the same query gives the open windows" in found.describe()


def test_open_windows_of_slices() -> None:
    found = shown(HOPS)
    assert isinstance(found.ending, OnSlices) and not isinstance(found.ending, OnWindows)
    assert found.keeps == ("slices", "open")
    assert found.ending.open is not None and "FROM __kept_rows" in found.ending.open
    assert (found.query, found.ending.kept) == (in_utc(HOPS).query, getattr(in_utc(HOPS).ending, "kept", None))
    # Where no slices are kept, windows are.
    assert isinstance(shown(HOPS, utc=False).ending, OnWindows)
    assert (plan(COUNTS).keeps, in_utc(HOPS).keeps) == ((), ("slices",))


@pytest.mark.parametrize(
    ("sql", "place", "message"),
    [
        ("SELECT * FROM s", (1, 1), "emit='open' shows windows that are open, and this query has none"),
        (f"SELECT *\nFROM {TUMBLE}", (2, 6), "emit='open' can't be had for this query: it doesn't group by the window"),
        (
            f"SELECT {BOUNDS}, k, count(*) AS n FROM session(s PARTITION BY k, ts, '1 m') GROUP BY {BOUNDS}, k",
            (1, 56),
            "emit='open' doesn't go with SESSION: Spark hands out a session when it is closed, and not before",
        ),
        (f"SELECT * FROM {SESSION}", (1, 15), "emit='open' doesn't go with SESSION"),
        (
            f"SELECT *, lag(n) OVER (PARTITION BY k ORDER BY window_end) AS l FROM ({COUNTS})",
            (1, 1),
            "emit='open' doesn't go with OVER across windows",
        ),
        (
            COUNTS.replace("count(*)", "count(DISTINCT v)"),
            (1, 1),
            "emit='open' doesn't go with aggregates of DISTINCT values",
        ),
        (
            f"SELECT {BOUNDS}, max(n) AS m FROM tumble(({TIMED}), t, '1 hour') GROUP BY {BOUNDS}",
            (1, 106),
            "emit='open' shows the windows of one window function, and this query has several",
        ),
        (
            COUNTS.replace("(s,", "((SELECT s.* FROM s JOIN r ON s.k = r.k AND s.ts = r.ts),"),
            (1, 56),
            "emit='open' can't be had for this query: its rows come from windows, or from a join of streams",
        ),
        (
            f"{COUNTS} UNION ALL SELECT ts, ts, k, v FROM r",
            (1, 56),
            "emit='open' can't be had here: what is around the windows needs windows of several micro-batches",
        ),
        (
            COUNTS.replace(" GROUP", " JOIN names USING (k) GROUP"),
            (1, 56),
            "emit='open' can't be had for this query: joins beside the aggregation",
        ),
        (
            f"SELECT window_start, window_end, count(*) AS n FROM {TUMBLE} GROUP BY window_end, window_start HAVING "
            "window_time > timestamp'2020-01-01'",
            (1, 53),
            "emit='open' can't be had for this query: window_time",
        ),
    ],
)
def test_what_has_no_early_results(sql: str, place: tuple[int, int], message: str) -> None:
    with pytest.raises(TranslationError) as caught:
        shown(sql)
    assert caught.value.message.startswith(message)
    assert (caught.value.line, caught.value.column) == place
    assert caught.value.hint


def corrected(sql: str, *, utc: bool = True, shows_open: bool = False) -> StreamPlan:
    schema = {"s": {"ts": "timestamp", "k": "string", "v": "bigint"}}
    return plan_of(sql, streams=["s"], schema=schema, utc=utc, optimize=True, corrects=True, shows_open=shows_open)


def test_windows_are_corrected() -> None:
    found = corrected(f"SELECT window_end AS until, k, count(*) AS n FROM {TUMBLE} GROUP BY window_end, k")
    ending = found.ending
    assert isinstance(ending, OnWindows)
    assert (found.keeps, ending.end, ending.open) == (("corrected",), "until", None)
    assert "CAST(max(__is_new) AS BIGINT) AS __touched" in ending.kept and "dropped_at" in ending.kept
    assert "max(__touched) OVER (PARTITION BY window_end)" in ending.closed
    assert ending.corrected is not None and ending.corrected.startswith("SELECT DISTINCT window_end FROM __closed_rows")
    assert "take the place of" in found.describe() and "__touched" not in ending.query
    both = corrected(HOPS, shows_open=True)
    assert both.keeps == ("slices", "open", "corrected")
    # Running sums count the slices that a micro-batch has changed, beside a count of rows.
    many = corrected(HOPS.replace("1 minute", "1 second"))
    assert "AS __touched_set_come" in str(many.ending)
    # What is kept without corrections has no more than before.
    assert "__touched" not in in_utc(HOPS).query + str(in_utc(HOPS).ending)


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        (
            f"SELECT window_start, k, count(*) AS n FROM {TUMBLE} GROUP BY 1, window_end, 2",
            "finds what the table has of",
        ),
        ("SELECT ts AS window_end FROM s", "finds what the table has of a window by its window_end"),
        (f"SELECT * FROM {SESSION}", "doesn't go with SESSION"),
        (f"SELECT *, lag(n) OVER (PARTITION BY k ORDER BY window_end) AS l FROM ({COUNTS})", "doesn't go with OVER"),
        (COUNTS.replace("count(*)", "count(DISTINCT v)"), "doesn't go with aggregates of DISTINCT values"),
        (
            f"SELECT {BOUNDS}, max(n) AS m FROM tumble(({TIMED}), t, '1 hour') GROUP BY {BOUNDS}",
            "corrects the windows of one window function, and this query has several",
        ),
    ],
)
def test_what_has_no_corrections(sql: str, message: str) -> None:
    with pytest.raises(TranslationError) as caught:
        corrected(sql)
    assert "late_rows='update'" in caught.value.message and message in caught.value.message
    assert caught.value.line and caught.value.hint


def test_open_windows_of_flink_sql() -> None:
    window = "TABLE(TUMBLE(TABLE s, DESCRIPTOR(ts), INTERVAL '10' MINUTES))"
    found = shown(f"SELECT {BOUNDS}, CHAR_LENGTH(k) AS l, MAX(v) AS m FROM {window} GROUP BY {BOUNDS}, k", "flink")
    assert isinstance(found.ending, OnWindows) and "FROM __closed_rows" in found.ending.query


def test_group_windows_over_group_windows() -> None:
    inner = (
        "SELECT TUMBLE_ROWTIME(ts, INTERVAL '10' MINUTE) AS rt, k FROM s GROUP BY TUMBLE(ts, INTERVAL '10' MINUTE), k"
    )
    outer = "TUMBLE(rt, INTERVAL '1' HOUR)"
    sql = f"SELECT {outer.replace('(', '_END(', 1)} AS e, COUNT(*) AS n FROM ({inner}) GROUP BY {outer}"
    found = plan(sql, "flink")
    assert found.query == "SELECT window_end AS e, COUNT(*) AS n FROM __tumble_2 GROUP BY window_start, window_end"
    assert [stage.sql.partition("\n")[0] for stage in found.stages] == [
        "/* tumble: windows of 10 minutes on ts */",
        "/* tumble: windows of 1 hour on rt */",
    ]
    assert "GROUP BY window_start, window_end, window_time, k" in found.stages[1].sql


def test_over_with_parts_of_a_named_window() -> None:
    """Flink ignores a frame behind the name of a window, so such a call needs all rows."""
    named = "SELECT SUM(v) OVER x AS n FROM s WINDOW w AS (PARTITION BY k), x AS (w ORDER BY ts ROWS 1 PRECEDING)"
    with pytest.raises(TranslationError, match="needs all rows that ever were"):
        plan(named, "flink")
    call = "SUM(v) OVER (w RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND CURRENT ROW)"
    for window in ("PARTITION BY k ORDER BY ts", "PARTITION BY k"):
        ordered = call if "ORDER" in window else call.replace("w RANGE", "w ORDER BY ts RANGE")
        with pytest.raises(TranslationError, match="needs all rows that ever were"):
            plan(f"SELECT k, {ordered} AS n FROM s WINDOW w AS ({window})", "flink")


@pytest.mark.parametrize(
    ("inner", "over"),
    [
        (COUNTS, "ORDER BY k"),
        (COUNTS, "PARTITION BY k ORDER BY n"),
        (f"WITH a AS ({COUNTS}) SELECT * FROM a", "ORDER BY n, window_end"),
        (
            COUNTS.replace("tumble(s, ts, '10 minutes')", "cumulate(s, ts, '1 minute', '5 minutes')"),
            "ORDER BY window_start",
        ),
        (SESSIONS, "ORDER BY window_start"),
        (
            SESSIONS,
            "PARTITION BY k ORDER BY window_start RANGE INTERVAL '1' HOUR PRECEDING",
        ),
    ],
)
def test_over_closed_windows_in_another_order_than_they_close(inner: str, over: str) -> None:
    with pytest.raises(TranslationError, match="windows close in the order of their ends"):
        plan(f"SELECT *, {'sum' if 'RANGE' in over else 'lag'}(n) OVER ({over}) AS l FROM ({inner})")


@pytest.mark.parametrize(
    ("inner", "over"),
    [
        (COUNTS, "ORDER BY window_start, k"),
        (COUNTS, "PARTITION BY k ORDER BY window_end"),
        (f"SELECT window_end AS e, k, count(*) AS n FROM {TUMBLE} GROUP BY {BOUNDS}, k", "ORDER BY e, k"),
        (f"SELECT window_end - INTERVAL '1' DAY AS e, 1 AS n FROM {TUMBLE} GROUP BY {BOUNDS}", "ORDER BY e"),
        ("SELECT window.end AS e, k, count(*) AS n FROM s GROUP BY window(ts, '1 hour'), k", "ORDER BY e, k"),
        (
            SESSIONS,
            "PARTITION BY k ORDER BY window_start",
        ),
        (SESSIONS, "ORDER BY window_end, k"),
    ],
)
def test_over_closed_windows_in_the_order_in_which_they_close(inner: str, over: str) -> None:
    assert f"lag(n) OVER ({over})" in str(plan(f"SELECT *, lag(n) OVER ({over}) AS l FROM ({inner})").ending.query)


@pytest.mark.parametrize(
    ("join", "key", "whole"),
    [
        ("JOIN", "l.window_end", True),
        ("LEFT JOIN", "l.window_end", True),
        ("LEFT JOIN", "l.window_end, r.window_end", True),
        ("LEFT JOIN", "r.window_end", False),
        ("RIGHT JOIN", "r.window_end", True),
        ("RIGHT JOIN", "l.window_end", False),
        ("FULL JOIN", "r.window_end", False),
    ],
)
def test_groups_of_the_end_of_a_window_that_a_join_has_not_found(join: str, key: str, whole: bool) -> None:
    joined = f"FROM {TUMBLE} l {join} {TUMBLE} r ON l.window_end = r.window_end AND l.k = r.k"
    end = key.split(",")[0]
    for sql in (
        f"SELECT count(*) AS n {joined} GROUP BY {key}",
        f"WITH a AS (SELECT {end} AS e {joined}), b AS (SELECT * FROM a) SELECT count(*) AS n FROM b GROUP BY e",
    ):
        if whole:
            assert plan(sql).query
            continue
        with pytest.raises(TranslationError, match="this is NULL where the join finds no row"):
            plan(sql)


def test_the_newest_rows_are_kept_by_the_order_of_nulls() -> None:
    found = plan("SELECT lag(v) OVER (ORDER BY ts, v NULLS LAST, k DESC NULLS FIRST, o DESC) AS l FROM s").ending
    assert isinstance(found, OnHistory)
    assert "ORDER BY ts DESC, v DESC NULLS FIRST, k ASC NULLS LAST, o ASC)" in found.kept


def test_rows_of_one_time_are_kept_in_the_order_of_arrival() -> None:
    frame = "ROWS BETWEEN 2 PRECEDING AND CURRENT ROW"
    sql = f"SELECT sum(v) OVER w AS a FROM s WINDOW w AS (PARTITION BY k ORDER BY ts {frame})"
    columns = {"ts": "timestamp", "k": "string", "v": "bigint", "seq": "bigint"}
    ending = plan_of(sql, "openmldb", streams=["s"], schema={"s": columns}, arrival="seq").ending
    assert isinstance(ending, OnHistory)
    assert "PARTITION BY k ORDER BY ts, seq ROWS" in ending.query
    assert "PARTITION BY k ORDER BY ts DESC, seq DESC) AS __newest_0" in ending.kept


def test_where_beside_a_session_leaves_out_rows_of_the_session() -> None:
    """It reads the sessions of all rows, as in batch."""
    found = plan(f"SELECT {BOUNDS}, count(*) AS n FROM {CLICKS} WHERE v > 1 GROUP BY {BOUNDS}, k")
    assert found.query == "SELECT * FROM s"
    assert found.ending.query == f"SELECT {BOUNDS}, count(*) AS n FROM __closed_rows WHERE v > 1 GROUP BY {BOUNDS}, k"


def test_stars_of_anti_joins() -> None:
    query = plan("SELECT 2 * l.v AS w, * EXCEPT (k) FROM s l ANTI JOIN s AS r ON l.k = r.k").query
    assert query.startswith("SELECT 2 * l.v AS w, l.* EXCEPT (k) FROM s l LEFT JOIN")


def test_anti_joins() -> None:
    found = plan("SELECT * FROM s l ANTI JOIN s AS r ON l.k = r.k WHERE l.v > 1")
    assert found.query == (
        "SELECT l.* FROM s l LEFT JOIN (SELECT *, TRUE AS __matched FROM s) AS r ON l.k = r.k "
        "WHERE (l.v > 1) AND r.__matched IS NULL"
    )


def test_over_within_windows_runs_on_closed_rows() -> None:
    rank = f"row_number() OVER (PARTITION BY {BOUNDS} ORDER BY n DESC) AS rn"
    found = plan(f"WITH c AS ({COUNTS}) SELECT * FROM (SELECT *, {rank} FROM c) WHERE rn < 3")
    assert found.query == f"WITH c AS ({COUNTS.replace(TUMBLE, '__tumble_1')})\nSELECT * FROM c"
    assert found.ending == OnClosed(f"SELECT * FROM (SELECT *, {rank} FROM __closed_rows AS c) WHERE rn < 3")
    assert not found.buffered
    assert plan(f"SELECT *, {rank.replace('n DESC', 'v')} FROM {TUMBLE}").buffered


def test_over_across_windows_keeps_what_its_frames_reach() -> None:
    frame = "PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL '10' SECOND PRECEDING AND CURRENT ROW"
    found = plan(f"SELECT ts, sum(v) OVER ({frame}) AS t FROM s WHERE v > 1")
    assert found.query == "SELECT * FROM s"
    assert isinstance(found.ending, OnHistory)
    assert found.ending.query == (
        f"SELECT * EXCEPT (__is_new) FROM (SELECT ts, sum(v) OVER ({frame}) AS t, __is_new "
        "FROM __closed_rows AS s WHERE v > 1) WHERE __is_new"
    )
    assert found.ending.kept.endswith("(SELECT max(ts) FROM __closed_rows AS s WHERE v > 1) - INTERVAL '10' SECOND")
    lagged = plan("SELECT *, lag(v, 2) OVER (PARTITION BY k ORDER BY ts, v DESC) AS l FROM s").ending
    assert isinstance(lagged, OnHistory)
    assert "row_number() OVER (PARTITION BY k ORDER BY ts DESC, v ASC) AS __newest_0" in lagged.kept
    assert lagged.kept.endswith("WHERE __newest_0 <= 2")


def test_rows_without_a_key_meet_nobody_in_a_full_join() -> None:
    """Spark's streams would have them meet each other."""
    on = "l.window_end = r.window_end AND (upper(l.k) = r.k) AND r.v = l.v AND l.k <=> r.k"
    found = plan(f"SELECT l.k FROM {TUMBLE} AS l FULL JOIN {TUMBLE} AS r ON {on} WHERE l.v > 1")
    assert f"ON {on} AND (upper(l.k)) IS NOT NULL AND r.v IS NOT NULL WHERE" in found.query
    assert "NOT NULL" not in plan(f"SELECT l.k FROM {TUMBLE} AS l LEFT JOIN {TUMBLE} AS r ON {on}").query
    assert "NOT NULL" not in plan(f"SELECT l.k FROM {TUMBLE} AS l FULL JOIN names AS r ON l.k = r.k").query


@pytest.mark.parametrize(
    "relation",
    [
        f"({TUMBLE} AS l FULL JOIN {TUMBLE} AS r ON {{}})",
        f"names JOIN {TUMBLE} AS l ON names.k = l.k FULL JOIN {TUMBLE} AS r ON {{}}",
        f"names JOIN ({TUMBLE} AS l FULL JOIN {TUMBLE} AS r ON {{}}) ON names.k = l.k",
    ],
)
def test_full_joins_are_found_wherever_they_stand(relation: str) -> None:
    on = "l.window_end = r.window_end AND l.k = r.k"
    assert f"ON {on} AND l.k IS NOT NULL" in plan(f"SELECT l.k FROM {relation.format(on)}").query


def test_distinct_values_are_groups_of_a_first_aggregation() -> None:
    one = plan(f"SELECT {BOUNDS}, count(DISTINCT k, v) AS n FROM {TUMBLE} WHERE v > 1 GROUP BY 1, 2")
    assert one.query == (
        "SELECT __key_1 AS window_start, __key_2 AS window_end, count(__value_1_1, __value_1_2) AS n\nFROM (\n"
        "  SELECT window_start AS __key_1, window_end AS __key_2, k AS __value_1_1, v AS __value_1_2\n"
        "  FROM __tumble_1\n  WHERE v > 1\n  GROUP BY window_start, window_end, k, v\n)\nGROUP BY __key_1, __key_2"
    )
    several = plan(
        "SELECT t.window_end, upper(k) AS u, sum(v) AS s, count(DISTINCT v) FILTER (WHERE v > 1) + 1 AS n, "
        f"grouping(k) AS g, listagg(DISTINCT k, ',') WITHIN GROUP (ORDER BY k) AS l FROM {TUMBLE} t "
        "GROUP BY window_end, ROLLUP (k) HAVING count(DISTINCT v) > 1 AND s > 1"
    ).query
    assert several == (
        "SELECT __key_1 AS window_end, upper(__key_2) AS u, first(__all_1) FILTER (WHERE __copy = 0) AS s, "
        "count(__value_1_1) FILTER (WHERE __copy = 1 AND __is_1) + 1 AS n, __grouping_1 AS g, "
        "listagg(__value_2_1, ',') WITHIN GROUP (ORDER BY __value_2_1) FILTER (WHERE __copy = 2) AS l\nFROM (\n"
        "  SELECT window_end AS __key_1, k AS __key_2, grouping_id() AS __set, grouping(k) AS __grouping_1, __copy, "
        "CASE WHEN __copy = 1 THEN v END AS __value_1_1, CASE WHEN __copy = 2 THEN k END AS __value_2_1, "
        "bool_or(v > 1) AS __is_1, sum(v) FILTER (WHERE __copy = 0) AS __all_1\n"
        "  FROM __tumble_1 t\n"
        "  LATERAL VIEW explode(array(0, 1, 2)) __copies AS __copy\n"
        "  GROUP BY window_end, ROLLUP (k), __copy, CASE WHEN __copy = 1 THEN v END, CASE WHEN __copy = 2 THEN k END\n"
        ")\nGROUP BY __key_1, __key_2, __set, __grouping_1\n"
        "HAVING count(__value_1_1) FILTER (WHERE __copy = 1) > 1 AND s > 1"
    )


def test_texts_beside_distinct_values() -> None:
    key = "CASE WHEN k = '{9}{0}{}' THEN k END"
    found = plan(
        f"SELECT window_end, grouping({key}) AS g, grouping_id() AS i, count(DISTINCT v) AS n FROM {TUMBLE} "
        f"GROUP BY window_end, ROLLUP ({key})"
    ).query
    assert f"grouping({key}) AS __grouping_1, shiftright(grouping_id(), 2) AS __grouping_2" in found


def test_distinct_values_of_grouping_sets_within_grouping_sets() -> None:
    counts = f"SELECT window_end, k, count(DISTINCT v) AS n FROM {TUMBLE} GROUP BY window_end, "
    assert (
        "GROUP BY window_end, GROUPING SETS (ROLLUP (k), (v)), __copy"
        in plan(f"{counts}GROUPING SETS (ROLLUP (k), (v))").query
    )
    with pytest.raises(TranslationError, match="more than 4096 grouping sets"):
        plan(f"{counts}CUBE ({', '.join(f'v + {i}' for i in range(13))})")


def test_distinct_values_in_other_places() -> None:
    flink = "TABLE(TUMBLE(TABLE s, DESCRIPTOR(ts), INTERVAL '10' MINUTES))"
    found = plan(f"SELECT {BOUNDS}, AVG(DISTINCT v) AS a FROM {flink} GROUP BY {BOUNDS}", "flink").query
    assert "sum(__value_1_1) DIV count(__value_1_1)" in found.replace("SUM", "sum").replace("COUNT", "count")
    # Lists of values take turns, and filters are told apart by list; rows that no filter takes keep their group alone.
    shared = plan(
        f"SELECT {BOUNDS}, count(DISTINCT v) FILTER (WHERE k = 'a') AS a, count(DISTINCT k) FILTER (WHERE v > 1) AS b, "
        f"count(DISTINCT v) FILTER (WHERE k = 'b') AS c, count(DISTINCT k) AS d FROM {TUMBLE} GROUP BY {BOUNDS}"
    )
    filtered = shared.query
    assert shared.keeps == (SHARED,)
    assert "explode(array(IF(coalesce((k = 'a') OR (k = 'b'), FALSE), 1, -1), 2))" in filtered
    flags = ("k = 'a') AS __is_1", "k = 'b') AS __is_2", "v > 1) AS __is_3")
    assert all(f"bool_or({flag}" in filtered for flag in flags)
    counts = [("1_1", "1 AND __is_1"), ("2_1", "2 AND __is_3"), ("1_1", "1 AND __is_2"), ("2_1", "2")]
    written = [f"count(__value_{value}) FILTER (WHERE __copy = {which}) AS" for value, which in counts]
    assert all(text in filtered for text in written)
    # Spaces make two conditions of one, literals are no values, and a clock is in no other aggregate.
    for some, is_shared in {
        "count(DISTINCT v) FILTER (WHERE v > 1) AS a, sum(DISTINCT v) FILTER (WHERE v>1) AS b": True,
        "listagg(DISTINCT k, ',') FILTER (WHERE v > 1) AS a, count(DISTINCT k) FILTER (WHERE v <= 1) AS b": True,
        "count(DISTINCT (v)) FILTER (WHERE v > 1) AS a, count(DISTINCT v) FILTER (WHERE v > 2) AS b": False,
        "count(DISTINCT v) FILTER (WHERE v > 1) AS a, sum(DISTINCT v) FILTER (WHERE v > 1) AS b": False,
        "count(DISTINCT v) FILTER (WHERE ts < current_timestamp()) AS a, count(DISTINCT v) AS b": False,
        "count(DISTINCT v) FILTER (WHERE rand() < 2) AS a, count(DISTINCT v) AS b": False,
        "count(DISTINCT v) FILTER (WHERE ts < current_timestamp) AS a, count(DISTINCT v) AS b": False,
    }.items():
        planned = plan(f"SELECT {BOUNDS}, {some} FROM {TUMBLE} GROUP BY {BOUNDS}")
        assert (planned.keeps == (SHARED,), "bool_or" in planned.query) == (is_shared, is_shared), some
    # Of a SESSION, rows leave the stream, and the rest is as in batch.
    session = f"SELECT {BOUNDS}, k, count(DISTINCT v) AS n FROM session(s PARTITION BY k, ts, '1 hour') GROUP BY ALL"
    found_session = plan(session)
    assert found_session.query == "SELECT * FROM s"
    assert "count(DISTINCT v) AS n FROM __closed_rows" in str(found_session.ending.query)
    # Of a table nothing changes.
    table = "SELECT k, count(DISTINCT name) AS n FROM names GROUP BY k"
    assert plan(f"SELECT * FROM {TUMBLE} t JOIN ({table}) n ON t.k = n.k").query.endswith(
        f"JOIN ({table}) n ON t.k = n.k"
    )


HIGHEST = (
    f"WITH c AS ({COUNTS}), m AS (SELECT {BOUNDS}, max(n) AS n FROM c GROUP BY {BOUNDS}) SELECT c.* FROM c JOIN m "
    "ON c.window_start = m.window_start AND c.window_end = m.window_end AND c.n = m.n"
)


def test_the_groups_with_the_highest_value_are_ranked_when_they_are_closed() -> None:
    found, plain = in_utc(HIGHEST), in_utc(HIGHEST, optimize=False)
    assert (len(found.stages), found.read_once, found.meets) == (1, True, False)
    assert found.query == f"WITH c AS ({COUNTS.replace(TUMBLE, '__tumble_1')})\nSELECT * FROM c"
    assert isinstance(found.ending, OnClosed)
    assert "rank() OVER (PARTITION BY window_start, window_end ORDER BY n DESC)" in found.ending.query
    assert found.ending.query.startswith("SELECT c.* FROM (")  # nothing reads m any more
    assert found.keeps == (RANKED,) and found.late == plain.late
    assert (len(plain.stages), plain.meets, plain.keeps) == (2, True, ())


def test_ranks_of_any_names() -> None:
    named = in_utc(
        HIGHEST.replace("WITH c AS", "WITH `c-1` AS").replace("FROM c ", "FROM `c-1` ").replace("c.", "`c-1`.")
    )
    assert isinstance(named.ending, OnClosed) and "FROM __closed_rows AS `c-1`" in named.ending.query
    other = HIGHEST.replace("max(n) AS n", "max(n) AS most").replace("m.n", "m.most")
    of_column = in_utc(other.replace("c.*", "m.most AS top, m.most, c.k"))
    assert isinstance(of_column.ending, OnClosed) and "SELECT c.n AS top, c.n AS most, c.k" in of_column.ending.query
    for item in ("struct(m.most) AS s", "m.most + 1"):  # their names, or the names of their fields, are made of it
        assert in_utc(other.replace("c.*", f"{item}, c.k")).keeps == ()


def test_names_in_backticks_stay_so() -> None:
    over = plan("SELECT k, sum(v) OVER (ORDER BY ts ROWS 2 PRECEDING) AS x FROM s AS `a-b` WHERE `a-b`.v > 1")
    match = plan(
        "SELECT * FROM s AS `a-b` MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.v AS x PATTERN (A) "
        "DEFINE A AS A.v > 1)",
        "flink",
    )
    assert isinstance(over.ending, OnHistory)
    for text in (over.ending.query, over.ending.kept):
        assert "FROM __closed_rows AS `a-b` WHERE `a-b`.v > 1" in text
    assert "FROM __rows_so_far AS `a-b`" in match.describe()


def test_bounds_that_may_be_null_are_no_ranks() -> None:
    outer = (
        f"SELECT r.window_start, l.window_end, l.k, count(*) AS n FROM (SELECT * FROM {TUMBLE}) AS l "
        "LEFT JOIN (SELECT * FROM tumble(r, ts, '10 minutes')) AS r "
        "ON l.window_start = r.window_start AND l.window_end = r.window_end GROUP BY r.window_start, l.window_end, l.k"
    )
    columns = {"ts": "timestamp", "k": "string", "v": "bigint"}
    sql = HIGHEST.replace(COUNTS, outer)
    found = plan_of(sql, streams=["s", "r"], schema={"s": columns, "r": columns}, optimize=True)
    assert isinstance(found.ending, OnClosed) and "window_start IS NOT NULL" in found.ending.query


def test_what_ranks_would_not_stream_stays_a_join() -> None:
    sql = f"SELECT * FROM ({HIGHEST}) AS h JOIN r ON h.k = r.k AND h.window_end = r.ts"
    columns = {"ts": "timestamp", "k": "string", "v": "bigint"}
    found, plain = (
        plan_of(sql, streams=["s", "r"], schema={"s": columns, "r": columns}, optimize=optimize)
        for optimize in (True, False)
    )
    assert replace(found, decisions=()) == replace(plain, decisions=())
    assert found.meets


def test_who_reads_a_stream_once() -> None:
    assert plan(COUNTS).read_once
    assert plan(f"WITH a AS (SELECT * FROM s), b AS ({COUNTS.replace('(s', '(a')}) SELECT * FROM b").read_once
    assert not plan(f"WITH a AS ({COUNTS}) SELECT * FROM a x JOIN a y ON x.window_end = y.window_end").read_once
    assert not plan("SELECT ts FROM s UNION ALL SELECT ts FROM s").read_once
    assert plan(COUNTS).waits
    assert not plan("SELECT ts FROM s").waits
    assert plan("SELECT x.ts FROM s x JOIN s y ON x.ts = y.ts").waits


@pytest.mark.parametrize(
    ("sql", "message", "hint"),
    [
        ("SELECT * FROM names", "reads no stream", "stream(ref('...'))"),
        ("SELECT * FROM s ORDER BY ts", "ORDER BY has no meaning", "order the rows where they are read"),
        ("SELECT * FROM names JOIN s ON names.k = s.k LIMIT 3", "LIMIT has no meaning", "window_top_n"),
        ("SELECT names.k, count(*) FROM names JOIN s ON names.k = s.k GROUP BY names.k", "needs the end", "through a"),
        ("SELECT *, lag(v) OVER (ORDER BY ts) FROM names JOIN s ON names.k = s.k", "this query joins", "a subquery"),
        (f"SELECT * FROM ({TUMBLE} l LEFT ANTI JOIN {TUMBLE} r ON l.k = r.k)", "ANTI JOIN beside", "a subquery"),
        ("SELECT * FROM s l ANTI JOIN s AS r USING (k)", "an ANTI JOIN with USING", "write ON l.k = r.k"),
        ("SELECT * FROM s LIMIT 3", "LIMIT has no meaning", "window_top_n"),
        ("SELECT DISTINCT k FROM s", "SELECT DISTINCT", "group by the columns together"),
        ("SELECT k FROM s UNION SELECT k FROM s", "UNION ALL only", "write UNION ALL"),
        ("SELECT * FROM s WHERE k IN (SELECT k FROM s)", "a query in an expression", "LEFT SEMI JOIN"),
        ("SELECT * FROM s WHERE k NOT IN (SELECT k FROM s)", "a query in an expression", "it keeps rows without a key"),
        ("SELECT * FROM s l WHERE NOT EXISTS (SELECT 1 FROM s r WHERE l.k = r.k)", "a query in", "LEFT ANTI JOIN"),
        ("SELECT * FROM s WHERE v > (SELECT v FROM s)", "a query in an expression", "FROM ... l JOIN"),
        ("SELECT k, coalesce((SELECT v FROM s), 0) AS n FROM s", "a query in an expression", "FROM ... l JOIN"),
        ("SELECT count(*) FROM s", "is never final", "window function"),
        ("SELECT k, count(*) FROM s GROUP BY k", "needs the end of a window", "through a window function"),
        ("SELECT k, count(*) FROM s GROUP BY ALL", "needs the end of a window", "through a window function"),
        ("SELECT * FROM s ORDER BY ALL", "ORDER BY has no meaning", "order the rows where they are read"),
        (f"SELECT window_start, count(*) FROM {TUMBLE} GROUP BY window_start", "the end of a window", "add window_end"),
        (f"SELECT k, count(*) FROM {SESSION} GROUP BY k", "needs the end of a window", "through a window function"),
        (f"SELECT * FROM {SESSION} x JOIN s ON x.k = s.k", "another stream in the same model", "of their own"),
        (f"WITH a AS (SELECT * FROM {SESSION}) SELECT * FROM a x JOIN a y ON x.k = y.k", "read twice", "of their own"),
        (f"SELECT * FROM tumble((SELECT k, window_time AS t FROM {SESSION}), t, '1h')", "windows over", "of their own"),
        (
            f"SELECT *, lag(v) OVER (PARTITION BY k ORDER BY ts) AS l FROM {SESSION}",
            "across the sessions",
            "window_end",
        ),
        ("SELECT * FROM s l FULL JOIN s r USING (k)", "FULL JOIN with USING", "ON l.k = r.k"),
        ("SELECT * FROM session((SELECT *, lag(v) OVER (ORDER BY ts) AS l FROM s), ts, v)", "OVER below", "below"),
        (f"SELECT * FROM {SESSION} UNION ALL SELECT * FROM {SESSION}", "several SESSIONs", "of their own"),
        (f"SELECT * FROM {SESSION} UNION ALL SELECT * FROM names", "other rows beside them", "of their own"),
        (f"SELECT * FROM names LEFT JOIN {SESSION} x ON x.k = names.k", "every micro-batch", "SESSION first"),
        (f"SELECT * FROM {SESSION} x FULL JOIN names ON x.k = names.k", "every micro-batch", "SESSION first"),
        (
            f"SELECT names.* FROM names LEFT SEMI JOIN {SESSION} x ON x.k = names.k",
            "every micro-batch",
            "SESSION first",
        ),
        ("SELECT *, row_number() OVER (PARTITION BY k ORDER BY ts) FROM s", "all rows that ever were", "lower bound"),
        ("SELECT *, lead(v) OVER (ORDER BY ts) FROM s", "still to come", "LAG"),
        ("SELECT *, count(*) OVER (PARTITION BY k) FROM s", "ordered by time", "ORDER BY"),
        ("SELECT *, lag(v, -1) OVER (ORDER BY ts) FROM s", "constant number of rows, 0 or more", "write it"),
        ("SELECT *, lag(v, 1 + 1) OVER (ORDER BY ts) FROM s", "constant number of rows, 0 or more", "write it"),
        (
            "SELECT *, sum(v) OVER (ORDER BY ts ROWS BETWEEN 1 PRECEDING AND -1 PRECEDING) FROM s",
            "still to come",
            "CURRENT ROW",
        ),
        (
            "SELECT *, sum(v) OVER (ORDER BY ts RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND INTERVAL '-1' HOUR "
            "PRECEDING) FROM s",
            "still to come",
            "CURRENT ROW",
        ),
        (
            f"SELECT {BOUNDS}, k, count(*) FROM {TUMBLE} GROUP BY GROUPING SETS (({BOUNDS}, k), (k))",
            "the end of a window",
            "in each grouping set",
        ),
        (
            f"SELECT {BOUNDS}, k, count(*) FROM {SESSION} GROUP BY ROLLUP ({BOUNDS}, k)",
            "the end",
            "in each grouping set",
        ),
        (
            f"SELECT date_trunc('DAY', window_end) AS d, count(*) FROM {SESSION} GROUP BY 1",
            "the end of a window",
            "window_end itself",
        ),
        (
            f"SELECT date_trunc('DAY', window_end) AS d, count(*) FROM (SELECT *, rank() OVER (PARTITION BY {BOUNDS} "
            f"ORDER BY n) AS r FROM ({COUNTS})) GROUP BY date_trunc('DAY', window_end)",
            "needs rows of several micro-batches",
            "of its own",
        ),
        (
            "SELECT *, sum(n) OVER (PARTITION BY date_trunc('DAY', window_end)) AS m FROM (SELECT *, rank() OVER "
            f"(PARTITION BY {BOUNDS} ORDER BY n) AS r FROM ({COUNTS}))",
            "needs rows of several micro-batches",
            "of its own",
        ),
        (
            f"SELECT {BOUNDS}, rank() OVER (PARTITION BY {BOUNDS} ORDER BY count(*)) FROM {TUMBLE} GROUP BY {BOUNDS}",
            "OVER beside GROUP BY",
            "into a subquery",
        ),
        (
            f"SELECT {BOUNDS}, count(DISTINCT v) FROM {TUMBLE} GROUP BY {BOUNDS}",
            "count(DISTINCT v) has no name",
            "AS n",
        ),
        (f"SELECT {BOUNDS}, count(DISTINCT v) AS n FROM {TUMBLE} GROUP BY ALL", "GROUP BY ALL", "ROLLUP (k)"),
        (
            f"SELECT {BOUNDS}, count(DISTINCT v) AS n FROM {TUMBLE} GROUP BY {BOUNDS}, ROLLUP (k), ROLLUP (k)",
            "same grouping set",
            "leave one out",
        ),
        (
            f"SELECT {BOUNDS}, upper(k) AS v, count(DISTINCT v) AS n FROM {TUMBLE} GROUP BY {BOUNDS}, v",
            "v is a column and the name of something else",
            "another name",
        ),
        (
            f"SELECT l.{BOUNDS}, count(DISTINCT v) AS n FROM {TUMBLE} l LEFT ANTI JOIN {TUMBLE} r ON l.k = r.k "
            f"GROUP BY l.{BOUNDS}",
            "DISTINCT values of an ANTI JOIN",
            "into a subquery",
        ),
    ],
)
def test_refused(sql: str, message: str, hint: str) -> None:
    with pytest.raises(TranslationError) as error:
        plan(sql)
    assert message in error.value.message
    assert hint in str(error.value.hint)


TOP = f"(SELECT *, row_number() OVER (PARTITION BY {BOUNDS} ORDER BY n) AS r FROM ({COUNTS}))"
CHANGES = f"(SELECT *, n - lag(n) OVER (PARTITION BY k ORDER BY window_end) AS d FROM ({COUNTS}))"
LATER = f"(SELECT window_end + INTERVAL 1 DAY AS window_end, n FROM {CHANGES})"
SEVERAL = "needs rows of several micro-batches"
ROWS = "(SELECT *, lag(v) OVER (PARTITION BY k ORDER BY ts) AS p FROM s)"
MATCHES = "(SELECT l.ts, l.k, r.v FROM s l ASOF JOIN s r MATCH_CONDITION (l.ts >= r.ts) ON l.k = r.k)"


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT {BOUNDS}, max(r) AS m FROM {TOP} GROUP BY {BOUNDS}",
        f"SELECT *, avg(r) OVER (PARTITION BY {BOUNDS}) AS m FROM {TOP}",
        f"SELECT {BOUNDS}, sum(d) AS m FROM {CHANGES} GROUP BY 1, 2",
        f"SELECT *, rank() OVER (PARTITION BY {BOUNDS} ORDER BY d) AS m FROM {CHANGES}",
        f"SELECT {BOUNDS}, sum(p) AS m FROM (SELECT *, row_number() OVER (PARTITION BY {BOUNDS} ORDER BY v) AS p "
        f"FROM {TUMBLE}) GROUP BY {BOUNDS}",
        f"SELECT * FROM {TOP} t LEFT JOIN names ON t.k = names.k",
        f"WITH a AS {CHANGES} SELECT a.*, name FROM a JOIN names ON a.k = names.k WHERE d > 1",
    ],
)
def test_what_stands_above_over_has_whole_windows(sql: str) -> None:
    assert plan(sql).ending.query is not None


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        (f"SELECT *, row_number() OVER (PARTITION BY k ORDER BY ts) AS m FROM {ROWS}", SEVERAL),
        (f"SELECT *, row_number() OVER (PARTITION BY k ORDER BY ts) AS m FROM {MATCHES}", SEVERAL),
        (f"SELECT *, lag(p) OVER (PARTITION BY k ORDER BY ts) AS m FROM {ROWS}", SEVERAL),
        (f"SELECT *, lag(r) OVER (PARTITION BY k ORDER BY window_end) AS m FROM {TOP}", SEVERAL),
        (f"SELECT *, lag(d) OVER (PARTITION BY k ORDER BY window_end) AS m FROM {CHANGES}", SEVERAL),
        (f"SELECT window_end, max(n) AS m FROM {LATER} GROUP BY window_end", SEVERAL),
        (f"SELECT {BOUNDS}, sum(p) AS m FROM {ROWS.replace('FROM s', f'FROM {TUMBLE}')} GROUP BY {BOUNDS}", SEVERAL),
        (f"SELECT {BOUNDS}, count(*) AS m FROM tumble({ROWS}, ts, '1h') GROUP BY {BOUNDS}", "windows over the rows"),
        (f"SELECT {BOUNDS}, count(*) AS m FROM tumble({MATCHES}, ts, '1h') GROUP BY {BOUNDS}", "windows over the rows"),
        (
            f"SELECT * FROM {ROWS} a JOIN s ON a.k = s.k AND s.ts BETWEEN a.ts AND a.ts + INTERVAL 1 DAY",
            "another stream",
        ),
        (f"SELECT * FROM {ROWS} WHERE k IN (SELECT k FROM s)", "another stream"),
        (f"SELECT * FROM {ROWS} UNION ALL SELECT *, 1 FROM s", "other rows beside them"),
        (f"SELECT k, p FROM {ROWS} UNION ALL SELECT k, 1 FROM names", "other rows beside them"),
        (f"SELECT * FROM names n LEFT JOIN {ROWS} a ON a.k = n.k", "with every micro-batch"),
        (
            f"SELECT * FROM names n LEFT JOIN (SELECT * FROM {ROWS} WHERE p > 1) a ON a.k = n.k",
            "with every micro-batch",
        ),
        (f"WITH a AS {ROWS} SELECT * FROM a x JOIN a y ON x.k = y.k", "are read twice"),
    ],
)
def test_what_stands_above_over_has_one_micro_batch(sql: str, message: str) -> None:
    with pytest.raises(TranslationError) as error:
        plan(sql)
    assert message in error.value.message
    hint = str(error.value.hint)
    assert "a streaming model of its own" in hint or "JOIN or LEFT JOIN behind it" in hint


LOOKUP = "(SELECT l.ts, l.k, r.v FROM s l ASOF JOIN prices r MATCH_CONDITION (l.ts >= r.ts) ON l.k = r.k)"
TWO_LOOKUPS = (
    "(SELECT l.ts, l.k, r.v FROM s l ASOF JOIN prices r MATCH_CONDITION (l.ts >= r.ts) ON l.k = r.k "
    "ASOF JOIN others o MATCH_CONDITION (l.ts >= o.ts) ON l.k = o.k)"
)


class TestRowsOfATableComeOnce:
    """Above what runs on the rows of one micro-batch, no row of a table comes but with a row of the stream."""

    @pytest.mark.parametrize("read", [ROWS, SESSION, LOOKUP, TWO_LOOKUPS])
    @pytest.mark.parametrize(
        ("sql", "message"),
        [
            ("SELECT * FROM names n LEFT JOIN {} a ON a.k = n.k", "keeps rows of a table"),
            ("SELECT * FROM (names n LEFT JOIN {} a ON a.k = n.k)", "keeps rows of a table"),
            ("SELECT * FROM names n LEFT JOIN LATERAL (SELECT * FROM {} a WHERE a.k = n.k)", "keeps rows of a table"),
            ("SELECT n.* FROM names n LEFT SEMI JOIN {} a ON a.k = n.k", "keeps rows of a table"),
            ("SELECT * FROM {} a JOIN names n ON a.k = n.k RIGHT JOIN names m ON m.k = n.k", "keeps rows of a table"),
            ("SELECT * FROM ({} a FULL JOIN names n ON a.k = n.k)", "keeps rows of a table"),
            ("WITH a AS (SELECT * FROM {}) SELECT * FROM names n LEFT JOIN a ON a.k = n.k", "keeps rows of a table"),
            ("SELECT * FROM names n WHERE k IN (SELECT k FROM {})", "rows of a table that"),
            ("SELECT * FROM names n WHERE k NOT IN (SELECT k FROM (SELECT k FROM {}))", "rows of a table that"),
            ("SELECT * FROM names n WHERE EXISTS (SELECT 1 FROM {} a WHERE a.k = n.k)", "rows of a table that"),
            ("SELECT n.k, (SELECT k FROM {}) FROM names n", "rows of a table that"),
            ("SELECT n.k FROM names n JOIN names m ON (SELECT k = 'a' FROM {})", "rows of a table that"),
            ("SELECT n.k, EXISTS (SELECT 1 FROM {}) AS e FROM names n", "rows of a table that"),
            ("WITH a AS (SELECT k FROM {}) SELECT * FROM names WHERE k IN (SELECT k FROM a)", "rows of a table that"),
            ("SELECT k FROM names UNION ALL SELECT k FROM {}", "other rows beside them"),
            ("SELECT k FROM {} HAVING max(k) > 'a'", "is never final"),
            ("SELECT * FROM {} PIVOT (count(*) FOR k IN ('a'))", SEVERAL),
            ("SELECT * FROM {} TABLESAMPLE (3 ROWS)", SEVERAL),
        ],
    )
    def test_refused(self, read: str, sql: str, message: str) -> None:
        with pytest.raises(TranslationError) as error:
            plan(sql.format(read))
        assert message in error.value.message

    @pytest.mark.parametrize("read", [ROWS, SESSION, LOOKUP, TWO_LOOKUPS])
    @pytest.mark.parametrize(
        "sql",
        [
            "SELECT * FROM {} a LEFT JOIN names n ON a.k = n.k",
            "SELECT * FROM names n JOIN (SELECT * FROM {} WHERE k > 'a') a ON a.k = n.k",
            "SELECT * FROM names n, LATERAL (SELECT * FROM {} a WHERE a.k = n.k)",
            "WITH a AS (SELECT * FROM {}) SELECT * FROM a LEFT SEMI JOIN names n ON a.k = n.k",
            "SELECT * FROM {} a WHERE k IN (SELECT k FROM names UNION ALL SELECT k FROM others)",
            "SELECT * FROM {} UNPIVOT (x FOR y IN (k))",
            "SELECT * FROM {} TABLESAMPLE (10 PERCENT)",
        ],
    )
    def test_with_a_row_of_the_stream(self, read: str, sql: str) -> None:
        assert plan(sql.format(read)).ending.query is not None


@pytest.mark.parametrize("dialect", ["spark", "flink"])
def test_functions_mean_the_same_in_every_dialect(dialect: str) -> None:
    """LAG reaches back by its rows, and aggregates are known by their names, in whatever dialect they are written."""
    assert "__newest_0 <= 2" in str(plan("SELECT k, LAG(v, 2) OVER (ORDER BY ts) AS b FROM s", dialect).ending)
    for sql, message in (
        ("SELECT LEAD(v) OVER (ORDER BY ts) AS a FROM s", "LEAD needs rows"),
        ("SELECT COUNT(*) AS n FROM s", "is never final"),
        ("SELECT k, UPPER(k) AS u, COUNT(*) AS n FROM s GROUP BY k, UPPER(k)", "needs the end of a window"),
    ):
        with pytest.raises(TranslationError, match=message):
            plan(sql, dialect)


def test_intervals_of_several_units() -> None:
    assert "INTERVAL 1 HOUR 2 MINUTES" in plan("SELECT ts + INTERVAL 1 HOUR 2 MINUTES AS t FROM s").query


@pytest.mark.parametrize(
    ("sql", "table", "over"),
    [
        ("select * from `db`.`bid`", "`db`.`bid`", "select * from s AS `bid`"),
        ("select b.id from db.bid b where b.v > 1", "db.bid", "select b.id from s b where b.v > 1"),
        (
            "with source as (select * from db.bid), r as (select id, bid.v from source bid) select * from r",
            "db.bid",
            "with source as (select * from s AS bid), r as (select id, bid.v from source bid) select * from r",
        ),
        (
            "select 'bid' as bid, explode(xs) as x from bid",
            "bid",
            "select 'bid' as bid, explode(xs) as x from s AS bid",
        ),
    ],
)
def test_views_over_a_table(sql: str, table: str, over: str) -> None:
    view = RowView.read(sql)
    assert (view.table, view.over("s")) == (table, over)


def test_a_view_over_a_view() -> None:
    view = RowView.read("select id from db.a where v > 1").below(RowView.read("select id + 1 as id from b x"))
    assert view.table == "db.a"
    assert view.over("s") == "select id + 1 as id from (select id from s AS a where v > 1) x"


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("select count(*) from bid", "it has an aggregate"),
        ("select k from bid group by k", "it has GROUP BY"),
        ("select * from a join b", "it has a join"),
        ("select * from a, b", "it has a join"),
        ("select distinct k from a", "it has DISTINCT"),
        ("select * from a order by 1", "it has ORDER BY"),
        ("select * from a limit 3", "it has LIMIT"),
        ("select * from a union all select * from b", "it has a set operation"),
        ("select sum(v) over (partition by k) as s from a", "it has"),
        ("select * from a where x in (select y from b)", "it reads 2 tables"),
        ("select 1 as x", "it reads 0 tables"),
        ("select * from range(5)", "it reads no table"),
    ],
)
def test_views_that_take_more_than_a_row(sql: str, message: str) -> None:
    with pytest.raises(TranslationError) as error:
        RowView.read(sql)
    assert error.value.message.startswith(message)


@pytest.mark.parametrize("keys", ["1, 2", "ALL", "e, window_start", "window_start, e"])
def test_keys_by_number_and_output_name(keys: str) -> None:
    sql = f"SELECT window_start, window_end AS e, count(*) AS n FROM {TUMBLE} GROUP BY {keys}"
    assert plan(sql).windows == ("window_start", "e")


def test_translate_shows_the_plan() -> None:
    text = translate(
        f"SELECT {BOUNDS}, count(*) AS n FROM tumble(db.bid, ts, '1 hour') GROUP BY {BOUNDS}", mode="stream"
    )
    assert text.startswith("WITH __tumble_1 AS (\n/* tumble: windows of 1 hour on ts */")
    assert text.endswith(f"SELECT * FROM (\nSELECT {BOUNDS}, count(*) AS n FROM __tumble_1 GROUP BY {BOUNDS}\n)")
    with pytest.raises(TranslationError, match="ORDER BY has no meaning"):
        translate("SELECT * FROM bid ORDER BY ts", mode="stream")


def test_the_bounds_of_a_stream_are_timestamps() -> None:
    """A watermark needs one, so dialect flink has them as well."""
    call = "CUMULATE(TABLE {}, DESCRIPTOR(ts), INTERVAL '1' HOUR, INTERVAL '4' HOUR)"
    [stage] = plan(f"SELECT * FROM {call.format('s')}", "flink").stages
    assert "coalesce(__step.end, __rows.ts) AS window_end" in stage.sql
    assert "OR NOT" in stage.sql


@pytest.mark.parametrize(
    ("sql", "by_instant"),
    [
        (f"SELECT {BOUNDS}, count(*) AS n FROM session(s, ts, '5m') GROUP BY {BOUNDS}", True),
        ("SELECT * FROM session(s, ts, '5m')", False),
        (COUNTS, False),
    ],
)
def test_sessions_that_spark_aggregates_follow_the_instant(sql: str, by_instant: bool) -> None:
    assert plan(sql).by_instant is by_instant


def test_a_slide_longer_than_the_size_is_warned_of() -> None:
    found: list[TranslationWarning] = []
    plan_of("SELECT * FROM hop(s, ts, '1 hour', '10 minutes')", streams=["s"], warn=found.append)
    assert [warning.message[:27] for warning in found] == ["hop(..., slide, size): the "]


@pytest.mark.parametrize(
    ("sql", "held"),
    [
        (COUNTS, True),
        (f"WITH a AS ({COUNTS}) SELECT * FROM a", True),
        (f"SELECT * FROM ({COUNTS}) UNION ALL SELECT * FROM ({COUNTS})", True),
        ("SELECT * FROM TUMBLE(s, ts, INTERVAL '1' MINUTE)", False),
        ("SELECT k, ts FROM s", False),
        (f"WITH a AS (SELECT * FROM s) SELECT window_end FROM ({COUNTS}) UNION ALL SELECT ts FROM a", False),
        (
            "SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY window_start, window_end ORDER BY ts) AS n "
            "FROM TUMBLE(s, ts, INTERVAL '1' MINUTE)) WHERE n = 1",
            True,
        ),
    ],
)
def test_what_is_held_until_its_window_is_closed(sql: str, held: bool) -> None:
    assert plan(sql).held is held


def test_streams_that_meet() -> None:
    assert not plan(COUNTS).meets
    assert not plan(f"{COUNTS} UNION ALL {COUNTS}").meets
    assert plan(
        f"WITH a AS ({COUNTS}) SELECT x.* FROM a x JOIN a y ON x.window_end = y.window_end "
        "AND x.window_start = y.window_start"
    ).meets


def test_the_columns_of_a_window_are_its_begin_and_then_its_end() -> None:
    assert plan(
        "SELECT e, s AS b FROM (SELECT window_end AS e, window_start AS s, count(*) AS n FROM "
        "TUMBLE(s, ts, INTERVAL '1' MINUTE) GROUP BY window_start, window_end)"
    ).windows == ("b", "e")
