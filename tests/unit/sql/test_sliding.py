"""Frames that slide over slices: together they hold a window's slices, each once."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbt.adapters.sparkstream.sql.passes.optimize.aggregates import Partial
from dbt.adapters.sparkstream.sql.passes.optimize.slices import SliceColumn
from dbt.adapters.sparkstream.sql.passes.optimize.sliding import AHEAD, BACK, SHORT, Sliding

HIGHEST = SliceColumn("__max_1", Partial("max(v)", "max", "greatest({a}, {b})"), None)
WHOLE = SliceColumn("__sum_1", Partial("sum(v)", "sum", None), None)


@given(size=st.integers(2, 2000), slices=st.sets(st.integers(-3000, 3000), min_size=1, max_size=40), data=st.data())
def test_frames_hold_the_windows_slices_once(size: int, slices: set[int], data: st.DataObject) -> None:
    sliding = Sliding.of(size)
    part = sliding.part
    place = {s: 2 * s - s % part if part else s for s in slices}
    assert all(place[a] < place[b] for a, b in pairwise(sorted(slices)))
    current = data.draw(st.sampled_from(sorted(slices)))
    for column in (HIGHEST, WHOLE):
        for direction, window in (
            (BACK, range(current - size + 1, current + 1)),
            (AHEAD, range(current + 1, current + size + 1)),
        ):
            bounds = sliding.bounds(column, direction).values()
            held = [s for low, high in bounds for s in slices if low <= place[s] - place[current] <= high]
            assert sorted(held) == sorted(slices.intersection(window))
    assert all((place[s] - place[current] == sliding.reach) == (s == current + size) for s in slices)


@pytest.mark.parametrize(
    ("size", "part"),
    [(60, None), (SHORT, None), (120, 10), (144, 12), (600, 24), (1440, 36), (365, 5), (127, None), (86400, 288)],
)
def test_parts_fill_a_window(size: int, part: int | None) -> None:
    assert Sliding.of(size).part == part


def test_what_only_an_aggregate_can_merge_has_one_frame() -> None:
    assert len(Sliding.of(600).frames(HIGHEST, BACK)) == 3
    assert Sliding.of(600).frames(WHOLE, BACK) == {"back": "RANGE BETWEEN 1199 PRECEDING AND CURRENT ROW"}
    assert Sliding.of(60).frames(HIGHEST, AHEAD) == {"ahead": "RANGE BETWEEN 1 FOLLOWING AND 60 FOLLOWING"}
