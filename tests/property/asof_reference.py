"""Joins as of a time by their definition: for each left row, all right rows are looked at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple


class Row(NamedTuple):
    """A row of either side; the time is in microseconds."""

    k1: str | None
    k2: int | None
    time: int | None
    v: int | None
    id: int


@dataclass(frozen=True)
class AsOf:
    """A join as of a time.

    Attributes:
        keys: how many of the keys have to be equal.
        null_keys: True if two NULL keys are equal, as they are to a LAST JOIN.
        tolerance: microseconds between the two times at most; None for any.
        inner: True if left rows without a match are left out.
    """

    direction: str = "backward"
    exact: bool = True
    tolerance: int | None = None
    inner: bool = False
    keys: int = 1
    null_keys: bool = False

    def match(self, left: Row, right: Sequence[Row]) -> Row | None:
        """The right row that a left row meets: the nearest, then the earlier one, then the one with the greatest v."""
        near = [row for row in right if self._may_meet(left, row)]
        return max(near, key=lambda row: self._closeness(left, row), default=None)

    def _may_meet(self, left: Row, right: Row) -> bool:
        if left.time is None or right.time is None:
            return False
        pairs = zip(left[: self.keys], right[: self.keys], strict=True)
        if any(a != b or (a is None and not self.null_keys) for a, b in pairs):
            return False
        gap = left.time - right.time
        if (gap == 0 and not self.exact) or (self.tolerance is not None and abs(gap) > self.tolerance):
            return False
        return {"backward": gap >= 0, "forward": gap <= 0, "nearest": True}[self.direction]

    def _closeness(self, left: Row, right: Row) -> tuple[int, bool, bool, int, int]:
        assert left.time is not None and right.time is not None
        gap = left.time - right.time
        return -abs(gap), gap >= 0, right.v is not None, right.v or 0, right.id

    def rows(self, left: Sequence[Row], right: Sequence[Row]) -> Iterator[tuple[int, int | None]]:
        """The ids of left rows with those of their matches."""
        for row in left:
            found = self.match(row, right)
            if found is not None or not self.inner:
                yield row.id, found.id if found else None
