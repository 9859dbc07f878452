"""Sessions of random tables with gaps of the rows' own, a longest duration, and rows that close them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dbt.adapters.sparkstream.sql import translate
from tests.lib.support import sampled
from tests.property.test_windows import (
    MINUTE,
    MS,
    SECOND,
    Batch,
    Case,
    Row,
    batches,
    check,
    input_of,
    instant,
    literal,
    run,
    statement,
    thorough,
    wall_clock,
    zones_of_long_tests,
)
from tests.property.window_reference import RuledSession, SessionRow, Tumble, assign_sessions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CLOSES = "v % 3 = 0"


@dataclass(frozen=True)
class Rules:
    """A session, how long a gap of 1 is, and whether a row may close."""

    session: RuledSession
    unit: int
    closing: bool


@st.composite
def rules(draw: Callable[..., Any]) -> Rules:
    unit = draw(st.sampled_from((MS, SECOND, 7 * SECOND, MINUTE, 5 * MINUTE)))
    own = draw(st.booleans())
    gap = None if own else unit * draw(st.integers(1, 5))
    longest = draw(st.one_of(st.none(), st.integers(1, 20).map(lambda units: units * unit)))
    closing = draw(st.booleans())
    if not own and longest is None and not closing:
        longest = 3 * unit
    return Rules(RuledSession(gap, longest, draw(st.booleans())), unit, closing)


def dense(case: Case, unit: int) -> Case:
    """The rows of a case and as many close by, so that sessions have more than one row."""
    more = [
        (time + (number % 4) * unit // 2, key, None if value is None else value + number)
        for number, (time, key, value) in enumerate(case.rows)
        if time is not None
    ]
    return replace(case, rows=(*case.rows, *more, *more[:2]))


def call(rule: Rules, number: int) -> str:
    session = rule.session
    keys = " PARTITION BY k" if session.keyed else ""
    arguments = ["own" if session.gap is None else literal(session.gap)]
    if session.max_duration is not None:
        arguments.append(f"max_duration => {literal(session.max_duration)}")
    if rule.closing:
        arguments.append(f"close_on => {CLOSES}")
    relation = f"(SELECT *, v * {literal(rule.unit)} AS own FROM {input_of(number)})"
    return f"SELECT * EXCEPT (own) FROM SESSION({relation}{keys}, ts, {', '.join(arguments)})"


def expected(batch: Batch, case: Case, rule: Rules) -> Iterator[Any]:
    local = batch.type == "timestamp"
    rows = [
        SessionRow(
            wall_clock(time, batch.zone) if local and time is not None else time,
            key,
            None if value is None else value * rule.unit,
            rule.closing and value is not None and value % 3 == 0,
        )
        for time, key, value in case.rows
    ]
    for row, found in zip(case.rows, assign_sessions(rule.session, rows), strict=True):
        if found is not None:
            start, end = (instant(wall, batch.zone) if local else wall for wall in found)
            yield *row, start, end, end - MS


def compare(spark: SparkSession, batch: Batch, ruled: list[Rules]) -> None:
    def query(number: int, case: Case) -> str:
        return call(ruled[number], number)

    schema = {"all_rows": {"number": "int", "ts": batch.type, "k": "string", "v": "int"}} if batch.typed else None
    got = run(spark, batch, translate(statement(batch, query), schema=schema))
    check(batch, got, lambda number, case: Counter(expected(batch, case, ruled[number])), query)


@zones_of_long_tests
def test_rows_get_their_sessions(spark: SparkSession, zone: str) -> None:
    @thorough
    @given(batches(zone), st.lists(rules(), min_size=15, max_size=15))
    def test(batch: Batch, ruled: list[Rules]) -> None:
        cases = tuple(dense(case, rule.unit) for case, rule in zip(batch.cases, ruled, strict=True))
        compare(spark, replace(batch, cases=cases), ruled)

    test()


def rows(*values: tuple[int, int | None]) -> tuple[Row, ...]:
    """Rows from their second and their value."""
    return tuple((second * SECOND, "a", value) for second, value in values)


EDGES = (
    # One gap apart is together, and a millisecond more is not.
    (Rules(RuledSession(None), SECOND, False), rows((0, 2), (2, 1), (3, 1), (5, 1))),
    # A long gap outlasts short ones behind it.
    (Rules(RuledSession(None), SECOND, False), rows((0, 9), (1, 1), (8, 1), (9, 1), (11, 1))),
    # Rows without a gap are in no session, and keep none open.
    (Rules(RuledSession(None), SECOND, False), rows((0, None), (1, 2), (2, 0), (3, -5), (4, 1), (5, None))),
    # At start + max_duration, another one begins.
    (Rules(RuledSession(2 * SECOND, 4 * SECOND), SECOND, False), rows(*((second, 1) for second in range(12)))),
    (Rules(RuledSession(9 * SECOND, 2 * SECOND), SECOND, False), rows((0, 1), (1, 1), (2, 1), (5, 1))),
    # What kept a session open that was cut keeps no later one open.
    (Rules(RuledSession(None, 10 * SECOND), SECOND, False), rows((0, 100), (5, 1), (50, 1), (55, 1), (56, 1))),
    # Of rows of the same time one closes; and the next one closes by itself.
    (Rules(RuledSession(9 * SECOND), SECOND, True), rows((0, 1), (2, 1), (2, 3), (2, 2), (3, 3), (4, 1))),
    # A row that closes and has no gap is no row of a session.
    (Rules(RuledSession(None), SECOND, True), rows((0, 5), (2, 0), (4, 5), (5, 3), (6, 1))),
    # All of them.
    (
        Rules(RuledSession(None, 6 * SECOND, keyed=True), SECOND, True),
        rows((0, 4), (1, 4), (2, 3), (2, 1), (4, 8), (5, 1), (10, 1), (11, 9), (12, 2), (13, 2), (15, 2), (19, 1)),
    ),
)


@pytest.mark.parametrize("type_", sampled(["timestamp", "timestamp_ntz"], share=2))
def test_edges(spark: SparkSession, type_: str) -> None:
    cases = tuple(Case(Tumble(SECOND), rows) for _, rows in EDGES)
    compare(spark, Batch("UTC", type_, False, cases), [rule for rule, _ in EDGES])


@pytest.mark.parametrize(
    "gap", ["CAST(v AS BIGINT)", "CAST(v AS DECIMAL(9, 3))", "concat(v, ' seconds')", "CAST(v AS STRING)"]
)
def test_a_gap_may_be_a_number_or_a_text(spark: SparkSession, gap: str) -> None:
    own = [(rule, rows) for rule, rows in EDGES if rule.session.gap is None]
    batch = Batch("UTC", "timestamp", False, tuple(Case(Tumble(SECOND), rows) for _, rows in own))

    def query(number: int, case: Case) -> str:
        return call(own[number][0], number).replace(f"v * {literal(SECOND)} AS own", f"{gap} AS own")

    got = run(spark, batch, translate(statement(batch, query)))
    check(batch, got, lambda number, case: Counter(expected(batch, case, own[number][0])), query)


@example([1, 2, 3])
@thorough
@given(st.lists(st.integers(0, 50), min_size=1, max_size=20))
def test_reference_windows_of_a_key_do_not_overlap(seconds: list[int]) -> None:
    made = [SessionRow(second * SECOND, gap=(second % 5 + 1) * SECOND, closes=second % 7 == 0) for second in seconds]
    found = assign_sessions(RuledSession(None, 8 * SECOND), made)
    bounds = sorted({bound for bound in found if bound is not None})
    assert all(start <= row.time < end for row, (start, end) in zip(made, filter(None, found), strict=True) if row.time)
    assert all(before[1] <= after[0] for before, after in pairwise(bounds))
