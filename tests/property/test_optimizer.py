"""The optimiser against the plain translation: the same rows, column names and types for random tables and windows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sqlglot import exp, parse_one

from dbt.adapters.sparkstream.sql import explain, translate
from dbt.adapters.sparkstream.sql.passes.optimize import cumulate, hop, running, sliding
from tests.lib.support import sampled, seldom
from tests.property.test_windows import (
    CLOCK_CHANGES,
    MINUTE,
    MS,
    UNITS,
    Batch,
    Case,
    Query,
    cases,
    compare_with_plain,
    edges,
    make_rows,
    schema_of,
    statement,
    table_function,
    thorough,
    translated,
    zones,
)
from tests.property.window_reference import DAY, HOUR, Cumulate, Hop, Session, Tumble

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

INPUT = (
    "(SELECT number, ts, k, v, v * 0.25D AS d, CAST(v * 1.37 AS DECIMAL(10,2)) AS m,"
    " CAST(v * 999999999.9999 AS DECIMAL(14,4)) AS x,"
    " CAST(v * 1.0001 AS DECIMAL(22,4)) AS wide, v * 1000000007L AS b, v > 0 AS flag, CAST(v AS STRING) AS s"
    " FROM all_rows WHERE number = {})"
)


@st.composite
def overlapping(draw: Callable[..., Any], unit: int) -> Hop | Cumulate:
    """Windows that slices pay for."""
    offset = draw(st.sampled_from((0, 0, 1))) * (draw(st.integers(-40, 40)) * unit + draw(st.sampled_from((0, MS))))
    if draw(st.booleans()):
        slide = draw(st.integers(1, 4)) * unit
        return Hop(slide, draw(st.integers(4 * slide // unit, 16)) * unit, offset)
    step = draw(st.integers(1, 4)) * unit
    return Cumulate(step, step * draw(st.integers(3, 9)), offset)


@st.composite
def overlapping_batches(draw: Callable[..., Any], zone: str) -> Batch:
    type_ = draw(st.sampled_from(("timestamp", "timestamp_ntz")))
    made = [draw(cases(zone, type_ == "timestamp")) for _ in range(4)]
    units = [draw(st.sampled_from(UNITS)) for _ in made]
    windowed = tuple(Case(draw(overlapping(u)), c.rows) for u, c in zip(units, made, strict=True))
    return Batch(zone, type_, draw(st.booleans()), windowed)


def over(select: str, rest: str = "GROUP BY window_start, window_end") -> Query:
    """A query over the window function: what stands before FROM and behind it."""

    def query(number: int, case: Case) -> str:
        return (
            f"SELECT {number} AS number, {select} FROM {table_function(case.window, INPUT.format(number))} AS h {rest}"
        )

    return query


def sessions(select: str, by: str = "", *, having: str = "", bounds: str = "window_start, window_end") -> Query:
    """A query over SESSION that groups by its keys."""

    def query(number: int, case: Case) -> str:
        assert isinstance(case.window, Session)
        keys = ", k" if case.window.keyed else ""
        group = f"GROUP BY {bounds}{keys}{f', {by}' if by else ''} {having}"
        return over(f"{bounds}, {select}", group)(number, case)

    return query


KEYED = "GROUP BY window_start, window_end, k"
QUERIES = {
    "counts": over("window_start, window_end, count(*) AS n, count(v) AS nv, count_if(v > 0) AS np"),
    "sums": over("window_start, window_end, k, sum(v) AS v, sum(m) AS m, sum(d) AS d, sum(v + m) AS vm", KEYED),
    "exact sums": over(
        "window_start, window_end, k, sum(v) AS v, sum(b) AS b, sum(m) AS m, sum(wide) AS w, avg(v) AS av,"
        " avg(m) AS am, sum(x) AS x, avg(x) AS ax,"
        " sum(v) FILTER (WHERE v > 2) AS v2, count(*) FILTER (WHERE k = 'a') AS n",
        KEYED,
    ),
    "different values": over(
        "window_start, window_end, k, count(DISTINCT v % 5) AS d, count(*) AS n, avg(v) AS a", KEYED
    ),
    "different values beside the rest": over(
        "window_start, window_end, k, count(DISTINCT v % 5) AS c, max(s) AS high, min(v) FILTER (WHERE flag) AS low,"
        " sum(d) AS d, avg(d) AS ad, bit_xor(v) AS x, bool_or(flag) AS o, sum(m) AS m,"
        " sum(CAST(m AS DECIMAL(30,2))) AS huge",
        KEYED,
    ),
    "different values, filtered": over(
        "window_end, count(DISTINCT s) FILTER (WHERE v % 2 = 0) AS d, count(*) FILTER (WHERE flag) AS n",
        "WHERE v IS NULL OR v <> 3 GROUP BY window_start, window_end",
    ),
    "no aggregate": over("window_start, window_end, k", KEYED),
    "averages": over(
        "window_start, window_end, avg(v) AS v, avg(m) AS m, mean(d) AS d, avg(m * 3) AS m3, avg(x) AS x, min(x) AS low"
    ),
    "extremes": over("window_start, window_end, min(v) AS low, max(s) AS high, min(d) AS d, max(m) AS m, max(ts) AS t"),
    "logic": over(
        "window_start, window_end, bool_and(flag) AS a, bool_or(flag) AS o, every(v > 3) AS e,"
        " bit_or(v) AS bo, bit_and(v) AS ba, bit_xor(v) AS bx"
    ),
    "all bounds": over(
        "window_time, window_end, window_start, sum(v) AS v", "GROUP BY window_start, window_end, window_time"
    ),
    "one bound": over("window_end, count(*) AS n, sum(v) AS v, sum(m) AS m", "GROUP BY window_end"),
    "time and a date": over(
        "date(window_end) AS d, count(*) AS n", "GROUP BY window_end, window_start, date(window_end)"
    ),
    "filters": over(
        "window_start, window_end, k, sum(v) FILTER (WHERE v > 2) AS v, count(*) FILTER (WHERE k = 'a') AS n", KEYED
    ),
    "expressions": over(
        "window_end, k || '!' AS k, coalesce(sum(v), 0) * 2 + count(*) AS x, round(sum(d), 1) AS d",
        "WHERE v > -5 GROUP BY window_start, window_end, k || '!'",
    ),
    "having": over(
        "window_start AS a, window_end AS b, k, count(*) AS n, sum(v) AS total",
        f"WHERE v IS NOT NULL {KEYED} HAVING count(*) > 1 AND total > -20",
    ),
    "window condition": over(
        "window_start, window_end, count(*) AS n", "WHERE v <> 1 AND window_end > window_start GROUP BY 2, 3"
    ),
    "rollup": over(
        "window_start, window_end, k, flag, sum(v) AS v, grouping(flag) AS g", f"{KEYED[:-3]}, ROLLUP (k, flag)"
    ),
    "grouping sets": over(
        "window_start, window_end, k, flag, sum(m) AS m, count(*) AS n",
        "GROUP BY GROUPING SETS ((window_start, window_end, k), (window_start, window_end, flag),"
        " (window_start, window_end))",
    ),
    "ranked": over(
        "window_start, window_end, k, sum(v) AS v, rank() OVER (PARTITION BY window_start, window_end"
        " ORDER BY sum(v) DESC, k) AS place, sum(count(*)) OVER (PARTITION BY h.window_start, window_end) AS n",
        KEYED,
    ),
    "distinct extremes": over("window_start, window_end, max(DISTINCT v) AS v"),
}


# Where windows with the same bounds are one, and over HOP, these aren't put together from slices.
CUMULATED = {
    "values and extremes": over(
        "window_start, window_end, count(DISTINCT s) AS d, max(d) AS high, sum(m) AS m, bool_or(flag) AS f",
        "WHERE v IS NULL OR v > -8 GROUP BY window_start, window_end, k HAVING count(DISTINCT s) > 1",
    ),
    "values by end": over("window_end, count(DISTINCT k) AS d", "GROUP BY window_end"),
}


# A session's bounds and count are those of all its rows: these queries group by its keys, and have no WHERE on rows.
SESSIONS = {
    "counts and sums": sessions("count(*) AS n, count(v) AS nv, sum(v) AS v, sum(m) AS m, avg(wide) AS w"),
    "bounds": sessions("window_time, date(window_end) AS d, min(ts) AS low, max(s) AS high", "window_time, 3"),
    "having": sessions("count(*) FILTER (WHERE v > 0) AS n, bool_or(flag) AS o", having="HAVING count(*) > 1"),
    "one bound": sessions("bit_xor(v) AS v, avg(v) AS a", bounds="window_start"),
}


# Aggregates that slices can't give: all rows of a window at once.
WHOLE = {
    "distinct": over("window_start, window_end, k, count(DISTINCT v) AS n, sum(DISTINCT v) AS s", KEYED),
    "deviations": over("window_start, window_end, round(stddev(v), 6) AS d, percentile(v, 0.5) AS p, count(*) AS n"),
    "lists": over(
        "window_start, window_end, k, flag, array_join(sort_array(collect_list(v)), ' ') AS l,"
        " count(DISTINCT s) FILTER (WHERE flag) AS n",
        f"WHERE v IS NOT NULL {KEYED[:-3]}, ROLLUP (k, flag) HAVING count(*) > 1",
    ),
}


def clock_changes(zone: str) -> Batch:
    """Windows that slices pay for, on days when the clock is changed."""
    batch = edges(zone)
    return replace(batch, cases=tuple(c for c in batch.cases if isinstance(c.window, Hop | Cumulate)))


@pytest.fixture(autouse=True)
def every_window_pays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows that are small enough for tiny tables."""
    monkeypatch.setattr(hop, "LEAST_OVERLAP", 3)
    monkeypatch.setattr(cumulate, "LEAST_STEPS", 3)
    monkeypatch.setattr(running, "WINDOWS_IN_BLOCK", 2)
    monkeypatch.setattr(sliding, "SHORT", 8)


@pytest.mark.parametrize("name", sampled([*QUERIES, *CUMULATED], share=4))
def test_same_answer(spark: SparkSession, name: str) -> None:
    @settings(thorough, max_examples=1)
    @given(st.sampled_from(list(CLOCK_CHANGES)).flatmap(overlapping_batches))
    @example(clock_changes("Europe/Berlin"))
    def same(batch: Batch) -> None:
        compare_with_plain(spark, replace(batch, typed=True), {**QUERIES, **CUMULATED}[name])

    same()


@pytest.mark.full
@zones
@pytest.mark.parametrize("name", [*QUERIES, *CUMULATED])
def test_same_answer_in_every_zone(spark: SparkSession, zone: str, name: str) -> None:
    @thorough
    @given(overlapping_batches(zone))
    @example(clock_changes(zone))
    def same(batch: Batch) -> None:
        compare_with_plain(spark, batch, {**QUERIES, **CUMULATED}[name])

    same()


@pytest.mark.parametrize("name", ["sums", "one bound", "filters"])
def test_same_answer_without_types(spark: SparkSession, name: str) -> None:
    @settings(thorough, max_examples=1)
    @given(st.sampled_from(list(CLOCK_CHANGES)).flatmap(overlapping_batches))
    def same(batch: Batch) -> None:
        compare_with_plain(spark, replace(batch, typed=False), QUERIES[name])

    same()


@st.composite
def session_batches(draw: Callable[..., Any], zone: str) -> Batch:
    """Sessions that most slices of hold several rows."""
    type_ = draw(st.sampled_from(("timestamp", "timestamp_ntz")))
    made = [draw(cases(zone, type_ == "timestamp")) for _ in range(6)]
    gaps = [
        Session(gap=draw(st.integers(1, 9)) * draw(st.sampled_from(UNITS)), keyed=draw(st.booleans())) for _ in made
    ]
    return Batch(zone, type_, True, tuple(Case(g, c.rows) for g, c in zip(gaps, made, strict=True)))


def session_edges(zone: str) -> Batch:
    batch = edges(zone)
    return replace(batch, typed=True, cases=tuple(c for c in batch.cases if isinstance(c.window, Session)))


@pytest.mark.long
@pytest.mark.parametrize("name", ["counts and sums", "having", *seldom(["bounds", "one bound"])])
def test_same_sessions(spark: SparkSession, name: str) -> None:
    @settings(thorough, max_examples=2)
    @given(st.sampled_from(list(CLOCK_CHANGES)).flatmap(session_batches))
    @example(session_edges("Europe/Berlin"))
    def same(batch: Batch) -> None:
        compare_with_plain(spark, batch, SESSIONS[name])

    same()


@st.composite
def hops(draw: Callable[..., Any], zone: str) -> Batch:
    """HOPs of any overlap, sizes that are no multiple of the slide among them."""
    type_ = draw(st.sampled_from(("timestamp", "timestamp_ntz")))
    made = [draw(cases(zone, type_ == "timestamp")) for _ in range(5)]
    windows = []
    for _ in made:
        unit = draw(st.sampled_from(UNITS))
        slide = draw(st.integers(1, 6))
        offset = draw(st.sampled_from((0, 0, 1))) * (draw(st.integers(-40, 40)) * unit + draw(st.sampled_from((0, MS))))
        windows.append(Hop(slide * unit, draw(st.integers(slide, 16)) * unit, offset))
    return Batch(zone, type_, True, tuple(Case(w, c.rows) for w, c in zip(windows, made, strict=True)))


def overlapping_edges(zone: str) -> Batch:
    """HOPs on days when the clock is changed, and in other corners."""
    batch = edges(zone)
    overlap = [c for c in batch.cases if isinstance(c.window, Hop) and c.window.slide <= c.window.size]
    return replace(batch, typed=True, cases=tuple(overlap))


@pytest.mark.parametrize("name", sampled(WHOLE))
def test_same_answer_by_copies(spark: SparkSession, name: str) -> None:
    @settings(thorough, max_examples=2)
    @given(st.sampled_from(list(CLOCK_CHANGES)).flatmap(hops))
    @example(overlapping_edges("Europe/Berlin"))
    def same(batch: Batch) -> None:
        assert set(rules(batch, WHOLE[name])) <= {"hop-copies", None}
        assert translated(batch, WHOLE[name], optimize=True) != translated(batch, WHOLE[name], optimize=False)
        compare_with_plain(spark, batch, WHOLE[name])

    same()


@st.composite
def tumbles(draw: Callable[..., Any], zone: str) -> Batch:
    """TUMBLEs of TIMESTAMPs, some of which begin or end in an hour that the clock skips."""
    made = [draw(cases(zone, True)) for _ in range(5)]
    sizes = [draw(st.integers(1, 90)) * draw(st.sampled_from((*UNITS, HOUR, DAY))) for _ in made]
    offsets = [draw(st.sampled_from((0, 1))) * draw(st.integers(1 - size, size - 1)) // MS * MS for size in sizes]
    windows = [Tumble(size, max(offset, MS - size)) for size, offset in zip(sizes, offsets, strict=True)]
    return Batch(zone, "timestamp", True, tuple(Case(w, c.rows) for w, c in zip(windows, made, strict=True)))


def tumbling_edges(zone: str) -> Batch:
    """TUMBLEs on days when the clock is changed, by half hours too, and in other corners."""
    batch = edges(zone)
    found = [c for c in batch.cases if isinstance(c.window, Tumble)]
    halves = [Case(Tumble(HOUR, HOUR // 2), c.rows) for c in found]
    return replace(batch, typed=True, cases=tuple(found + halves))


GROUPED = {name: QUERIES[name] for name in ("sums", "all bounds", "expressions", "window condition", "ranked")}


@pytest.mark.parametrize("name", sampled([*GROUPED, *WHOLE]))
def test_same_answer_by_groups(spark: SparkSession, name: str) -> None:
    query = {**GROUPED, **WHOLE}[name]

    @settings(thorough, max_examples=2)
    @given(st.sampled_from(list(CLOCK_CHANGES)).flatmap(tumbles))
    @example(tumbling_edges("Europe/Berlin"))
    def same(batch: Batch) -> None:
        assert set(rules(batch, query)) == {"tumble-groups"}
        compare_with_plain(spark, batch, query)

    same()


def rules(batch: Batch, query: Query) -> list[str | None]:
    """The rules that rewrote the query of each case."""
    return [found.rule for found in explain(statement(batch, query), schema=schema_of(batch)).decisions]


@pytest.mark.parametrize("name", SESSIONS)
def test_a_rule_applies_to_sessions(name: str) -> None:
    assert rules(session_edges("Europe/Berlin"), SESSIONS[name]).count("session-slices") >= 2


@pytest.mark.parametrize("name", [*QUERIES, *CUMULATED])
def test_a_rule_applies(name: str) -> None:
    """Else the tests above compare a query with itself."""
    batch = replace(clock_changes("Europe/Berlin"), type="timestamp_ntz")
    found = rules(batch, {**QUERIES, **CUMULATED}[name])
    assert found.count("cumulate-slices") >= 2
    assert name in CUMULATED or found.count("hop-slices") >= 2


LARGE = {
    "the sum of all": "timestamp_seconds(id * 60) AS ts, IF(id < 30, 1, -1) * 2305843009213693951L AS b",
    "the least sum": "timestamp_seconds(id * 120) AS ts, IF(id % 2 = 0, 1, -1) - 4611686018427387904L AS b",
}


@pytest.mark.parametrize("rows", LARGE)
def test_bigints_have_room_for_what_a_window_has(spark: SparkSession, rows: str) -> None:
    """Sums that run on over several windows would have none."""
    spark.sql(f"SELECT {LARGE[rows]} FROM range(60)").createOrReplaceTempView("large")
    window = "HOP(large, ts, INTERVAL '1' MINUTE, INTERVAL '4' MINUTE)"
    sql = f"SELECT window_end, sum(b) AS b FROM {window} GROUP BY window_start, window_end"
    schema = {"large": {"ts": "timestamp", "b": "bigint"}}
    plain, fast = (translate(sql, schema=schema, optimize=optimize) for optimize in (False, True))
    # What is subtracted is a sum of all that came up to some time before.
    frames = [spec.args for spec in parse_one(fast, read="spark").find_all(exp.WindowSpec)]
    assert any((f["start"], f.get("end_side")) == ("UNBOUNDED", "PRECEDING") for f in frames)
    for ansi in ("true", "false"):
        spark.conf.set("spark.sql.ansi.enabled", ansi)
        assert sorted(spark.sql(plain).collect()) == sorted(spark.sql(fast).collect())


def test_hops_of_one_slide_share_their_slices(spark: SparkSession) -> None:
    """Spark aggregates the slices once: the queries for them are the same."""
    batch = clock_changes("UTC")
    make_rows(spark, batch)
    windows = (Hop(MINUTE, 20 * MINUTE), Hop(MINUTE, 30 * MINUTE))
    sql = " UNION ALL ".join(QUERIES["sums"](0, Case(window, ())) for window in windows)
    frame = spark.sql(translate(sql, schema=schema_of(batch)))
    frame.collect()
    plan = frame._jdf.queryExecution().executedPlan().toString()
    assert plan.split("== Initial Plan ==")[0].count("ReusedExchange") == 1


def utc_batches() -> dict[str, tuple[Batch, Query]]:
    """One query of each rule."""
    return {
        "slices": (clock_changes("UTC"), QUERIES["sums"]),
        "copies": (overlapping_edges("UTC"), next(iter(WHOLE.values()))),
        "sessions": (session_edges("UTC"), next(iter(SESSIONS.values()))),
        "groups": (tumbling_edges("UTC"), QUERIES["sums"]),
    }


@pytest.mark.parametrize("rule", utc_batches())
def test_same_answer_in_utc(spark: SparkSession, rule: str) -> None:
    """Where no time is converted."""
    batch, query = utc_batches()[rule]
    compare_with_plain(spark, replace(batch, type="timestamp", typed=True), query)


@pytest.mark.parametrize(
    "window",
    [
        "HOP(clock, ts, INTERVAL '1' MINUTE, INTERVAL '1' HOUR)",
        "HOP(clock, ts, INTERVAL '1' MINUTE, INTERVAL '5' MINUTE)",
        "CUMULATE(clock, ts, INTERVAL '1' MINUTE, INTERVAL '1' HOUR)",
        "SESSION(clock, ts, INTERVAL '1' MINUTE)",
        "TUMBLE(clock, ts, INTERVAL '1' MINUTE)",
    ],
)
def test_no_time_is_converted_in_utc(spark: SparkSession, window: str) -> None:
    """Spark knows when it plans the query that the wall clock is the instant."""
    spark.sql("SELECT timestamp_micros(id) AS ts FROM range(9)").createOrReplaceTempView("clock")
    sql = f"SELECT window_start, window_end, count(*) AS n FROM {window} GROUP BY window_start, window_end"
    sql = translate(sql, schema={"clock": {"ts": "timestamp"}})
    for zone, converts in (("UTC", False), ("Europe/Berlin", True)):
        spark.conf.set("spark.sql.session.timeZone", zone)
        plan = spark.sql(f"EXPLAIN {sql}").collect()[0][0]
        assert ("utc_timestamp" in plan) is converts


@pytest.mark.parametrize(("keys", "exchanges"), [(", k", 1), ("", 2)])
def test_the_rows_of_a_session_change_tasks_once(spark: SparkSession, keys: str, exchanges: int) -> None:
    """By key, before they are aggregated; without keys all would be one task's, so slices are aggregated first."""
    spark.sql("SELECT timestamp_micros(id) AS ts, id % 3 AS k FROM range(9)").createOrReplaceTempView("clicks")
    by = f" PARTITION BY {keys[2:]}" if keys else ""
    window = f"SESSION(clicks{by}, ts, INTERVAL '1' MINUTE)"
    sql = f"SELECT window_start, window_end{keys}, count(*) AS n FROM {window} GROUP BY window_start, window_end{keys}"
    sql = translate(sql, schema={"clicks": {"ts": "timestamp", "k": "bigint"}})
    plan = spark.sql(f"EXPLAIN {sql}").collect()[0][0]
    assert sum(line.lstrip(" :+-").startswith("Exchange") for line in plan.splitlines()) == exchanges


@pytest.mark.parametrize("aggregate", ["sum(v)", "max(v)", "avg(d)", "count(DISTINCT v)", "max(v), count(DISTINCT v)"])
@pytest.mark.parametrize("window", ["HOP", "CUMULATE"])
def test_a_stage_sorts_once(spark: SparkSession, window: str, aggregate: str) -> None:
    """A sort has its memory until its stage ends, so two of them take twice as much."""
    spark.sql(
        "SELECT /*+ REPARTITION(2) */ timestamp_micros(id) AS ts, id AS v, id * 0.5D AS d FROM range(9)"
    ).createOrReplaceTempView("few")
    window = f"{window}(few, ts, INTERVAL '1' MINUTE, INTERVAL '1' HOUR)"
    aggregates = ", ".join(f"{one} AS a{i}" for i, one in enumerate(aggregate.split(", ")))
    sql = f"SELECT window_start, window_end, {aggregates} FROM {window} GROUP BY window_start, window_end"
    found = explain(sql, schema={"few": {"ts": "timestamp", "v": "bigint", "d": "double"}})
    assert [d.rule for d in found.decisions] in (["hop-slices"], ["cumulate-slices"])
    stages = spark.sql(f"EXPLAIN {found.sql}").collect()[0][0].split("Exchange")
    assert max(stage.count("Sort [") for stage in stages) == 1
