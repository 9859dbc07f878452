"""Gap filling of random windows: the definition, pandas and Spark give the same rows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import groupby
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.lib.macros import macros
from tests.property.gapfill_reference import Filled, Gapfill, Row, Window
from tests.property.test_windows import (
    BEFORE_1970,
    CLOCK_CHANGES,
    EPOCH,
    MICROSECOND,
    ORDINARY,
    UNITS,
    zones_of_long_tests,
)
from tests.property.window_reference import MINUTE, MS, SECOND, Cumulate, Hop, Tumble, instant, wall_clock

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Table = tuple[Row, ...]

quick = settings(deadline=None, phases=(Phase.explicit, Phase.generate, Phase.shrink))
thorough = settings(
    max_examples=2, derandomize=True, deadline=None, phases=(Phase.generate,), suppress_health_check=list(HealthCheck)
)


@dataclass(frozen=True)
class Case:
    fill: Gapfill
    rows: Table


@st.composite
def windows(draw: Callable[..., Any], unit: int) -> Window:
    def count(low: int, high: int) -> int:
        return draw(st.integers(low, high)) * unit

    kind = draw(st.sampled_from((Tumble, Tumble, Hop, Cumulate)))
    offset = draw(st.sampled_from((0, 0, 1))) * (count(-9, 9) + draw(st.sampled_from((0, MS, -17 * MS))))
    if kind is Tumble:
        return Tumble(count(1, 4), offset)
    if kind is Hop:
        return Hop(slide=count(1, 4), size=count(1, 6), offset=offset)
    step = count(1, 4)
    return Cumulate(step=step, size=step * draw(st.integers(1, 5)), offset=offset)


@st.composite
def cases(draw: Callable[..., Any], zone: str | None) -> Case:
    """A table of windows, each with at least one row of some input in it."""
    unit = draw(st.sampled_from(UNITS))
    changes = CLOCK_CHANGES[zone] if zone else ()
    around = draw(st.sampled_from((ORDINARY, EPOCH, BEFORE_1970, *changes * 3)))
    if changes and around in changes:
        unit = draw(st.sampled_from((5 * MINUTE, 15 * MINUTE, 15 * MINUTE, 30 * MINUTE, 60 * MINUTE)))
    times = st.integers(-12, 12).map(lambda n: around + n * unit)
    window = draw(windows(unit))

    def exists(time: int) -> bool:
        return zone is None or wall_clock(instant(time, zone), zone) == time

    one_way = draw(st.integers(0, 3))
    since = draw(times) if one_way % 2 else None
    until = draw(times) if one_way > 1 else None
    if since is not None and until is not None and since > until:
        since, until = until, since
    everywhere = draw(st.booleans())
    fill = Gapfill(
        window,
        zone,
        since=since if since is None or exists(since) else None,
        until=until if until is None or exists(until) else None,
        everywhere=everywhere,
        longest=draw(st.sampled_from((None, None, 2 * unit, 5 * unit))),
    )
    if everywhere or (fill.since is not None and fill.until is not None):
        fill = replace(fill, spine=draw(st.sampled_from(((), ("a", "z"), (None, "b")))))
    rows: list[Row] = []
    for key in draw(st.lists(st.sampled_from(("a", "b", None)), unique=True, max_size=3)):
        found: dict[Any, Any] = {}
        for time in draw(st.lists(times.filter(exists), max_size=4)):
            for bounds in window.windows(time):
                if draw(st.integers(0, 2)):
                    # Two windows of the wall clock with the same instants are one, which reaches to the later end.
                    shown = fill.shown(bounds)
                    found[shown] = max(found.get(shown, bounds), bounds, key=lambda pair: pair[1])
        values = st.one_of(st.none(), st.integers(-9, 9))
        rows += [Row(key, bounds, draw(values)) for bounds in found.values()]
        if draw(st.integers(0, 5)) == 0:
            rows.append(Row(key, None, draw(values)))
    return Case(fill, tuple(rows))


# -- pandas ----------------------------------------------------------------------------------------------
def in_pandas(fill: Gapfill, rows: Sequence[Row]) -> Counter[Any]:
    """What reindex, ffill and interpolate give per key, for windows side by side without a NULL."""
    found: Counter[Any] = Counter()
    assert isinstance(fill.window, Tumble)
    size = fill.window.size
    for key, own in groupby(sorted(rows, key=lambda row: row.key or ""), key=lambda row: row.key):
        series = pd.Series({row.bounds[1]: row.value for row in own if row.bounds}, dtype="float64").sort_index()
        everything = range(series.index[0], series.index[-1] + size, size)
        wide = series.reindex(everything)
        ways = (wide, wide.ffill(), wide.interpolate(), series.reindex(everything, method="nearest"), wide.fillna(0))
        for end in everything:
            values = [None if pd.isna(way[end]) else round(way[end], 9) for way in ways[:3]]
            # Of two windows equally far away pandas takes the later one.
            near = ways[3][end] if not _is_amid(series, end) else ways[1][end]
            found[(key, end - size, end, *values, near, ways[4][end], end not in series.index)] += 1
    return found


def _is_amid(series: pd.Series[float], end: int) -> bool:
    earlier, later = series.index[series.index <= end].max(), series.index[series.index >= end].min()
    return bool(end - earlier == later - end)


@quick
@given(cases(None))
def test_the_definition_is_what_pandas_does(case: Case) -> None:
    size = case.fill.window.size
    fill = Gapfill(Tumble(size), None)
    rows = [
        Row(row.key, (end - size, end), row.value or 0)
        for row in case.rows
        if row.bounds
        for end in [row.bounds[1] - row.bounds[1] % size]
    ]
    rows = list({(row.key, row.bounds): row for row in rows}.values())
    assert Counter(_rounded(row) for row in fill.rows(rows)) == in_pandas(fill, rows)


def _rounded(row: Filled) -> tuple[Any, ...]:
    return tuple(round(value, 9) if isinstance(value, float) else value for value in row)


# -- Spark -----------------------------------------------------------------------------------------------
def interval(micros: int) -> str:
    return f"{micros // SECOND}.{micros % SECOND:06} seconds" if micros >= 0 else f"-{interval(-micros)}"


def wall_text(micros: int) -> str:
    return str(datetime(1970, 1, 1) + timedelta(microseconds=micros))


def call(number: int, case: Case) -> str:
    """The macro's SQL over the rows of one case."""
    fill, window = case.fill, case.fill.window
    more: dict[str, Any] = {}
    if isinstance(window, Hop):
        more["slide"] = interval(window.slide)
    if isinstance(window, Cumulate):
        more["step"] = interval(window.step)
    if fill.since is not None:
        more["from"] = wall_text(fill.since)
    if fill.until is not None:
        more["to"] = f"timestamp_ntz'{wall_text(fill.until)}'"
    if fill.longest is not None:
        more["max_gap"] = interval(fill.longest)
    if fill.spine:
        more["spine"] = "(SELECT k FROM VALUES {} AS s(k))".format(", ".join(f"({literal(k)})" for k in fill.spine * 2))
    sql = macros("spark").call(
        "gapfill",
        f"(SELECT window_start, note, v, k, a, b, c, d, window_end FROM all_windows WHERE number = {number})",
        "k",
        interval(window.size),
        offset=interval(window.offset),
        fill={"d": 0, "a": "locf", "b": "linear", "c": "nearest"},
        span="all" if fill.everywhere else "key",
        **more,
    )
    return str(sql)


def literal(value: object) -> str:
    return "NULL" if value is None else repr(value)


def make_windows(spark: SparkSession, batch: Sequence[Case], zone: str | None) -> None:
    time = "timestamp_micros({})" if zone else "timestampadd(MICROSECOND, {}, TIMESTAMP_NTZ '1970-01-01 00:00:00')"
    values = [
        f"({number}, {literal(row.key)}, {', '.join(map(literal, bounds))}, {literal(row.value)})"
        for number, case in enumerate(batch)
        for row in case.rows
        for bounds in [case.fill.shown(row.bounds) if row.bounds else (None, None)]
    ]
    columns = [f"CAST({name} AS {type_}) AS {name}" for name, type_ in (("k", "STRING"), ("v", "INT"))]
    bounds = [f"{time.format(f'CAST({at} AS BIGINT)')} AS window_{at}" for at in ("start", "end")]
    spark.sql(
        f"SELECT number, {', '.join(columns + bounds)}, CAST(v AS INT) AS a, v AS b, v AS c, v AS d, 'is here' AS note "
        f"FROM VALUES {', '.join(['(-1, NULL, 0L, 0L, 0)', *values])} AS t(number, k, `start`, `end`, v)"
    ).createOrReplaceTempView("all_windows")


@pytest.fixture
def session(spark: SparkSession) -> Iterator[SparkSession]:
    yield spark
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    spark.catalog.dropTempView("all_windows")


@pytest.mark.parametrize("local", [False, True])
@zones_of_long_tests
def test_spark_gives_the_rows_of_the_definition(session: SparkSession, zone: str, local: bool) -> None:
    session.conf.set("spark.sql.session.timeZone", zone)
    since_epoch = "{} - TIMESTAMP_NTZ '1970-01-01 00:00:00'" if local else "unix_micros({})"
    bounds = [since_epoch.format(f"window_{at}") for at in ("start", "end")]

    @thorough
    @given(st.lists(cases(None if local else zone), min_size=10, max_size=10))
    def test(batch: list[Case]) -> None:
        make_windows(session, batch, None if local else zone)
        queries = [f"SELECT {n} AS number, * FROM {call(n, case)}" for n, case in enumerate(batch)]
        frame = session.sql("\nUNION ALL\n".join(queries))
        assert frame.columns == ["number", "k", "window_start", "window_end", *"dabc", "note", "v", "is_filled"]
        types = dict(frame.dtypes)
        assert [types[name] for name in ("window_start", *"vabcd")] == [
            "timestamp_ntz" if local else "timestamp",
            "int",
            "int",
            "double",
            "int",
            "int",
        ]
        got: dict[int, Counter[Any]] = {number: Counter() for number in range(len(batch))}
        for number, note, *row in frame.selectExpr("number", "note", "k", *bounds, *"vabcd", "is_filled").collect():
            assert (note is None) == row[-1]
            got[number][tuple(v // MICROSECOND if isinstance(v, timedelta) else v for v in row)] += 1
        for number, case in enumerate(batch):
            want = Counter(map(tuple, case.fill.rows(case.rows)))
            assert got[number] == want, "\n".join(
                [
                    repr(case.fill),
                    *(f"  row       {row}" for row in case.rows),
                    *(f"  missing   {row}" for row in (want - got[number]).elements()),
                    *(f"  too many  {row}" for row in (got[number] - want).elements()),
                    call(number, case),
                ]
            )

    test()


# -- TimescaleDB -----------------------------------------------------------------------------------------
# The daily averages in the documentation of time_bucket_gapfill, and what locf and interpolate make of them.
AVERAGES = {1: 47.84420001415975, 3: 42.53498707820027, 4: 46.09172424261765, 5: 58.257520634785266}
AVERAGES |= {7: 54.388267525986485, 8: 48.61293155993108}
CARRIED = {**AVERAGES, 0: None, 2: AVERAGES[1], 6: AVERAGES[5], 9: AVERAGES[8]}
INTERPOLATED = {**AVERAGES, 0: None, 2: 45.189593546180014, 6: 56.32289408038588, 9: None}


def test_rows_of_timescaledb(session: SparkSession) -> None:
    session.conf.set("spark.sql.session.timeZone", "UTC")
    values = ", ".join(f"({day}, {value}D)" for day, value in AVERAGES.items())
    bounds = "timestamp'2021-12-31' + make_dt_interval({}) AS window_{}"
    days = (
        f"(SELECT {bounds.format('day', 'start')}, {bounds.format('day + 1', 'end')}, v, v AS carried, v AS straight"
        f" FROM VALUES {values} AS t(day, v))"
    )
    between = {"from": "timestamp'2021-12-31 00:00:00+00'", "to": "timestamp'2022-01-10 00:00:00-00'"}
    sql = macros("spark").call("gapfill", days, size="1 day", fill={"carried": "locf", "straight": "linear"}, **between)
    numbered = f"SELECT datediff(window_start, '2021-12-31'), v, carried, straight, is_filled FROM {sql} ORDER BY 1"
    assert [tuple(row) for row in session.sql(numbered).collect()] == [
        (day, AVERAGES.get(day), CARRIED[day], INTERPOLATED[day], day not in AVERAGES) for day in range(10)
    ]
    # Spark has lost fields of structs above explode() where only some columns were asked for.
    twice = macros("spark").call("gapfill", f"(SELECT * FROM {sql})", size="1 day", flag="added", fill={"v": "nearest"})
    for chosen in ("count(*)", "window_end", "v", "window_start, added", "*"):
        assert len(session.sql(f"SELECT {chosen} FROM {twice}").collect()) == (1 if "count" in chosen else 10)


def test_what_is_no_window_is_refused(session: SparkSession) -> None:
    times = "timestamp'2024-01-01 00:00:00' AS window_start, timestamp'2024-01-01 {}' AS window_end"
    cases = {
        f"(SELECT {times.format('00:07:00')})": "gapfill: none of the windows of 10 minutes is from 2024-01-01 00:00:00"
        " to 2024-01-01 00:07:00; write the size, slide, step and offset of the macro that made the windows",
        f"(SELECT {times.format('00:10:00')} FROM range(2))": "gapfill: a key has two rows for one window; write all",
    }
    for relation, message in cases.items():
        with pytest.raises(Exception, match=re.escape(message)):
            session.sql(f"SELECT * FROM {macros('spark').call('gapfill', relation, size='10 minutes')}").collect()


def test_subtotals_have_windows_of_their_own(session: SparkSession) -> None:
    """A key of NULL, and the NULL of a subtotal, which grouping() tells from it."""
    grouped = """(
        SELECT k, grouping(k) AS level, window_start, window_start + INTERVAL '1' HOUR AS window_end, sum(v) AS v
        FROM (SELECT k, timestamp'2024-01-01' + make_dt_interval(0, h) AS window_start, v
              FROM VALUES ('a', 0, 1), ('a', 3, 2), (NULL, 1, 3), (NULL, 3, 4) AS t(k, h, v))
        GROUP BY GROUPING SETS ((k, window_start), (window_start))
    )"""
    sql = macros("spark").call("gapfill", grouped, ["k", "level"], "1 hour", fill={"v": 0})
    rows = session.sql(f"SELECT k, level, hour(window_start), v FROM {sql}").collect()
    assert Counter(map(tuple, rows)) == Counter(
        (key, level, hour, total)
        for key, level, first, totals in (
            ("a", 0, 0, (1, 0, 0, 2)),
            (None, 0, 1, (3, 0, 4)),
            (None, 1, 0, (1, 3, 0, 6)),
        )
        for hour, total in enumerate(totals, start=first)
    )
