"""Windows of HOP from running sums: the sum up to a window's end, less the sum up to its beginning.

    sum of the slices 3 to 5  =  sum of the slices up to 5  -  sum of the slices up to 2

This is for counts and for sums of whole numbers and decimals, where subtraction is exact. A sum of DOUBLE loses digits
beside a large number, and subtracting that number doesn't bring them back. Each slice is read and sorted once; prefixes
and suffixes of blocks (`blocks`) take two of each.

Slice s comes into the windows with the window whose last slice is s, and goes with the window whose last slice is
s + `size`. Windows between two such events have the same rows. So each slice gives

    the windows from its coming until the next slice comes or an earlier slice goes
    the windows from its going until the next slice goes or another slice comes

The frames for these windows begin with the first slice, so Spark adds slices to them and never starts anew:

    __come     the slices up to slice s
    __gone     the slices that are gone when slice s comes
    __by_then  the slices that have come when slice s goes

count(DISTINCT ...) goes the same way: a value comes with a slice if none of the `size` - 1 slices before has it, and
goes with a slice if none of the `size` - 1 slices behind has it. An aggregate beside such a count that can't be
subtracted is computed from sliding frames (`sliding`).

The slices of a key are cut into blocks of several windows, so that Spark's tasks share them. The last slices of a
block, which the first windows of the next block need, are in both blocks.
"""

from __future__ import annotations

from dbt.adapters.sparkstream.sql.core.writing import Select, defined
from dbt.adapters.sparkstream.sql.passes.optimize.aggregates import halves, joined
from dbt.adapters.sparkstream.sql.passes.optimize.clock import multiple
from dbt.adapters.sparkstream.sql.passes.optimize.slices import Cells, SliceColumn, Slices
from dbt.adapters.sparkstream.sql.passes.optimize.sliding import AHEAD, BACK, Sliding

FRAMES = ("come", "gone", "by_then")
"""The frames that slices are added up over; the docstring of the module has what each holds."""

WINDOWS_IN_BLOCK = 16
"""Size of a block of slices, in windows. One in so many slices is in two blocks."""


def running_sums(slices: Slices, every: int) -> Cells:
    """A row for each window, with the number of its last slice as `__last`.

    Args:
        slices: slices whose partials can all be subtracted, or that count different values.
        every: how many slices after a window the next one ends.
    """
    gone = f"__slice + {slices.size}"
    values = {c.name: f"IF(__last < {gone}, {c.name}_coming, {c.name}_going)" for c in slices.columns}
    ends = (slices.lasts(event, f"{event}_until", every) for event in ("__coming", "__going"))
    return Cells(Select(["*"], _events(slices), views=[f"explode(concat({', '.join(ends)})) AS __last"]), values)


def _events(slices: Slices) -> Select:
    """Last slices of the windows that each slice opens when it enters and when it leaves, with their partials.

    `__coming` to `__coming_until` - 1 are the windows from its coming on, `__going` to `__going_until` - 1 from its
    going.
    """
    size = slices.size
    slides = any(not c.partial.subtracts for c in slices.columns)
    sliding = Sliding.of(size) if slides else Sliding(size)
    # If no slice is left when this slice goes, no window is. If another slice comes at that moment, it gives the
    # window.
    others = f"__latest > __slice AND __latest < __slice + {size}"
    items = [
        *slices.carried,
        "__slice",
        "greatest(__slice, __block) AS __coming",
        f"least(__next, __oldest + {size}) AS __coming_until",
        f"greatest(__slice + {size}, __block) AS __going",
        f"IF({others}, least(__next + {size}, __after), NULL) AS __going_until",
    ]
    for event, frame, without, direction in (("coming", "come", "gone", BACK), ("going", "by_then", "come", AHEAD)):
        for column in slices.columns:
            if column.partial.subtracts:
                left = _difference(slices, column, frame, without)
            else:
                left = sliding.together(column, direction)
            items.append(f"{left} AS {column.name}_{event}")
    return Select(items, _frames(slices, sliding))


def _frames(slices: Slices, sliding: Sliding) -> Select:
    """For each slice, the aggregates over its frames."""
    block = slices.size * WINDOWS_IN_BLOCK
    by = f"{slices.per('__block')}ORDER BY {sliding.order}"
    slid = [(c, direction) for c in slices.columns if not c.partial.subtracts for direction in (BACK, AHEAD)]
    # Spark evaluates a window expression once for each time that it is written, so each is a column with a name.
    items = [
        *slices.carried,
        "__slice",
        "__block",
        "__next",
        "coalesce(max(__next) OVER __gone, min(__slice) OVER __come) AS __oldest",
        "max(__slice) OVER __by_then AS __latest",
        "max(__next) OVER __by_then AS __after",
        *(f"sum({value}) OVER __{frame} AS {name}_{frame}" for name, value in _sums(slices) for frame in FRAMES),
        *(value for column, direction in slid for value in sliding.values(column, direction)),
    ]
    frames = {
        "come": "ROWS UNBOUNDED PRECEDING",
        "gone": f"RANGE BETWEEN UNBOUNDED PRECEDING AND {sliding.reach} PRECEDING",
        "by_then": f"RANGE BETWEEN UNBOUNDED PRECEDING AND {sliding.reach} FOLLOWING",
    }
    for column, direction in slid:
        frames |= sliding.frames(column, direction)
    windows = defined({f"__{name}": f"{by} {frame}" for name, frame in frames.items()})
    return Select(items, _followed(slices, sliding, by, block), windows=windows)


def _followed(slices: Slices, sliding: Sliding, by: str, block: int) -> Select:
    """The slices of each block, each with the number of the next one."""
    # A frame of one row: lead() takes longer than all other frames together.
    next_ = f"min(__slice) OVER ({by} ROWS BETWEEN 1 FOLLOWING AND 1 FOLLOWING)"
    blocks = _values(slices, sliding, block) if slices.counted else _blocks(slices, block)
    return Select(["*", f"coalesce({next_}, __block + {block}) AS __next"], blocks)


def _blocks(slices: Slices, block: int) -> Select:
    """The slices in their blocks. A block's last slices, which windows of the next block have, are in both blocks."""
    copies = f"IF(pmod(__slice, {block}) > {block - slices.size}, array(0, {block}), array(0))"
    return Select(
        ["*", f"{multiple('__slice', block)} + __behind AS __block"],
        slices.numbered(),
        views=[f"explode({copies}) AS __behind"],
    )


def _values(slices: Slices, sliding: Sliding, block: int) -> Select:
    """The slices in their blocks, with how many different values come with each slice, and how many go with it."""
    by = f"{slices.per('__block', '__value')}ORDER BY __slice ROWS BETWEEN"
    since = f"__slice - max(__slice) OVER ({by} 1 PRECEDING AND 1 PRECEDING)"
    until = f"min(__slice) OVER ({by} 1 FOLLOWING AND 1 FOLLOWING) - __slice"
    values = Select(["*", f"{since} AS __since", f"{until} AS __until"], _blocks(slices, block))
    comes, goes = (
        f"count_if(__value IS NOT NULL AND coalesce({distance} >= {slices.size}, TRUE))"
        for distance in ("__since", "__until")
    )
    return slices.merging(
        values,
        ["__slice", "__block"],
        sliding.places,
        counts=lambda name: [f"{comes} AS {name}", f"{goes} AS {name}_out"],
    )


def _sums(slices: Slices) -> list[tuple[str, str]]:
    """Sums over the slices: (name of the sum, value of one slice)."""
    found: list[tuple[str, str]] = []
    for column in slices.columns:
        name, partial = column.name, column.partial
        if not partial.subtracts:
            continue
        if partial.wide:
            # The sum of a block may be too large for a BIGINT even if the sums of its windows aren't, so halves are
            # added.
            found += zip((f"{name}_high", f"{name}_low"), halves(name), strict=True)
        else:
            found += [(name, name)]
        if partial.distinct:
            found += [(f"{name}_out", f"{name}_out")]
        if not partial.counts and _counter(slices, column) == f"{name}_set":
            found += [(f"{name}_set", f"CAST({name} IS NOT NULL AS INT)")]
    return found


def _difference(slices: Slices, column: SliceColumn, frame: str, without: str) -> str:
    """A partial over the slices of `frame` without the slices of `without`; NULL where no such slice has a value."""
    name, partial = column.name, column.partial
    if partial.distinct:
        left = _less(name, frame, without, f"{name}_out")
    elif partial.wide:
        left = joined(*(_less(f"{name}_{half}", frame, without) for half in ("high", "low")))
    else:
        left = partial.cast(_less(name, frame, without))
    if partial.counts:
        return left
    return f"IF({_less(_counter(slices, column), frame, without)} > 0, {left}, NULL)"


def _counter(slices: Slices, column: SliceColumn) -> str:
    """The sum that is 0 where no slice has a value: the count of the values, or of the slices with a value."""
    if count := slices.count_of(column):
        return count.name
    same = column.partial.present, column.filter
    nullable = (c for c in slices.columns if not c.partial.counts)
    return next(f"{c.name}_set" for c in nullable if (c.partial.present, c.filter) == same)


def _less(name: str, frame: str, without: str, out: str | None = None) -> str:
    return f"coalesce({name}_{frame} - {out or name}_{without}, {name}_{frame})"
