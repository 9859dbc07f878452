"""Gap filling by its definition: all windows are written down, and each missing one looks at all rows of its key."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from tests.property.window_reference import DAY, MINUTE, Bounds, Cumulate, Hop, Tumble, instant, wall_clock

Window = Tumble | Hop | Cumulate
Value = int | float | None


class Row(NamedTuple):
    """A window of a key: its bounds on the wall clock, and its value; None where it has no window."""

    key: str | None
    bounds: Bounds | None
    value: int | None


class Filled(NamedTuple):
    """A row of the result. `carried`, `straight`, `near` and `constant` are the value filled in the four ways."""

    key: str | None
    start: int | None
    end: int | None
    value: Value
    carried: Value
    straight: Value
    near: Value
    constant: Value
    is_filled: bool


@dataclass(frozen=True)
class Gapfill:
    """What is filled.

    Attributes:
        zone: whose clock the bounds are of; None for TIMESTAMP_NTZ.
        since, until: a time on the wall clock from which on, and before which, windows have to be there.
        everywhere: True if each key has windows where any has.
        longest: microseconds of a gap that is filled with values, at most; None for any.
        spine: keys that have to be there; only with both ends of the time, or `everywhere`.
    """

    window: Window
    zone: str | None
    since: int | None = None
    until: int | None = None
    everywhere: bool = False
    longest: int | None = None
    spine: tuple[str | None, ...] = ()

    def rows(self, rows: Sequence[Row]) -> Iterator[Filled]:
        by_key: dict[str | None, list[Row]] = {key: [] for key in self.spine}
        for row in rows:
            by_key.setdefault(row.key, []).append(row)
        ends = [row.bounds[1] for row in rows if row.bounds]
        for key, own in by_key.items():
            yield from self._rows_of(key, own, ends)

    def _rows_of(self, key: str | None, own: Sequence[Row], all_ends: Sequence[int]) -> Iterator[Filled]:
        there: dict[int, Row] = {}
        for row in own:
            if row.bounds is None:
                yield Filled._make((key, None, None, *[row.value] * 5, False))
            else:
                there[row.bounds[1]] = row
                start, end = self.shown(row.bounds)
                yield Filled._make((key, start, end, *[row.value] * 5, False))
        ends = list(all_ends) if self.everywhere else list(there)
        if not ends and (self.since is None or self.until is None):
            return
        first, last = min(ends, default=0), max(ends, default=0)
        if self.since is not None:
            first = min(end for _, end in self._windows_near(self.since) if end > self.since)
        if self.until is not None:
            last = max(end for start, end in self._windows_near(self.until) if start < self.until)
        if not there and (self.since is None or self.until is None) and not self.everywhere:
            return
        taken = {self.shown(row.bounds) for row in there.values() if row.bounds}
        missing: dict[Bounds, int] = {}
        for start, end in self._windows_between(first, last):
            shown = self.shown((start, end))
            if end not in there and shown not in taken and self._has_time((start, end)):
                missing[shown] = end
        for shown, end in missing.items():
            earlier = max((other for other in there if other < end), default=None)
            later = min((other for other in there if other > end), default=None)
            if earlier is None and self.since is None and not self.everywhere:
                continue
            if later is None and self.until is None and not self.everywhere:
                continue
            values = self._values(there, earlier, end, later, first, last)
            yield Filled._make((key, *shown, None, *values, True))

    def _values(
        self, there: Mapping[int, Row], earlier: int | None, end: int, later: int | None, first: int, last: int
    ) -> Sequence[Any]:
        """The value carried, on a straight line, of the nearest window, and a constant."""
        gap_begins = first if earlier is None else earlier + self._period
        gap_ends = last + self._period if later is None else later
        if self.longest is not None and gap_ends - gap_begins > self.longest:
            return [None] * 4
        before = None if earlier is None else there[earlier].value
        after = None if later is None else there[later].value
        straight: float | None = None
        if earlier is not None and later is not None and before is not None and after is not None:
            straight = (float(before) * (later - end) + float(after) * (end - earlier)) / (later - earlier)
        near = before if later is None or (earlier is not None and end - earlier <= later - end) else after
        return before, straight, near, 0

    @property
    def _period(self) -> int:
        match self.window:
            case Tumble(size=size):
                return size
            case Hop(slide=slide):
                return slide
            case Cumulate(step=step):
                return step

    def _windows_near(self, time: int) -> list[Bounds]:
        """The windows within two sizes of a time, and a few more."""
        reach = 2 * (self.window.size + self._period)
        return list(self._windows_between(time - reach, time + reach))

    def _windows_between(self, first: int, last: int) -> Iterator[Bounds]:
        """The windows that end from `first` to `last`, in the order of their ends."""
        found = set()
        # A window that ends at `e` holds the time `e - 1`, or begins a slide that does.
        for time in range(first - self.window.size - self._period, last + self._period, self._step_of_search):
            found |= {bounds for bounds in self.window.windows(time) if first <= bounds[1] <= last}
        return iter(sorted(found, key=lambda bounds: bounds[1]))

    @property
    def _step_of_search(self) -> int:
        """How far apart times may be, so that each window has one of them."""
        return min(self._period, self.window.size)

    def _has_time(self, bounds: Bounds) -> bool:
        """Whether the clock ever shows a time within a window."""
        start, end = bounds
        if self.zone is None or end - start > DAY:
            return True
        times = {start, end - 1, *range(start, end, 15 * MINUTE)}
        return any(wall_clock(instant(time, self.zone), self.zone) == time for time in times)

    def shown(self, bounds: Bounds) -> Bounds:
        """The bounds as the time column's type has them: instants for a TIMESTAMP."""
        if self.zone is None:
            return bounds
        start, end = (instant(time, self.zone) for time in bounds)
        return start, end
