"""CUMULATE by slices: each row is aggregated once, and each window is the running aggregate of a block's slices.

A slice is a step and a block is the longest window, so a window that ends with the block's slice `at` is a prefix of
the block's slices. Between one slice and the next, as many rows come out as there are windows. Different values are
counted by the slice of the block that has them first.
"""

from __future__ import annotations

from dbt.adapters.sparkstream.sql.lower import NTZ, nested
from dbt.adapters.sparkstream.sql.optimize.block import WindowAggregate
from dbt.adapters.sparkstream.sql.optimize.norule import NoRule
from dbt.adapters.sparkstream.sql.optimize.slices import Slices, check_bounds, check_parts, counts_values, select
from dbt.adapters.sparkstream.sql.windows import Cumulate, Window

LEAST_STEPS = 6
"""Steps of a window from which on slices are worth it even where a slice has two rows."""


class CumulateSlices:
    """Aggregates over CUMULATE, each row once."""

    name = "cumulate-slices"
    window = Cumulate
    identity = frozenset({"window_end", "window_time"})

    def pays(self, window: Window) -> None:
        assert isinstance(window, Cumulate)
        steps = window.size // window.step
        if steps < LEAST_STEPS:
            raise NoRule(f"a row is in {steps} windows at most, and slices pay from {LEAST_STEPS} on")

    def check(self, aggregate: WindowAggregate) -> None:
        check_parts(aggregate)
        counts = counts_values(aggregate)
        if aggregate.time_type() != NTZ:
            check_bounds(aggregate)
            if counts and "window_start" not in aggregate.grouping.bounds:
                raise NoRule("count(DISTINCT ...) of windows with the same end, where the clock skips an hour")

    def rewrite(self, aggregate: WindowAggregate, indent: str) -> str:
        window = aggregate.function.window
        assert isinstance(window, Cumulate)
        slices = Slices(aggregate, window.step, window.size // window.step, window.offset % window.size)
        cells = nested(_cells(slices))
        bounds = slices.bounds("__block", "__block + __at + 1")
        if slices.time_type == NTZ:
            result = slices.result(cells, bounds)
        else:
            # Windows of one block that end within a skipped hour; from the same start on if that is a key.
            same_block = "window_start" in aggregate.grouping.bounds
            result = slices.merged_by_bounds(cells, bounds, ["__block"] if same_block else [])
        comment = f"cumulate: {window.words()} on {slices.time}, put together from slices of {window.step.words()}"
        return slices.written(comment, result, indent)


def _cells(slices: Slices) -> str:
    """A row for every window that holds a row, with the slices so far merged."""
    columns = [c.name for c in slices.columns]
    position = f"pmod(__slice, {slices.size})"
    number = [f"__slice - {position} AS __block", f"{position} AS __position"]
    slots = f"{select([*slices.carried, *number, *slices.of_slices])}\nFROM {nested(slices.query([slices.number]))}"
    slots = _values(slices, slots) if slices.counted else slots
    frames = select(
        [
            *slices.carried,
            "__block",
            "__position",
            f"coalesce(lead(__position) OVER __forward, {slices.size}) AS __until",
            *(f"{c.merged(' OVER __up_to')} AS {c.name}" for c in slices.columns),
        ]
    )
    by = f"PARTITION BY {slices.partition} ORDER BY __position"
    return f"""\
{select([*slices.carried, "__block", "__at", *columns])}
FROM (
  {frames.replace(chr(10), chr(10) + "  ")}
  FROM {nested(slots).replace(chr(10), chr(10) + "  ")}
  WINDOW
    __forward AS ({by}),
    __up_to AS ({by} ROWS UNBOUNDED PRECEDING)
)
LATERAL VIEW explode(sequence(__position, __until - 1)) AS __at"""


def _values(slices: Slices, slots: str) -> str:
    """The slices, with how many values each has that no slice of its block before it has."""
    by = f"PARTITION BY {slices.partition}, __value ORDER BY __position"
    first = f"__value IS NOT NULL AND row_number() OVER ({by}) = 1 AS __is_first"
    values = select([*slices.carried, "__block", "__position", *slices.of_slices, first])
    return slices.merging(
        nested(f"{values}\nFROM {nested(slots)}"),
        ["__block", "__position"],
        counts=lambda name: [f"count_if(__is_first) AS {name}"],
    )
