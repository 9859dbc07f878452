"""Windows of random tables: what Spark gives for a translation is what the reference gives.

A batch of cases makes one Spark query, as Spark needs far longer to start a query than to run one this small.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

from dbt.adapters.sparkstream.sql import translate
from tests.property.window_reference import (
    DAY,
    HOUR,
    MINUTE,
    MS,
    SECOND,
    Bounds,
    Cumulate,
    Hop,
    Session,
    Tumble,
    assign,
    instant,
    wall_clock,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MICROSECOND = timedelta(microseconds=1)
WINDOW_COLUMNS = ["window_start", "window_end", "window_time"]

Window = Tumble | Hop | Cumulate | Session
Row = tuple[int | None, str | None, int | None]
"""Time, key, value."""

# Wall clock of places where something may go wrong, in microseconds; the first four hold for every zone.
ORDINARY = 1_586_937_900 * SECOND  # 2020-04-15 08:05
EPOCH = 0
BEFORE_1970 = -(DAY + 17 * MINUTE)
MONDAY = 1_586_736_000 * SECOND  # 2020-04-13 00:00
CLOCK_CHANGES = {
    "UTC": (),
    "Europe/Berlin": (1_616_898_600 * SECOND, 1_635_647_400 * SECOND),  # 2021-03-28 02:30, 2021-10-31 02:30
    "America/New_York": (1_710_037_800 * SECOND, 1_730_601_000 * SECOND),  # 2024-03-10 02:30, 2024-11-03 02:30
    "Australia/Lord_Howe": (
        1_633_227_300 * SECOND,
        1_617_500_700 * SECOND,
    ),  # half an hour: 2021-10-03 02:15, 04-04 01:45
    "Asia/Kathmandu": (504_922_020 * SECOND,),  # a quarter of an hour, for good: 1986-01-01 00:07
}
YEAR_1 = -62_135_510_400 * SECOND  # 0001-01-02 00:00

UNITS = (MS, 250 * MS, SECOND, 7 * SECOND, MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, DAY)


@dataclass(frozen=True)
class Case:
    """A window over a table; times are wall clock for TIMESTAMP_NTZ, and instants for TIMESTAMP."""

    window: Window
    rows: tuple[Row, ...]


@st.composite
def windows(draw: Callable[..., Any], unit: int) -> Window:
    def count(low: int, high: int) -> int:
        return draw(st.integers(low, high)) * unit

    kind = draw(st.sampled_from((Tumble, Hop, Hop, Cumulate, Cumulate, Session)))
    if kind is Session:
        return Session(gap=count(1, 5), keyed=draw(st.booleans()))
    offset = draw(st.sampled_from((0, 0, 1))) * (count(-40, 40) + draw(st.sampled_from((0, MS, -17 * MS))))
    if kind is Tumble:
        size = count(1, 12)
        return Tumble(size, offset % size - draw(st.sampled_from((0, size if offset % size else 0))))
    if kind is Hop:
        return Hop(slide=count(1, 8), size=count(1, 12), offset=offset)
    step = count(1, 5)
    return Cumulate(step=step, size=step * draw(st.integers(1, 6)), offset=offset)


@st.composite
def cases(draw: Callable[..., Any], zone: str, timestamp: bool) -> Case:
    unit = draw(st.sampled_from(UNITS))
    anchors = (ORDINARY, EPOCH, BEFORE_1970, MONDAY, *CLOCK_CHANGES[zone] * 2)
    # Bounds before the year 1 are beyond Python's calendar, which a TIMESTAMP needs here.
    around = draw(st.sampled_from(anchors if timestamp else (*anchors, YEAR_1)))
    around = instant(around, zone) if timestamp else around
    shift = st.builds(
        lambda units, nudge: units * unit + nudge,
        st.integers(-14, 14),
        st.sampled_from((0, 0, 0, 1, -1, MS, -MS, 999, unit // 2, unit // 3)),
    )
    times = st.one_of(shift.map(lambda by: around + by), shift.map(lambda by: around + by), st.none())
    row = st.tuples(times, st.sampled_from((None, "a", "b")), st.one_of(st.none(), st.integers(-9, 9)))
    rows = draw(st.lists(row, min_size=1, max_size=9))
    if draw(st.booleans()):
        rows.append(rows[0])
    return Case(draw(windows(unit)), tuple(rows))


@dataclass(frozen=True)
class Batch:
    """Cases of one zone and one type of time column, which one query can hold."""

    zone: str
    type: str
    typed: bool
    cases: tuple[Case, ...] = field(repr=False)


@st.composite
def batches(draw: Callable[..., Any], zone: str) -> Batch:
    type_ = draw(st.sampled_from(("timestamp", "timestamp_ntz")))
    made = st.lists(cases(zone, type_ == "timestamp"), min_size=15, max_size=15)
    return Batch(zone, type_, draw(st.booleans()), tuple(draw(made)))


@dataclass(frozen=True)
class Answer:
    """A result: its columns with their types, and the rows of each case."""

    columns: list[tuple[str, str]]
    rows: dict[int, Counter[Any]]


Query = Callable[[int, Case], str]
"""From a case and its number to the query; its first column is the number."""

# A batch is too slow to shrink; a failure names its case, which is small.
thorough = settings(
    max_examples=2,
    derandomize=True,
    deadline=None,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=list(HealthCheck),
)
LONG_ZONES = ("Australia/Lord_Howe",)
"""What `make test-long` has: its clock is turned by half an hour. `make test` has one zone that turns it by an hour."""


def _zones(of_make_test: str | None) -> pytest.MarkDecorator:
    def marks(zone: str) -> tuple[pytest.MarkDecorator, ...]:
        return () if zone == of_make_test else (pytest.mark.long if zone in LONG_ZONES else pytest.mark.full,)

    return pytest.mark.parametrize("zone", [pytest.param(zone, marks=marks(zone)) for zone in CLOCK_CHANGES])


zones = _zones("Europe/Berlin")
zones_of_long_tests = _zones(None)


def edges(zone: str) -> Batch:
    """What random rows seldom hit: each case is about one thing."""
    key = "a"

    def rows(*times: int | None) -> tuple[Row, ...]:
        return tuple((time, key, number) for number, time in enumerate(times))

    changes = [(second - HOUR, second - HOUR // 2, second, second + HOUR) for second in CLOCK_CHANGES[zone]]
    repeated = tuple(instant(wall, zone) + late for walls in changes for wall in walls for late in (0, HOUR))
    return Batch(
        zone,
        "timestamp",
        False,
        (
            Case(Session(2 * MINUTE), rows(0, 2 * MINUTE, 4 * MINUTE + MS, 4 * MINUTE + 2 * MS)),  # a gap, a gap + 1 ms
            Case(Session(2 * MINUTE), rows(999, 2 * MINUTE, -1, -2 * MINUTE - MS, None)),  # parts of a millisecond
            Case(
                Session(MINUTE, keyed=True), ((0, None, 1), (MINUTE, None, 2), (MINUTE // 2, "b", 3), (None, None, 4))
            ),
            Case(Session(90 * MINUTE), rows(*repeated, 0)),
            Case(Tumble(HOUR), rows(*repeated, 0)),
            Case(Tumble(DAY), rows(*repeated, 0)),
            Case(Hop(30 * MINUTE, 2 * HOUR), rows(*repeated, 0)),
            Case(Cumulate(30 * MINUTE, 6 * HOUR), rows(*repeated, 0)),
            Case(Cumulate(15 * MINUTE, 4 * HOUR), rows(*repeated, *(time - 2 * HOUR for time in repeated))),
            Case(Hop(15 * MINUTE, 75 * MINUTE), rows(*repeated, *(time - 2 * HOUR for time in repeated))),
            Case(
                Hop(4 * MINUTE, 10 * MINUTE), rows(0, 2 * MINUTE - 1, 2 * MINUTE, 3_999 * MS, -1)
            ),  # size / slide uneven
            Case(Hop(10 * MINUTE, 3 * MINUTE), rows(0, 3 * MINUTE - 1, 3 * MINUTE, 3 * MINUTE + 1)),  # between windows
            Case(Tumble(5 * MINUTE), rows(-1, -5 * MINUTE, -5 * MINUTE - 1, -DAY, None)),
            Case(Tumble(7 * DAY, -3 * DAY), rows(MONDAY - 1, MONDAY, MONDAY + 7 * DAY - 1, MONDAY + 7 * DAY)),
        ),
    )


# -- the reference's answer ------------------------------------------------------------------------
def assigned(batch: Batch, case: Case) -> Iterator[tuple[Row, Bounds, int]]:
    """Every row in each of its windows: the row, the bounds and the window_time as the time column's type has them.

    Windows that begin and end at the same instants are one.
    """
    for row, found in _on_the_wall(batch, case):
        bounds = found if batch.type == "timestamp_ntz" else {_instants(batch, window) for window in found}
        for start, end in bounds:
            yield row, (start, end), end - MS


def assigned_by_flink(batch: Batch, case: Case) -> Iterator[tuple[Row, Bounds, int]]:
    """The same as Flink has it: the bounds are what the wall clock shows, whatever the time column is."""
    for row, found in _on_the_wall(batch, case):
        for start, end in found:
            last = end - MS if batch.type == "timestamp_ntz" else instant(end - MS, batch.zone)
            yield row, (start, end), last


def _on_the_wall(batch: Batch, case: Case) -> Iterator[tuple[Row, list[Bounds]]]:
    local = batch.type == "timestamp"
    walls = [wall_clock(time, batch.zone) if local and time is not None else time for time, _, _ in case.rows]
    yield from zip(case.rows, assign(case.window, walls, [key for _, key, _ in case.rows]), strict=True)


def _instants(batch: Batch, window: Bounds) -> Bounds:
    start, end = (instant(wall, batch.zone) for wall in window)
    return start, end


# -- the translator's ------------------------------------------------------------------------------
def literal(micros: int) -> str:
    """An interval such as `INTERVAL '-90' SECOND`, in a unit that keeps it whole."""
    unit, name = next((u, n) for u, n in ((DAY, "DAY"), (HOUR, "HOUR"), (MINUTE, "MINUTE"), (MS, "")) if not micros % u)
    if name:
        return f"INTERVAL '{micros // unit}' {name}"
    return f"INTERVAL '{'-' if micros < 0 else ''}{abs(micros) // SECOND}.{abs(micros) % SECOND // MS:03}' SECOND"


def table_function(window: Window, relation: str, time: str = "ts") -> str:
    """The window function's call."""
    if isinstance(window, Session):
        keys = " PARTITION BY k" if window.keyed else ""
        return f"SESSION({relation}{keys}, {time}, {literal(window.gap)})"
    sizes = {Tumble: ("size",), Hop: ("slide", "size"), Cumulate: ("step", "size")}[type(window)]
    given = [literal(getattr(window, name)) for name in sizes]
    if window.offset:
        given.append(literal(window.offset))
    return f"{type(window).__name__.upper()}({relation}, {time}, {', '.join(given)})"


def make_rows(spark: SparkSession, batch: Batch) -> None:
    """The view `all_rows` of the rows of every case, numbered."""
    time = {
        "timestamp": "timestamp_micros(ts)",
        "timestamp_ntz": "timestampadd(MICROSECOND, ts, TIMESTAMP_NTZ '1970-01-01 00:00:00')",
    }[batch.type]
    values = ", ".join(
        f"({number}, {'NULL' if ts is None else f'{ts}L'}, {repr(k) if k else 'NULL'}, {'NULL' if v is None else v})"
        for number, case in enumerate(batch.cases)
        for ts, k, v in case.rows
    )
    spark.sql(
        f"SELECT number, {time} AS ts, CAST(k AS STRING) AS k, CAST(v AS INT) AS v "
        f"FROM VALUES (-1, 0L, '', 0), {values} AS all_rows(number, ts, k, v) WHERE number >= 0"
    ).createOrReplaceTempView("all_rows")


def statement(batch: Batch, query: Query) -> str:
    """One statement of the queries of all cases."""
    return "\nUNION ALL\n".join(query(number, case) for number, case in enumerate(batch.cases))


def translated(batch: Batch, query: Query, optimize: bool = True, dialect: str = "spark") -> str:
    schema = schema_of(batch) if batch.typed else None
    return translate(statement(batch, query), dialect, schema=schema, optimize=optimize)


def schema_of(batch: Batch) -> dict[str, dict[str, str]]:
    """The columns of the rows of a batch."""
    return {"all_rows": {"number": "int", "ts": batch.type, "k": "string", "v": "int"}}


def run(spark: SparkSession, batch: Batch, sql: str, bounds: str | None = None) -> Answer:
    """What Spark answers, with times in microseconds.

    Args:
        bounds: the type of window_start and window_end; the time column's if None.

    Raises:
        AssertionError: a window column has another type than this.
    """
    spark.conf.set("spark.sql.session.timeZone", batch.zone)
    make_rows(spark, batch)
    result = spark.sql(sql)
    columns = []
    for column, type_ in result.dtypes:
        if not type_.startswith("timestamp"):
            columns.append(column)
            continue
        expected = bounds or batch.type if column in WINDOW_COLUMNS[:2] else batch.type
        assert type_ == expected, f"{column} is of type {type_}, and the time column of type {batch.type}"
        # timestampdiff would read a TIMESTAMP_NTZ in the session's zone.
        since_epoch = {
            "timestamp": "unix_micros({})",
            "timestamp_ntz": "{} - TIMESTAMP_NTZ '1970-01-01 00:00:00'",
        }[type_]
        columns.append(f"{since_epoch.format(column)} AS {column}")
    rows: dict[int, Counter[Any]] = defaultdict(Counter)
    for number, *row in result.selectExpr(*columns).collect():
        rows[number][tuple(v // MICROSECOND if isinstance(v, timedelta) else v for v in row)] += 1
    return Answer(result.dtypes, rows)


def check(batch: Batch, got: Answer, want: Callable[[int, Case], Counter[Any]], query: Query) -> None:
    """Compares the rows of each case, in any order."""
    for number, case in enumerate(batch.cases):
        wanted = want(number, case)
        assert got.rows[number] == wanted, "\n".join(
            [
                f"{batch.type} in {batch.zone}: {query(number, case)}",
                *(f"  row       {row}" for row in case.rows),
                *(f"  missing   {row}" for row in (wanted - got.rows[number]).elements()),
                *(f"  too many  {row}" for row in (got.rows[number] - wanted).elements()),
            ]
        )


def compare_with_plain(spark: SparkSession, batch: Batch, query: Query, dialect: str = "spark") -> None:
    """Asserts that the optimiser gives the rows, column names and types of the plain translation."""
    plain, optimised = (translated(batch, query, optimize=on, dialect=dialect) for on in (False, True))
    bounds = "timestamp_ntz" if dialect == "flink" else None
    want, got = run(spark, batch, plain, bounds), run(spark, batch, optimised, bounds)
    assert got.columns == want.columns
    check(batch, got, lambda number, _: want.rows[number], query)


def input_of(number: int) -> str:
    return f"(SELECT number, ts, k, v FROM all_rows WHERE number = {number})"


def every_row(number: int, case: Case) -> str:
    return f"SELECT * FROM {table_function(case.window, input_of(number))}"


def totals(number: int, case: Case) -> str:
    return (
        f"SELECT {number} AS number, window_start, window_end, window_time, count(*) AS n, sum(v) AS total,"
        f" min(k) AS k, count(DISTINCT v) AS vs FROM {table_function(case.window, input_of(number))}"
        " GROUP BY window_start, window_end, window_time"
    )


def group_window(number: int, case: Case) -> str:
    """The deprecated spelling; it has no offset, no CUMULATE, and a session per key is a key in GROUP BY."""
    window = case.window
    keys = ""
    if isinstance(window, Session):
        call, keys = f"SESSION{{}}(ts, {literal(window.gap)})", ", k"
    elif isinstance(window, Hop):
        call = f"HOP{{}}(ts, {literal(window.slide)}, {literal(window.size)})"
    else:
        call = f"TUMBLE{{}}(ts, {literal(window.size)})"
    names = zip(("START", "END", "ROWTIME"), WINDOW_COLUMNS, strict=True)
    bounds = ", ".join(f"{call.format('_' + function)} AS {name}" for function, name in names)
    return (
        f"SELECT {number} AS number, {bounds}, count(*) AS n, sum(v) AS total "
        f"FROM all_rows WHERE number = {number} GROUP BY {call.format('')}{keys}"
    )


@zones
def test_rows_get_their_windows(spark: SparkSession, zone: str) -> None:
    @thorough
    @given(batches(zone))
    @example(edges(zone))
    def compare(batch: Batch) -> None:
        got = run(spark, batch, translated(batch, every_row))
        assert [name for name, _ in got.columns] == ["number", "ts", "k", "v", *WINDOW_COLUMNS]
        check(batch, got, lambda _, case: Counter(_every_row(batch, case)), every_row)

    compare()


def _every_row(batch: Batch, case: Case) -> Iterator[Any]:
    for row, bounds, time in assigned(batch, case):
        yield *row, *bounds, time


@zones_of_long_tests
def test_aggregates_per_window(spark: SparkSession, zone: str) -> None:
    @thorough
    @given(batches(zone))
    @example(edges(zone))
    def compare(batch: Batch) -> None:
        got = run(spark, batch, translated(batch, totals))
        check(batch, got, lambda _, case: Counter(_totals(batch, case)), totals)

    compare()


def _totals(batch: Batch, case: Case) -> Iterator[Any]:
    groups: dict[Any, list[Row]] = defaultdict(list)
    for row, bounds, time in assigned(batch, case):
        groups[(*bounds, time)].append(row)
    for window, rows in groups.items():
        keys = [k for _, k, _ in rows if k is not None]
        values = [v for _, _, v in rows if v is not None]
        yield *window, len(rows), sum(values) if values else None, min(keys, default=None), len(set(values))


@zones
def test_group_windows(spark: SparkSession, zone: str) -> None:
    @thorough
    @given(batches(zone))
    @example(edges(zone))
    def compare(batch: Batch) -> None:
        batch = replace(batch, cases=tuple(_as_group_window(case) for case in batch.cases))
        got = run(spark, batch, translated(batch, group_window))
        check(batch, got, lambda _, case: Counter(_group_totals(batch, case)), group_window)

    compare()


@zones
def test_group_windows_by_rules(spark: SparkSession, zone: str) -> None:
    """Flink's HOP and SESSION in GROUP BY: rules compute them like the table functions."""

    @thorough
    @given(batches(zone))
    @example(edges(zone))
    def compare(batch: Batch) -> None:
        cases = (_as_group_window(case) for case in batch.cases)
        batch = replace(batch, cases=tuple(case for case in cases if not isinstance(case.window, Tumble)))
        if batch.cases:
            compare_with_plain(spark, batch, group_window, "flink")

    compare()


@pytest.mark.full
@pytest.mark.parametrize("optimize", [True, False])
@zones
def test_many_tables(spark: SparkSession, zone: str, optimize: bool) -> None:
    @settings(thorough, max_examples=20)
    @given(batches(zone))
    def compare(batch: Batch) -> None:
        got = run(spark, batch, translated(batch, every_row, optimize))
        check(batch, got, lambda _, case: Counter(_every_row(batch, case)), every_row)
        got = run(spark, batch, translated(batch, totals, optimize))
        check(batch, got, lambda _, case: Counter(_totals(batch, case)), totals)

    compare()


@pytest.mark.parametrize("typed", [True, False])
@zones_of_long_tests
def test_bounds_of_flink_are_on_the_wall_clock(spark: SparkSession, zone: str, typed: bool) -> None:
    batch = replace(edges(zone), typed=typed)

    def rows(number: int, case: Case) -> str:
        return f"SELECT * FROM {table_function(case.window, input_of(number), 'DESCRIPTOR(ts)')}"

    def sums(number: int, case: Case) -> str:
        window = table_function(case.window, input_of(number), "DESCRIPTOR(ts)")
        keys = ", k" if isinstance(case.window, Session) and case.window.keyed else ""
        return (
            f"SELECT {number} AS number, window_start, window_end, window_time, COUNT(*) AS n, SUM(v) AS total"
            f" FROM {window} GROUP BY window_start, window_end, window_time{keys}"
        )

    got = run(spark, batch, translated(batch, rows, dialect="flink"), "timestamp_ntz")
    check(batch, got, lambda _, case: Counter((*r, *b, t) for r, b, t in assigned_by_flink(batch, case)), rows)
    for optimize in (True, False):
        got = run(spark, batch, translated(batch, sums, optimize, "flink"), "timestamp_ntz")
        check(batch, got, lambda _, case: Counter(_flink_sums(batch, case)), sums)


def _flink_sums(batch: Batch, case: Case) -> Iterator[Any]:
    groups: dict[Any, list[Row]] = defaultdict(list)
    for row, bounds, time in assigned_by_flink(batch, case):
        keyed = isinstance(case.window, Session) and case.window.keyed
        groups[(*bounds, time, row[1] if keyed else None)].append(row)
    for (*columns, _), rows in groups.items():
        values = [v for _, _, v in rows if v is not None]
        yield *columns, len(rows), sum(values) if values else None


@pytest.mark.parametrize("optimize", [False, True])
@pytest.mark.parametrize(
    ("dialect", "time", "windows"),
    [
        ("spark", "ts", ["00:00 03:00 2"]),
        ("flink", "DESCRIPTOR(ts)", ["00:00 02:00 2", "00:00 03:00 2"]),
    ],
)
def test_an_hour_that_the_clock_skips(
    spark: SparkSession, dialect: str, time: str, windows: list[str], optimize: bool
) -> None:
    """On 2021-03-28 in Berlin, 02:00 was 03:00."""
    spark.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
    spark.sql(
        "SELECT ts FROM VALUES (TIMESTAMP '2021-03-28 00:30:00'), (TIMESTAMP '2021-03-28 01:30:00') AS t(ts)"
    ).createOrReplaceTempView("night")
    window = f"CUMULATE(TABLE night, {time}, INTERVAL '1' HOUR, INTERVAL '4' HOUR)"
    sql = translate(
        f"SELECT window_start, window_end, COUNT(*) AS n FROM {window} GROUP BY window_start, window_end",
        dialect,
        schema={"night": {"ts": "timestamp"}},
        optimize=optimize,
    )
    start, end = (f"substr(CAST({bound} AS STRING), 12, 5)" for bound in ("window_start", "window_end"))
    found = spark.sql(f"SELECT concat_ws(' ', {start}, {end}, n) AS row FROM ({sql}) ORDER BY row")
    assert [row[0] for row in found.collect()] == ["00:00 01:00 1", *windows, "00:00 04:00 2"]


@pytest.mark.parametrize("aggregate", [None, "count(*)", "size(collect_list(v))", "count(DISTINCT v)"])
def test_windows_from_one_change_of_the_clock_to_another(spark: SparkSession, aggregate: str | None) -> None:
    """The clock skips both bounds of some window, which are those of another one then: a row is in it once."""
    zone, year = "Europe/Berlin", 364 * DAY
    row = instant(CLOCK_CHANGES[zone][0] + 60 * DAY, zone)
    case = Case(Hop(30 * MINUTE, year), ((row, "a", 1),))
    batch = Batch(zone, "timestamp", True, (case,))

    def query(number: int, case: Case) -> str:
        window = table_function(case.window, input_of(number))
        group = "" if aggregate is None else " GROUP BY window_start, window_end"
        return f"SELECT {number} AS number, window_start, window_end, {aggregate or '1'} AS n FROM {window}{group}"

    want = Counter((*bounds, 1) for _, bounds, _ in assigned(batch, case))
    assert len(want) == year // (30 * MINUTE) - 2
    for optimize in (True, False):
        got = run(spark, batch, translated(batch, query, optimize))
        assert got.rows[0] == want


def _as_group_window(case: Case) -> Case:
    """The nearest case that a group window can have."""
    window = case.window
    if isinstance(window, Session):
        window = Session(window.gap, keyed=True)
    elif isinstance(window, Hop):
        window = Hop(min(window.slide, window.size), window.size)
    else:
        window = Tumble(window.size)
    return Case(window, case.rows)


def _group_totals(batch: Batch, case: Case) -> Iterator[Any]:
    groups: dict[Any, list[Row]] = defaultdict(list)
    for row, bounds, time in assigned(batch, case):
        groups[(*bounds, time, row[1] if isinstance(case.window, Session) else None)].append(row)
    for (start, end, time, _), rows in groups.items():
        values = [v for _, _, v in rows if v is not None]
        yield start, end, time, len(rows), sum(values) if values else None


@zones_of_long_tests
@pytest.mark.parametrize("query", [every_row, totals])
def test_optimiser_changes_no_answer(spark: SparkSession, zone: str, query: Query) -> None:
    @thorough
    @given(batches(zone))
    @example(edges(zone))
    def compare(batch: Batch) -> None:
        if translated(batch, query) != translated(batch, query, optimize=False):
            compare_with_plain(spark, batch, query)

    compare()
