"""Aggregates along time of random rows: the definitions in Python and Spark give the same."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from dbt.adapters.sparkstream.sql import translate
from tests.lib.macros import macros

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MINUTE = 60_000_000
WINDOW = 10 * MINUTE
ORDINARY = 1_600_000_200_000_000
BEFORE_1970 = -3_600_000_000
CLOCK_CHANGE = 1_616_893_200_000_000
"""In Berlin, 2021-03-28 02:00 is 03:00."""


@dataclass(frozen=True)
class Row:
    """A row: its time in microseconds, and a value that is a counter's, a price or a state."""

    time: int | None
    value: float | None
    state: str | None


rows = st.builds(
    Row,
    st.one_of(st.none(), st.integers(0, 12).map(lambda n: n * 97_000_003)),
    st.one_of(st.none(), st.integers(-4, 9).map(float)),
    st.sampled_from((None, "open", "closed")),
)
groups = st.lists(st.lists(rows, min_size=1, max_size=6), min_size=1, max_size=25)
few = settings(
    max_examples=6, derandomize=True, deadline=None, phases=(Phase.generate,), suppress_health_check=list(HealthCheck)
)

AGGREGATES: dict[str, tuple[str, tuple[Any, ...], dict[str, Any]]] = {
    "first": ("first_by", ("v", "ts"), {}),
    "last": ("last_by", ("v", "ts"), {}),
    "last_of_two": ("last_by", ("v", ["ts", "id"]), {}),
    "average": ("time_weighted_average", ("v", "ts"), {}),
    "average_until": ("time_weighted_average", ("v", "ts"), {"until": "until"}),
    "line": ("time_weighted_average", ("v", "ts"), {"method": "linear"}),
    "increase": ("increase", ("v", "ts"), {}),
    "rate": ("rate", ("v", "ts"), {"per": "1 minute"}),
    "open": ("state_duration", ("state", "ts", "'open'"), {}),
    "open_until": ("state_duration", ("state", "ts", "'open'"), {"until": "until"}),
}


def expected(own: list[Row], until: int) -> dict[str, float | None]:
    """What each aggregate is, by its definition."""
    points = sorted((r.time, r.value) for r in own if r.time is not None and r.value is not None)
    by_id = [(r.time, number, r.value) for number, r in enumerate(own) if r.time is not None and r.value is not None]
    steps = list(itertools.pairwise(points))
    found: dict[str, float | None] = dict.fromkeys(AGGREGATES)
    if points:
        (first, value), (last, latest) = points[0], points[-1]
        area = sum(v * (after - t) for (t, v), (after, _) in steps)
        grown = sum(w - v if w >= v else w for (_, v), (_, w) in steps)
        found |= {"first": value, "last": latest, "last_of_two": max(by_id)[2], "increase": grown}
        found["average"] = area / (last - first) if last > first else latest
        slopes = sum((v + w) / 2 * (after - t) for (t, v), (after, w) in steps)
        found["line"] = slopes / (last - first) if last > first else latest
        found["rate"] = grown / (last - first) * MINUTE if last > first else None
        end = max(until, last)
        found["average_until"] = (area + latest * (end - last)) / (end - first) if end > first else latest
    states = sorted((r.time, r.state == "open") for r in own if r.time is not None and r.state is not None)
    if states:
        seconds = sum(b[0] - a[0] for a, b in itertools.pairwise(states) if a[1]) / 1e6
        last, is_open = states[-1]
        rest = max(until - last, 0) / 1e6 if is_open else 0
        found |= {"open": seconds, "open_until": seconds + rest}
    return found


def _same(one: Any, other: Any) -> bool:
    return (one is None and other is None) or (
        one is not None and other is not None and math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)
    )


@pytest.mark.parametrize(
    ("type_", "zone", "begin"),
    [
        ("timestamp", "UTC", ORDINARY),
        ("timestamp", "Europe/Berlin", CLOCK_CHANGE - 300_000_000),
        ("timestamp_ntz", "America/New_York", BEFORE_1970),
    ],
)
@few
@given(groups)
def test_the_definitions(embedded: SparkSession, type_: str, zone: str, begin: int, table: list[list[Row]]) -> None:
    embedded.conf.set("spark.sql.session.timeZone", zone)
    until = begin + 5 * 97_000_003

    def moment(micros: int | None) -> str:
        if micros is None:
            return "NULL"
        if type_ == "timestamp":
            return f"timestamp_micros({micros})"
        return f"(TIMESTAMP_NTZ'1970-01-01' + make_dt_interval(0, 0, 0, {micros} / 1000000BD))"

    values = ", ".join(
        f"({number}, {id_}, CAST({moment(None if row.time is None else begin + row.time)} AS {type_}), "
        f"CAST({'NULL' if row.value is None else row.value} AS DOUBLE), "
        f"{'NULL' if row.state is None else repr(row.state)}, CAST({moment(until)} AS {type_}))"
        for number, own in enumerate(table)
        for id_, row in enumerate(own)
    )
    call: Callable[..., str] = macros("spark").call
    columns = ", ".join(f"{call(name, *given, **more)} AS {alias}" for alias, (name, given, more) in AGGREGATES.items())
    query = f"SELECT g, {columns} FROM VALUES {values} AS t (g, id, ts, v, state, until) GROUP BY g, until"
    found = {row["g"]: row for row in embedded.sql(query).collect()}
    for number, own in enumerate(table):
        shifted = [Row(None if r.time is None else begin + r.time, r.value, r.state) for r in own]
        wanted = expected(shifted, until)
        assert all(_same(found[number][name], value) for name, value in wanted.items()), (own, wanted, found[number])


@few
@given(st.lists(rows, min_size=1, max_size=40))
def test_candlesticks_by_slices_and_through_cascades(embedded: SparkSession, table: list[Row]) -> None:
    embedded.conf.set("spark.sql.session.timeZone", "UTC")
    values = (
        ", ".join(
            f"(CAST({'NULL' if r.time is None else f'timestamp_micros({ORDINARY + r.time})'} AS TIMESTAMP), "
            f"CAST({'NULL' if r.value is None else r.value} AS DOUBLE))"
            for r in table
            if r.time is not None
        )
        or "(CAST(NULL AS TIMESTAMP), 1D)"
    )
    call = macros("sparkstream").call
    embedded.sql(f"SELECT * FROM VALUES {values} AS t (ts, v)").createOrReplaceTempView("ticks")
    bounds = "window_start, window_end"
    hops = f"SELECT {bounds}, {call('ohlc', 'v', 'ts', volume='v')} FROM hop(ticks, ts, '2 minutes', '10 minutes') "
    fast, plain = (translate(f"{hops} GROUP BY {bounds}", optimize=way) for way in (True, False))
    assert fast != plain
    assert sorted(embedded.sql(fast).collect()) == sorted(embedded.sql(plain).collect())
    small = translate(
        f"SELECT {bounds}, {call('ohlc', 'v', 'ts', volume='v')} FROM tumble(ticks, ts, '1 minute') GROUP BY {bounds}"
    )
    embedded.sql(small).createOrReplaceTempView("minutes")
    of_minutes = "(SELECT window_start AS minute, * EXCEPT (window_start, window_end) FROM minutes)"
    merged = translate(
        f"SELECT {bounds}, {call('merge_ohlc', 'minute', volume=True)} FROM tumble({of_minutes}, minute, '10 minutes') "
        f"GROUP BY {bounds}"
    )
    direct = translate(
        f"SELECT {bounds}, {call('ohlc', 'v', 'ts', volume='v')} FROM tumble(ticks, ts, '10 minutes') GROUP BY {bounds}"
    )
    assert sorted(embedded.sql(merged).collect()) == sorted(embedded.sql(direct).collect())
