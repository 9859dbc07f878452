"""Joins of HOPs by rows against the plain translation: the same rows, column names and types for random tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dbt.adapters.sparkstream.sql import explain, translate
from dbt.adapters.sparkstream.sql.passes.optimize import joins
from tests.lib.support import sampled
from tests.property.test_windows import (
    CLOCK_CHANGES,
    MINUTE,
    MS,
    Batch,
    Case,
    Query,
    cases,
    compare_with_plain,
    edges,
    schema_of,
    statement,
    table_function,
    thorough,
    zones,
)
from tests.property.window_reference import DAY, HOUR, Cumulate, Hop, Session, Tumble

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BOUNDS = "L.window_start = R.window_start AND L.window_end = R.window_end"


def joined(select: str, on: str = f"L.k = R.k AND {BOUNDS}", rest: str = "", within: str = "{}") -> Query:
    """A query over two HOPs that have most rows of a case in common: what stands before FROM and behind it.

    Args:
        within: the query around it.
    """

    def query(number: int, case: Case) -> str:
        rows = f"(SELECT number, ts, k, v FROM all_rows WHERE number = {number} AND coalesce(v, 0) {{}})"
        left, right = (table_function(case.window, rows.format(some)) for some in ("< 6", "> -6"))
        sql = f"SELECT {select.format(number)} FROM (SELECT * FROM {left}) AS L JOIN {right} AS R ON {on} {rest}"
        return within.format(sql)

    return query


QUERIES = {
    "rows": joined("L.number, L.ts, L.k, L.v, R.ts AS rts, R.v AS w, L.window_start, R.window_end, L.window_time"),
    "stars": joined("L.*, R.v AS w, R.window_start AS s", f"{BOUNDS} AND L.window_time = R.window_time"),
    "macro": joined(
        "coalesce(L.window_start, R.window_start) AS window_start,"
        " coalesce(L.window_end, R.window_end) AS window_end, struct(L.*) AS L, struct(R.*) AS R",
        f"{BOUNDS} AND (L.k = R.k AND L.v < R.v)",
        within="SELECT L.number, window_start, window_end, L.ts, R.window_time, L.v, R.v AS w FROM ({})",
    ),
    "aggregates": joined(
        "{} AS number, L.window_start, R.window_end, count(*) AS n, sum(L.v) AS v, count(DISTINCT R.k) AS k",
        f"{BOUNDS} AND (L.v <> R.v OR R.v IS NULL)",
        "WHERE L.v IS NOT NULL GROUP BY L.window_start, R.window_end HAVING count(*) > 1",
    ),
    "outer names": joined(
        "DISTINCT L.number, L.k AS v, upper(R.k) AS k, L.window_start AS s",
        "R.window_end <=> L.window_end AND (L.window_start = R.window_start) AND NOT (L.v = R.v AND L.k <=> R.k)",
        "WHERE R.ts >= L.ts AND L.ts < L.window_end",
    ),
}


@st.composite
def hops(draw: Callable[..., Any], zone: str) -> Batch:
    """HOPs of any overlap, about as long as their rows are apart."""
    type_ = draw(st.sampled_from(("timestamp", "timestamp_ntz")))
    found = []
    for _ in range(4):
        case = draw(cases(zone, type_ == "timestamp"))
        slide = draw(st.integers(1, 3)) * _length(case)
        size = slide * draw(st.integers(2, 9)) + draw(st.sampled_from((0, 0, MS, slide - MS)))
        offset = draw(st.sampled_from((0, 0, 1))) * (draw(st.integers(-9, 9)) * slide + draw(st.sampled_from((0, MS))))
        found.append(Case(Hop(slide, size, offset), case.rows))
    return Batch(zone, type_, True, tuple(found))


def _length(case: Case) -> int:
    window = case.window
    if isinstance(window, Session):
        return window.gap
    return window.slide if isinstance(window, Hop) else window.step if isinstance(window, Cumulate) else window.size


def corners(zone: str, type_: str = "timestamp") -> Batch:
    """Rows on days when the clock is changed, and others that random rows seldom hit."""
    rows = [c.rows for c in edges(zone).cases if isinstance(c.window, Hop | Tumble)]
    changes, uneven, early = rows[0], rows[3], rows[5]
    windows = (
        (Hop(30 * MINUTE, 2 * HOUR), changes),
        (Hop(5 * MINUTE, 20 * MINUTE), changes),  # windows that the clock skips
        (Hop(25 * MINUTE, HOUR, 7 * MINUTE), changes),
        (Hop(7 * DAY, 28 * DAY), changes),
        (Hop(4 * MINUTE, 10 * MINUTE), uneven),
        (Hop(MINUTE, 3 * MINUTE, -90 * MINUTE - MS), (*early, *early[:2])),
    )
    return Batch(zone, type_, True, tuple(Case(window, found) for window, found in windows))


@pytest.fixture(autouse=True)
def every_window_pays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joins, "LEAST_OVERLAP", 2)


@pytest.mark.parametrize("name", sampled(QUERIES))
def test_same_rows(spark: SparkSession, name: str) -> None:
    @settings(thorough, max_examples=1)
    @given(st.sampled_from(list(CLOCK_CHANGES)).flatmap(hops))
    @example(corners("Europe/Berlin"))
    def same(batch: Batch) -> None:
        compare_with_plain(spark, batch, QUERIES[name])

    same()


@pytest.mark.full
@zones
@pytest.mark.parametrize("name", QUERIES)
def test_same_rows_in_every_zone(spark: SparkSession, zone: str, name: str) -> None:
    @settings(thorough, max_examples=8)
    @given(hops(zone))
    @example(corners(zone))
    @example(corners(zone, "timestamp_ntz"))
    def same(batch: Batch) -> None:
        compare_with_plain(spark, batch, QUERIES[name])

    same()


@pytest.mark.parametrize("name", QUERIES)
def test_the_rule_applies(name: str) -> None:
    """Else the tests above compare a query with itself."""
    batch = corners("Europe/Berlin")
    found = explain(statement(batch, QUERIES[name]), schema=schema_of(batch)).decisions
    assert [d.rule for d in found] == ["hop-join"] * 2 * len(batch.cases)


def by_one_bound(number: int, case: Case) -> str:
    """Aggregates of the windows of some rows, each joined with those of other rows in the same window."""
    rows = f"(SELECT * FROM all_rows WHERE number = {number} AND coalesce(v, 0) {{}})"
    left, right = (table_function(case.window, rows.format(some)) for some in ("< 6", "> -6"))
    return f"""
        SELECT {number} AS number, a.*, b.window_start, b.window_end, b.k AS other, b.m
        FROM (SELECT k, window_end AS e, window_start AS s, count(*) AS n FROM {left} GROUP BY k, 2, 3) AS a
        FULL JOIN (
          SELECT *, max(v) OVER (PARTITION BY k, window_start, window_end) AS m FROM {right} AS r WHERE v > -3
        ) AS b ON a.s = b.window_start AND b.window_end = a.e AND a.k = b.k"""


def groups_by_one_bound(number: int, case: Case) -> str:
    """Groups of two sides, of which nobody reads where their windows end."""
    rows = f"(SELECT * FROM all_rows WHERE number = {number} AND coalesce(v, 0) {{}})"
    left, right = (table_function(case.window, rows.format(some)) for some in ("< 6", "> -6"))
    return f"""
        SELECT {number} AS number, a.k, a.s, a.x, b.n
        FROM (
          SELECT k, window_end AS e, window_start AS s, max(v) AS x FROM {left} GROUP BY k, window_end, window_start
        ) AS a
        LEFT JOIN (
          SELECT window_end, window_start, k, count(*) AS n FROM {right} GROUP BY k, window_start, window_end
        ) AS b ON a.s = b.window_start AND b.window_end = a.e AND a.k = b.k"""


def highest(of: str, aggregate: str, keys: str = "s, e") -> Query:
    """The groups of each window that have the highest or lowest value, by a join with that value."""

    def query(number: int, case: Case) -> str:
        rows = table_function(case.window, f"(SELECT * FROM all_rows WHERE number = {number})")
        on = " AND ".join(f"c.{key} = m.{key}" for key in keys.split(", "))
        return f"""
            SELECT * FROM (
              WITH
                c AS (
                  SELECT window_start AS s, window_end AS e, k, v % 3 AS v, {of} AS x FROM {rows} GROUP BY 1, 2, 3, 4
                ),
                m AS (SELECT {keys}, {aggregate}(x) AS x FROM c GROUP BY {keys})
              SELECT {number} AS number, c.*, m.x AS y, m.e AS until FROM c JOIN m ON {on} AND c.x = m.x
            )"""

    return query


HIGHEST = {
    "counts": highest("count(*)", "max"),
    "lowest": highest("min(v)", "MIN"),
    "of keys": highest("max(ts)", "max", "e, k, s"),
}


@st.composite
def joined_windows(draw: Callable[..., Any], zone: str) -> Batch:
    """TUMBLE, HOP and CUMULATE of a time whose bounds tell each other."""
    made = [draw(cases(zone, False)) for _ in range(6)]
    return Batch(zone, "timestamp_ntz", True, tuple(c for c in made if not isinstance(c.window, Session)))


def test_same_rows_by_one_bound(spark: SparkSession) -> None:
    @settings(thorough, max_examples=1)
    @given(st.sampled_from(list(CLOCK_CHANGES)).flatmap(joined_windows))
    @example(corners("Europe/Berlin", "timestamp_ntz"))
    @example(replace(edges("Europe/Berlin"), typed=True))
    def same(batch: Batch) -> None:
        compare_with_plain(spark, batch, by_one_bound)
        for number, case in enumerate(batch.cases):
            sql = translate(by_one_bound(number, case), schema=schema_of(batch))
            kept = ("a.s = b.window_start", "b.window_end = a.e")
            least = {Tumble: 0, Hop: 0, Cumulate: 1}.get(type(case.window), 2) if batch.type != "timestamp" else 2
            assert [bound in sql for bound in kept] == ([True] * 2 if least == 2 else [not least, bool(least)])

    same()


def test_same_groups_by_one_bound(spark: SparkSession) -> None:
    @settings(thorough, max_examples=1)
    @given(st.sampled_from(list(CLOCK_CHANGES)).flatmap(joined_windows))
    @example(replace(edges("Europe/Berlin"), typed=True, type="timestamp_ntz"))
    def same(batch: Batch) -> None:
        compare_with_plain(spark, batch, groups_by_one_bound)
        for number, case in enumerate(batch.cases):
            sql = translate(groups_by_one_bound(number, case), schema=schema_of(batch))
            if isinstance(case.window, Tumble):
                assert sql.count("GROUP BY k, window_start\n") == 2

    same()


@pytest.mark.parametrize("name", HIGHEST)
def test_same_highest(spark: SparkSession, name: str) -> None:
    @settings(thorough, max_examples=1)
    @given(st.sampled_from(list(CLOCK_CHANGES)).flatmap(joined_windows))
    @example(replace(edges("Europe/Berlin"), typed=True))
    def same(batch: Batch) -> None:
        sql = translate(statement(batch, HIGHEST[name]), schema=schema_of(batch))
        assert sql.count("rank() OVER") == len(batch.cases)
        compare_with_plain(spark, batch, HIGHEST[name])

    same()
