"""CUMULATE by slices: each row is aggregated once, and each window is the running aggregate of a block's slices.

A slice is as long as a step, and a block is the longest window. So the slices of a window are the first ones of a
block:

    block [00:00, 04:00), step 1 hour      slices  00:00  01:00  02:00  03:00
    window [00:00, 03:00)                          00:00  01:00  02:00

Windows that end between one slice with rows and the next have the same values, which are computed once; each of these
windows is a row of the result. A different value is counted in the first slice of the block that has it.
"""

from __future__ import annotations

from dbt.adapters.sparkstream.sql.core.errors import NoRule
from dbt.adapters.sparkstream.sql.core.interval import Interval
from dbt.adapters.sparkstream.sql.core.windows import Cumulate
from dbt.adapters.sparkstream.sql.core.writing import Select, defined
from dbt.adapters.sparkstream.sql.passes.optimize.block import WindowAggregate
from dbt.adapters.sparkstream.sql.passes.optimize.rule import SliceRule
from dbt.adapters.sparkstream.sql.passes.optimize.slices import (
    Cells,
    Slices,
    may_coincide,
)

LEAST_STEPS = 6
"""With so many steps in a window, slices are as fast as the plain query, even if a slice has only two rows."""


class CumulateSlices(SliceRule[Cumulate]):
    """Aggregates over CUMULATE, each row once."""

    name = "cumulate-slices"
    does = "rows are aggregated once, into slices as long as a step, and slices into windows"
    window = Cumulate
    identity = frozenset({"window_end", "window_time"})

    def pays(self, window: Cumulate) -> None:
        steps = window.size // window.step
        if steps < LEAST_STEPS:
            raise NoRule(f"a row is in {steps} windows at most, and slices pay from {LEAST_STEPS} on")

    def slices(self, aggregate: WindowAggregate, window: Cumulate) -> Slices:
        return Slices(aggregate, window.step, window.size // window.step, window.offset % window.size)

    def every(self, window: Cumulate) -> Interval:
        return window.size

    def windows(self, slices: Slices, window: Cumulate) -> Select:
        cells = _cells(slices)
        block = slices.block("__last")
        start, end, longest = (slices.at(number) for number in (block, "__last + 1", f"{block} + {slices.size}"))
        cells = slices.unless_another(cells, window, start, end, longest)
        bounds = slices.bounds(block, "__last + 1")
        coincide = may_coincide(slices.aggregate, self.identity)
        return slices.merged_by_bounds(cells, bounds) if coincide else slices.result(cells, bounds)


def _cells(slices: Slices) -> Cells:
    """A row for every window that holds a row, with the slices so far merged."""
    query = slices.numbered()
    block = slices.block("__slice")
    by = f"{slices.per(block)}ORDER BY __slice"
    items = [
        *slices.carried,
        "__slice",
        f"coalesce(lead(__slice) OVER __forward, {block} + {slices.size}) AS __until",
        *(f"{c.merged(' OVER __up_to')} AS {c.name}" for c in slices.columns),
    ]
    frames = Select(
        items,
        _first_values(slices, query) if slices.counted else query,
        windows=defined({"__forward": by, "__up_to": f"{by} ROWS UNBOUNDED PRECEDING"}),
    )
    return Cells(Select(["*"], frames, views=["explode(sequence(__slice, __until - 1)) AS __last"]))


def _first_values(slices: Slices, query: Select) -> Select:
    """The slices, each with a count of the values that no earlier slice of its block has."""
    by = f"{slices.per(slices.block('__slice'), '__value')}ORDER BY __slice"
    is_first = f"__value IS NOT NULL AND row_number() OVER ({by}) = 1 AS __is_first"
    return slices.merging(
        Select(["*", is_first], query), ["__slice"], counts=lambda name: [f"count_if(__is_first) AS {name}"]
    )
