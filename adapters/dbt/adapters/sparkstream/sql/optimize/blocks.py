"""Windows of HOP from blocks of slices: a suffix of one block and a prefix of the next.

A block is as many slices as a window has. So a window that ends at a block's slice `at` is

    the slices of the block before that lie behind `at`  +  the slices of this block up to `at`
             (a suffix of its block)                              (a prefix of its block)

Both are running aggregates, so the cost doesn't depend on how many slices a window has, and nothing is subtracted.
Every slice stands in two blocks: its own (`__next = 0`) and the one behind it (`__next = 1`). Between the position of
one slice and that of the next, windows change nothing but their bounds; there as many rows come out as there are
windows, and none for windows without a row.
"""

from __future__ import annotations

from dbt.adapters.sparkstream.sql.lower import nested
from dbt.adapters.sparkstream.sql.optimize.slices import Slices, select


def prefixes_and_suffixes(slices: Slices, every: int) -> str:
    """A query that gives a row for each window, with the number of its last slice as `__last`.

    Args:
        slices: their blocks are as long as a window.
        every: how many slices after a window the next one ends.
    """
    slices.count_rows()
    cells = nested(_cells(slices, nested(_frames(slices)), every))
    if all(c.partial.combine for c in slices.columns):
        return _combined(slices, cells)
    return slices.merging(_apart(slices, cells), ["__last"])


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
        "__block + __at AS __last",
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
    query = select([*slices.carried, "__last", *(f"{sql} AS {name}" for name, sql in combined.items())])
    return f"{query}\nFROM {cells}"


def _apart(slices: Slices, cells: str) -> str:
    """Prefix and suffix of each window as two rows."""
    names = [c.name for c in slices.columns]
    both = ", ".join([*(f"{n}_prefix" for n in names), *(f"{n}_suffix" for n in names)])
    query = select([*slices.carried, "__last", *names])
    return nested(f"{query}\nFROM {cells}\nLATERAL VIEW stack(2, {both}) AS {', '.join(names)}")
