"""Frames that slide over slices, for min, max, bits and sums of DOUBLE in queries with count(DISTINCT ...).

Such an aggregate can't be subtracted as a running sum can. Spark computes a sliding frame from all of its rows for each
row; that is cheap for some dozens of slices. A window of more slices is put together from three frames, as slices are
cut into parts of `part` slices each:

    the end of the first part  +  whole parts  +  the beginning of the last part

    with part = 3, the window of the slices 4 to 12:    4 5  +  6 7 8  9 10 11  +  12

The whole parts are the same for all slices of a part, and the other two frames are short: the work for a slice grows
with the square root of the number of slices in a window.

A frame has to end where a part ends, but RANGE only knows distances. So slices are ordered by a place that leaves a gap
between parts, as long as a part is. A frame that ends in the gap ends with the part before it:

    slice    0 1 2         3 4 5         6 7 8
    place    0 1 2 . . .   6 7 8 . . .  12 13 14
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from math import isqrt

from dbt.adapters.sparkstream.sql.passes.optimize.slices import SliceColumn

SHORT = 96
"""The most slices of a window for which one frame takes less time than three."""

BACK, AHEAD = "back", "ahead"
"""Directions of a slice's window: the window that ends with the slice, or the first window behind the slice."""


@dataclass(frozen=True)
class Sliding:
    """The frames of windows.

    Attributes:
        size: how many slices a window has.
        part: how many slices a part has; None where one frame is the whole window.
    """

    size: int
    part: int | None = None

    @classmethod
    def of(cls, size: int) -> Sliding:
        """The frames with the least work, where a window has about as many parts as a part has slices.

        A window is a whole number of parts. So a window of a prime number of slices has no parts.
        """
        lengths = range(isqrt(size), 1, -1) if size > SHORT else ()
        return cls(size, next((length for length in lengths if size % length == 0), None))

    @property
    def order(self) -> str:
        """The column that slices are ordered by."""
        return "__place" if self.part else "__slice"

    @property
    def places(self) -> list[str]:
        """A slice's `__place`, where windows have parts: a column, as Spark sorts for each use of an expression."""
        return [f"2 * __slice - pmod(__slice, {self.part}) AS {self.order}"] if self.part else []

    @property
    def reach(self) -> int:
        """Distance of the places of two slices whose numbers are `size` apart."""
        return self.size * (2 if self.part else 1)

    def bounds(self, column: SliceColumn, direction: str) -> dict[str, tuple[int, int]]:
        """The frames that a window is put together from: name -> distance of their first and of their last place."""
        reach, part = self.reach, self.part
        back = direction == BACK
        if not part or not column.partial.combine:
            return {direction: (1 - reach, 0) if back else (1, reach)}
        if back:
            frames = [(1 - reach, part - 1 - reach), (part + 1 - reach, -part), (1 - part, 0)]
        else:
            frames = [(1, part - 1), (part, reach - part - 1), (reach - part + 1, reach)]
        return {f"{direction}_{i}": frame for i, frame in enumerate(frames, 1)}

    def frames(self, column: SliceColumn, direction: str) -> dict[str, str]:
        """The frames of `bounds` for a WINDOW clause: name -> frame."""
        found = self.bounds(column, direction).items()
        return {name: f"RANGE BETWEEN {_bound(first)} AND {_bound(last)}" for name, (first, last) in found}

    def values(self, column: SliceColumn, direction: str) -> list[str]:
        """The aggregates over the frames of `bounds`, as items of SELECT."""
        return [
            f"{column.merged(f' OVER __{frame}')} AS {column.name}_{frame}" for frame in self.bounds(column, direction)
        ]

    def together(self, column: SliceColumn, direction: str) -> str:
        """A window's aggregate, from the aggregates over its frames."""
        names = [f"{column.name}_{frame}" for frame in self.bounds(column, direction)]
        combine = column.partial.combine or ""
        return reduce(lambda a, b: column.partial.cast(combine.format(a=a, b=b)), names)


def _bound(distance: int) -> str:
    if not distance:
        return "CURRENT ROW"
    return f"{abs(distance)} {'PRECEDING' if distance < 0 else 'FOLLOWING'}"
