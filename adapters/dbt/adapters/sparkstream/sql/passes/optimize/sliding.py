"""Frames that slide over slices: extremes, bits and sums of DOUBLE beside counts of different values.

Those can't be subtracted as running sums are. Spark computes a frame that slides from all of its rows, each time; that
is cheap for some dozens of slices. A window of more is three frames next to each other, as slices are cut into parts of
equal length:

    the end of the first part  +  whole parts  +  the beginning of the last part

The whole ones change with each part only, and the others are short: the work for a slice grows with the square root of
a window's slices. For that a frame has to end where its part does, and what RANGE knows are distances. So the order of
slices is a place, in which parts are as far from each other as they are long: a frame that ends anywhere between
two parts ends with the first of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from math import isqrt

from dbt.adapters.sparkstream.sql.passes.optimize.slices import Column

SHORT = 96
"""Slices up to which one frame takes less time than three."""

BACK, AHEAD = "back", "ahead"
"""The window that ends with a slice, and the first one that it isn't in any more."""


@dataclass(frozen=True)
class Sliding:
    """The frames of windows.

    Attributes:
        size: how many slices a window has.
        part: how many slices make a part of it; None where a window is one frame.
    """

    size: int
    part: int | None = None

    @classmethod
    def of(cls, size: int) -> Sliding:
        """The frames with the least work: about as many parts as a part has slices.

        Parts fill a window, so one of a prime number of slices has none.
        """
        lengths = range(isqrt(size), 1, -1) if size > SHORT else ()
        return cls(size, next((length for length in lengths if size % length == 0), None))

    @property
    def order(self) -> str:
        """The column that slices are ordered by."""
        return "__place" if self.part else "__slice"

    @property
    def places(self) -> list[str]:
        """A slice's `__place`, where windows have parts: a column, as Spark sorts anew for the same expression."""
        return [f"2 * __slice - pmod(__slice, {self.part}) AS {self.order}"] if self.part else []

    @property
    def reach(self) -> int:
        """How far the places of two slices are apart of which one comes when the other goes."""
        return self.size * (2 if self.part else 1)

    def bounds(self, column: Column, direction: str) -> dict[str, tuple[int, int]]:
        """The frames whose aggregates together are a window's: names, and how far off their first and last place is."""
        reach, part = self.reach, self.part
        back = direction == BACK
        if not part or not column.partial.combine:
            return {direction: (1 - reach, 0) if back else (1, reach)}
        if back:
            frames = [(1 - reach, part - 1 - reach), (part + 1 - reach, -part), (1 - part, 0)]
        else:
            frames = [(1, part - 1), (part, reach - part - 1), (reach - part + 1, reach)]
        return {f"{direction}_{i}": frame for i, frame in enumerate(frames, 1)}

    def frames(self, column: Column, direction: str) -> dict[str, str]:
        """The same as a WINDOW clause has them."""
        found = self.bounds(column, direction).items()
        return {name: f"RANGE BETWEEN {_bound(first)} AND {_bound(last)}" for name, (first, last) in found}

    def values(self, column: Column, direction: str) -> list[str]:
        """The aggregates over these frames, as items of SELECT.

        Spark's segment tree takes longer than the rows of a short frame do; where it is on, it leaves FILTER alone.
        """
        return [
            f"{column.merged(f' FILTER (WHERE {column.name} IS NOT NULL) OVER __{frame}')} AS {column.name}_{frame}"
            for frame in self.bounds(column, direction)
        ]

    def together(self, column: Column, direction: str) -> str:
        """A window's aggregate from those over its frames."""
        names = [f"{column.name}_{frame}" for frame in self.bounds(column, direction)]
        combine = column.partial.combine or ""
        return reduce(lambda a, b: column.partial.cast(combine.format(a=a, b=b)), names)


def _bound(distance: int) -> str:
    if not distance:
        return "CURRENT ROW"
    return f"{abs(distance)} {'PRECEDING' if distance < 0 else 'FOLLOWING'}"
