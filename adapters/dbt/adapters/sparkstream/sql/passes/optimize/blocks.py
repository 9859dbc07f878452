"""Windows of HOP from blocks of slices: a suffix of one block and a prefix of the next.

A block has as many slices as a window has. So a window has the last slices of one block and the first of the next:

    block 0: slices 0 1 2 3      block 1: slices 4 5 6 7
    window of the slices 2 to 5  =  2 3 (a suffix of block 0)  +  4 5 (a prefix of block 1)

Suffixes and prefixes are running aggregates, from a block's end and from its beginning. So the cost doesn't depend on
how many slices a window has, and nothing is subtracted. Prefixes are computed in another stage of Spark than suffixes,
as both need a sort, and two sorts in one stage take twice the memory.

Two kinds of events change the rows of the windows that end in a block: a slice of the block comes into the windows, or
a slice of the block before goes, and a shorter suffix is left. Windows between two events have the same values, which
are computed once. Each of these windows is a row of the result, unless it holds no rows.
"""

from __future__ import annotations

from dbt.adapters.sparkstream.sql.core.writing import Select, defined
from dbt.adapters.sparkstream.sql.passes.optimize.slices import Cells, SliceColumn, Slices


def prefixes_and_suffixes(slices: Slices, every: int) -> Cells:
    """A row for each window, with the number of its last slice as `__last`.

    Args:
        slices: slices whose blocks are as long as a window.
        every: how many slices after a window the next one ends.
    """
    slices.count_rows()
    names = [c.name for c in slices.columns]
    count = next(c.name for c in slices.columns if c.partial.counts)
    last = f"explode({slices.lasts('__from', '__until', every)}) AS __last"
    has_rows = [f"{count}_prefix IS NOT NULL OR __suffix.{count} IS NOT NULL"]
    if all(c.partial.combine for c in slices.columns):
        combined = [f"{_combined(c)} AS {c.name}" for c in slices.columns]
        events = Select([*slices.carried, "__from", "__until", *combined], _prefixes(slices), where=has_rows)
        return Cells(Select(["*"], events, views=[last]))
    values = [f"IF(__is_prefix, {name}_prefix, __suffix.{name}) AS {name}" for name in names]
    both = [last, "explode(array(TRUE, FALSE)) AS __is_prefix"]
    parts = Select([*slices.carried, "__last", *values], _prefixes(slices), views=both, where=has_rows)
    return Cells(Select(["*"], slices.merging(parts, ["__last"])))


def _combined(column: SliceColumn) -> str:
    """The partials of prefix and suffix as one."""
    combine = column.partial.combine or ""
    return column.partial.cast(combine.format(a=f"{column.name}_prefix", b=f"__suffix.{column.name}"))


def _suffixes(slices: Slices) -> Select:
    """The slices, each with its suffix (from the slice to the block's end) and the number of the slice before it."""
    items = [
        "*",
        # A frame of one row: lead() takes longer than all other frames together.
        "min(__slice) OVER __next AS __before",
        "row_number() OVER __from_end = 1 AS __is_last",
        *(f"{c.merged(' OVER __from_end')} AS {c.name}_suffix" for c in slices.columns),
    ]
    by = f"{slices.per(slices.block('__slice'))}ORDER BY __slice DESC ROWS"
    return Select(items, slices.numbered(), windows=_frames("__from_end", by))


def _events(slices: Slices) -> Select:
    """Events of a block, each at a slice (`__at`): three kinds.

    0: the slice comes. 1: in the next block, the suffix that begins with the slice takes over, when the slice before it
    goes or with the block's beginning. 2: the block's last slice goes, and no suffix is left.
    """
    block, size = slices.block("__slice"), slices.size
    items = [
        *slices.carried,
        f"{block} + IF(__event = 0, 0, {size}) AS __block",
        f"CASE __event WHEN 0 THEN __slice WHEN 1 THEN coalesce(__before, {block} - 1) + {size} "
        f"ELSE __slice + {size} END AS __at",
        "__event",
        *(f"CASE __event WHEN 0 THEN {c.name} WHEN 1 THEN {c.name}_suffix END AS {c.name}" for c in slices.columns),
    ]
    return Select(items, _suffixes(slices), views=["explode(IF(__is_last, array(0, 1, 2), array(0, 1))) AS __event"])


def _prefixes(slices: Slices) -> Select:
    """The prefix and the suffix after each event, for the slices from the event until the next one."""
    suffix = ", ".join(c.name for c in slices.columns)
    items = [
        *slices.carried,
        "greatest(__at, __block) AS __from",
        f"coalesce(min(__at) OVER __next, __block + {slices.size}) AS __until",
        # Spark takes FILTER before OVER from 4.2 on.
        *(
            f"{c.merged(' OVER __so_far', f'CASE WHEN __event = 0 THEN {c.name} END')} AS {c.name}_prefix"
            for c in slices.columns
        ),
        f"last(CASE WHEN __event > 0 THEN struct({suffix}) END, TRUE) OVER __so_far AS __suffix",
    ]
    by = f"{slices.per('__block')}ORDER BY __at ROWS"
    return Select(items, _events(slices), windows=_frames("__so_far", by))


def _frames(running: str, by: str) -> list[list[str]]:
    """Two frames: all rows up to the current one, under the name `running`, and the next row (`__next`)."""
    return defined({running: f"{by} UNBOUNDED PRECEDING", "__next": f"{by} BETWEEN 1 FOLLOWING AND 1 FOLLOWING"})
