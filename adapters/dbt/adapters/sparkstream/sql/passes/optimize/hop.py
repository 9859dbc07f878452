"""HOP by slices: each row is aggregated once, and each window is put together from slices.

A slice is as long as the greatest common divisor of slide and size. The cost doesn't depend on how many slices a window
has. Where sums can be subtracted exactly, or different values are counted, a window is a difference of running sums
(`running`); else it is a suffix of one block and a prefix of the next (`blocks`).
"""

from __future__ import annotations

from dbt.adapters.sparkstream.sql.core.errors import NoRule
from dbt.adapters.sparkstream.sql.core.interval import Interval
from dbt.adapters.sparkstream.sql.core.windows import WINDOW_COLUMNS, Hop
from dbt.adapters.sparkstream.sql.core.writing import Select
from dbt.adapters.sparkstream.sql.passes.optimize.block import WindowAggregate
from dbt.adapters.sparkstream.sql.passes.optimize.blocks import prefixes_and_suffixes
from dbt.adapters.sparkstream.sql.passes.optimize.rule import SliceRule
from dbt.adapters.sparkstream.sql.passes.optimize.running import running_sums
from dbt.adapters.sparkstream.sql.passes.optimize.slices import (
    Slices,
    gcd_slice,
    may_coincide,
)

LEAST_OVERLAP = 18
"""With so many windows for each row, slices are as fast as Spark's `window()`, even if a slice has only two rows."""


class HopSlices(SliceRule[Hop]):
    """Aggregates over HOP, each row once."""

    name = "hop-slices"
    does = "rows are aggregated once, into slices as long as a slide, and slices into windows"
    window = Hop
    identity = frozenset(WINDOW_COLUMNS)

    def pays(self, window: Hop) -> None:
        if window.overlap < LEAST_OVERLAP:
            raise NoRule(f"a row is in {window.overlap} windows at most, and slices pay from {LEAST_OVERLAP} on")

    def slices(self, aggregate: WindowAggregate, window: Hop) -> Slices:
        slice_ = gcd_slice(window.size, window.slide)
        return Slices(aggregate, slice_, window.size // slice_, window.offset % window.slide)

    def every(self, window: Hop) -> Interval:
        return window.slide

    def windows(self, slices: Slices, window: Hop) -> Select:
        running = slices.counted or all(c.partial.subtracts for c in slices.columns)
        put_together = running_sums if running else prefixes_and_suffixes
        cells = put_together(slices, every=window.slide // slices.slice)
        start, end = f"__last - {slices.size - 1}", "__last + 1"
        cells = slices.unless_another(cells, window, slices.at(start), slices.at(end))
        bounds = slices.bounds(start, end)
        coincide = may_coincide(slices.aggregate, self.identity)
        return slices.merged_by_bounds(cells, bounds) if coincide else slices.result(cells, bounds)
