"""Frames as Spark's frames: they hold what OpenMLDB's rules say, worked out here without Spark."""

from __future__ import annotations

import random
from dataclasses import asdict
from itertools import product

import pytest

from dbt.adapters.sparkstream.sql.core.frames import Frame, Kind
from dbt.adapters.sparkstream.sql.passes.framing.rowsets import (
    PEERS,
    Attached,
    Framed,
    Limited,
    Past,
    by_key,
    needs_order,
    row_set,
    rows_between,
)
from tests.property import frame_reference as reference
from tests.property.frame_reference import Row

FLAGS = list(product((False, True), repeat=3))
FRAMES = [
    Frame(kind, start, end, maxsize, *flags)
    for kind in Kind
    for end in (0, 1, 2)
    for start in (None, end, end + 1, end + 3)
    for maxsize in ((None,) if kind is Kind.ROWS else (None, 1, 2, 3))
    for flags in FLAGS
]


def tables() -> list[list[Row]]:
    """Rows of one partition, many of the same key, of the main table alone or with two UNION tables."""
    chance = random.Random(0)
    made = []
    for sources in ((0,), (0, 1, 2)) * 3:
        places = [(0, 0), *((chance.choice(sources), chance.randint(-2, 3)) for _ in range(9))]
        made.append([Row(i, source, i, None, key, None, None) for i, (source, key) in enumerate(places)])
    return made


@pytest.mark.parametrize("rows", tables())
def test_the_rows_are_those_of_the_rules(rows: list[Row]) -> None:
    for frame in FRAMES:
        made = row_set(frame, unions=any(r.source for r in rows), literal=str, keyed=by_key(frame))
        spark = Spark(rows, "key" if by_key(frame) else "order" if needs_order(frame) else "rows")
        said = {name: value for name, value in asdict(frame).items() if name not in ("kind", "unitless")}
        wanted = reference.Frame(frame.kind is Kind.ROWS, *said.values())
        for current in (r for r in rows if r.source == 0):
            held = {r.id for r in spark.held(current, made.past)} | ({current.id} if made.add_current else set())
            assert held == {r.id for r in reference.frame_of(current, rows, wanted)}, frame


class Spark:
    """The rows of a partition, and Spark's frames over them.

    Attributes:
        order: what the frames go by: `order`, the unique number of a row; `key`; or `rows`, where a key has
            rows whose order RANGE doesn't know.
    """

    def __init__(self, rows: list[Row], order: str) -> None:
        self.rows = sorted(rows, key=reference.stream_order)
        peers = [[r for r in self.rows if r.key == row.key] for row in self.rows]
        numbered = zip(self.rows, peers, strict=True)
        self._numbers = {
            r.id: r.key * 2 * PEERS + same.index(r) + 1 if order == "order" else r.key for r, same in numbered
        }
        self._order = order

    def held(self, current: Row, past: Past) -> list[Row]:
        if past is None:
            return []
        if isinstance(past, Framed):
            return [r for r in self._frame(current, past.frame, self.rows) if r.source or not past.unions_only]
        if isinstance(past, Limited):
            everything = self.held(current, past.all)
            return self.held(current, past.newest) if len(everything) > past.limit else everything
        assert isinstance(past, Attached)
        rows = [r for r in self.rows if r.source or not past.unions_only]
        within = self._frame(current, f"RANGE BETWEEN UNBOUNDED PRECEDING AND {past.reach}", rows)
        return self._frame(within[-1], past.frame, rows) if within else []

    def _frame(self, current: Row, frame: str, rows: list[Row]) -> list[Row]:
        kind, _, bounds = frame.partition(" BETWEEN ")
        first, last = (_distance(bound) for bound in bounds.split(" AND "))
        assert kind in ("ROWS", "RANGE") and last is not None
        assert kind == "ROWS" or self._order != "rows", "a RANGE among rows that nothing tells apart"
        if kind == "ROWS":
            at = rows.index(current)
            return rows[0 if first is None else max(0, at + first) : max(0, at + last + 1)]
        here = self._numbers[current.id]
        return [
            r
            for r in rows
            if (first is None or self._numbers[r.id] >= here + first) and self._numbers[r.id] <= here + last
        ]


def _distance(bound: str) -> int | None:
    """A bound of a frame from the current row; None for UNBOUNDED PRECEDING."""
    distance, _, side = bound.partition(" ")
    assert side == ("ROW" if distance == "CURRENT" else "PRECEDING")
    return None if distance == "UNBOUNDED" else 0 if distance == "CURRENT" else -int(distance)


@pytest.mark.parametrize("frame", [Frame(Kind.ROWS, None, 0), Frame(Kind.ROWS, 3, 1), Frame(Kind.ROWS_RANGE, 9, 2)])
def test_rows_get_no_order_where_spark_has_the_frame(frame: Frame) -> None:
    """Numbering rows takes a sort of its own."""
    assert not needs_order(frame)
    assert by_key(frame) == (frame.kind is Kind.ROWS_RANGE)


def test_more_rows_than_spark_counts_are_all() -> None:
    assert rows_between(2**31 - 1, 0) == "ROWS BETWEEN 2147483647 PRECEDING AND CURRENT ROW"
    assert rows_between(2**31, 2) == "ROWS BETWEEN UNBOUNDED PRECEDING AND 2 PRECEDING"
