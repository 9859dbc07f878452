"""HOP by slices: each row is aggregated once, and each window is put together from a suffix and a prefix of slices.

A slice is as long as the greatest common divisor of slide and size, and a block is as many slices as a window has. So
a window that ends at a block's slice `at` is

    the slices of the block before that lie behind `at`  +  the slices of this block up to `at`
             (a suffix of its block)                              (a prefix of its block)

Both are running aggregates, so the cost doesn't depend on how many slices a window has, and nothing is subtracted.
Every slice stands in two blocks: its own (`__next = 0`) and the one behind it (`__next = 1`). Between the position of
one slice and that of the next, windows change nothing but their bounds; there as many rows come out as there are
windows, and none for windows without a row.
"""

from __future__ import annotations

from dbt.adapters.sparkstream.sql.interval import Interval
from dbt.adapters.sparkstream.sql.lower import NTZ, nested
from dbt.adapters.sparkstream.sql.optimize.block import WindowAggregate
from dbt.adapters.sparkstream.sql.optimize.norule import NoRule
from dbt.adapters.sparkstream.sql.optimize.slices import Slices, check_bounds, check_parts, gcd_slice, select
from dbt.adapters.sparkstream.sql.windows import WINDOW_COLUMNS, Hop, Window

LEAST_OVERLAP = 18
"""Windows that a row is in from which on slices are as fast as Spark's `window()` even where a slice has two rows."""

LONGEST = Interval.of("28", "day")
"""Longest size for which two windows never have the same bounds after the clock was changed."""


class HopSlices:
    """Aggregates over HOP, each row once."""

    name = "hop-slices"
    window = Hop
    identity = frozenset(WINDOW_COLUMNS)

    def pays(self, window: Window) -> None:
        assert isinstance(window, Hop)
        if window.overlap < LEAST_OVERLAP:
            raise NoRule(f"a row is in {window.overlap} windows at most, and slices pay from {LEAST_OVERLAP} on")

    def check(self, aggregate: WindowAggregate) -> None:
        check_parts(aggregate)
        if may_coincide(aggregate):
            check_bounds(aggregate)

    def rewrite(self, aggregate: WindowAggregate, indent: str) -> str:
        window = aggregate.function.window
        assert isinstance(window, Hop)
        slice_ = gcd_slice(window.size, window.slide)
        size, every = window.size // slice_, window.slide // slice_
        slices = Slices(aggregate, slice_, size, window.offset % window.slide)
        slices.count_rows()
        query = nested(_frames(slices))
        cells = nested(_cells(slices, query, every))
        bounds = slices.bounds(f"__block + __at - {size - 1}", "__block + __at + 1")
        coincide = may_coincide(aggregate)
        if all(c.partial.combine for c in slices.columns):
            cells = _combined(slices, cells)
        else:
            cells = _apart(slices, cells)
            cells = cells if coincide else slices.merged(cells, ["__block", "__at"])
        result = slices.merged_by_bounds(cells, bounds) if coincide else slices.result(cells, bounds)
        comment = f"hop: {window.words()} on {slices.time}, put together from slices of {slice_.words()}"
        return slices.written(comment, result, indent)


def may_coincide(aggregate: WindowAggregate) -> bool:
    """Whether two windows may have the same bounds, because the clock skips an hour where one of them begins or ends.

    Start and end are both skipped only if a window reaches from one change of the clock to another.
    """
    window = aggregate.function.window
    assert isinstance(window, Hop)
    both = {"window_start", "window_end"} <= set(aggregate.grouping.bounds)
    return aggregate.time_type() != NTZ and (not both or window.size > LONGEST)


def _frames(slices: Slices) -> str:
    """At every slice of a block: the prefix up to it, and the suffix of the block before that lies behind it."""
    columns = [c.name for c in slices.columns]
    copies = select(
        [
            *slices.carried,
            f"__slice - pmod(__slice, {slices.size}) + {slices.size} * __next AS __block",
            f"pmod(__slice, {slices.size}) AS __position",
            "__next",
            *columns,
        ]
    )
    copies += f"\nFROM {nested(slices.query([slices.number]))}\nLATERAL VIEW explode(array(0, 1)) AS __next"
    frames = select(
        [
            *slices.carried,
            "__block",
            "__position",
            "__next",
            "IF(row_number() OVER __up_to = 1, 0, __position) AS __from",
            # The next slice's position, by a frame that is there anyway: lead() takes longer than all others together.
            f"coalesce(min(__position) OVER __behind, {slices.size}) AS __until",
            *columns,
            *(f"{c.merged(' FILTER (WHERE __next = 0) OVER __up_to')} AS {c.name}_prefix" for c in slices.columns),
            *(f"{c.merged(' FILTER (WHERE __next = 1) OVER __behind')} AS {c.name}_suffix" for c in slices.columns),
        ]
    )
    by = f"PARTITION BY {slices.partition} ORDER BY"
    return f"""\
{frames}
FROM {nested(copies)}
WINDOW
  __up_to AS ({by} __position, __next DESC ROWS UNBOUNDED PRECEDING),
  __behind AS ({by} __position DESC, __next ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)"""


def _cells(slices: Slices, frames: str, every: int) -> str:
    """A row for every window that holds a row. The ones before a block's first slice have the suffix alone."""
    first = "__from"
    if every > 1:  # windows don't end with every slice
        first = f"__from + pmod({slices.size - 1} - __block - __from, {every})"
    step = f", {every}" if every > 1 else ""
    count = next(c.name for c in slices.columns if c.partial.counts)
    items = [
        *slices.carried,
        "__block",
        "__at",
        *(
            f"IF(__at < __position, IF(__next = 1, {c.name}, NULL), {c.name}_prefix) AS {c.name}_prefix"
            for c in slices.columns
        ),
        *(f"{c.name}_suffix" for c in slices.columns),
    ]
    return f"""\
{select(items)}
FROM {frames}
LATERAL VIEW explode(CASE WHEN {first} < __until THEN sequence({first}, __until - 1{step}) END) AS __at
WHERE IF(__at < __position, __next = 1, {count}_prefix IS NOT NULL) OR {count}_suffix IS NOT NULL"""


def _combined(slices: Slices, cells: str) -> str:
    """Prefix and suffix of each window combined."""
    combined = {
        c.name: c.partial.cast((c.partial.combine or "").format(a=f"{c.name}_prefix", b=f"{c.name}_suffix"))
        for c in slices.columns
    }
    query = select([*slices.carried, "__block", "__at", *(f"{sql} AS {name}" for name, sql in combined.items())])
    return nested(f"{query}\nFROM {cells}")


def _apart(slices: Slices, cells: str) -> str:
    """Prefix and suffix of each window as two rows."""
    names = [c.name for c in slices.columns]
    both = ", ".join([*(f"{n}_prefix" for n in names), *(f"{n}_suffix" for n in names)])
    query = select([*slices.carried, "__block", "__at", *names])
    rows = f"{query}\nFROM {cells}\nLATERAL VIEW stack(2, {both}) AS {', '.join(names)}" if names else ""
    return nested(rows or f"{query}\nFROM {cells}")
