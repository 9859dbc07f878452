"""The wall clock in the rules' queries: numbers where the time column is a TIMESTAMP, else times.

Windows follow the wall clock of the session's zone, and slices are counted on it. Where Spark turns a TIMESTAMP into a
TIMESTAMP_NTZ or adds an INTERVAL, it goes through a calendar, which takes longer than aggregating the row. So where the
column is known to be a TIMESTAMP, the wall clock is a number: the microseconds since 1970-01-01 00:00 on that clock. In
UTC Spark keeps the same number itself, and it knows the session's zone when it plans the query.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import ClassVar

from dbt.adapters.sparkstream.sql.core.interval import MILLISECOND, Interval
from dbt.adapters.sparkstream.sql.core.types import LTZ, NTZ
from dbt.adapters.sparkstream.sql.core.windows import Hop
from dbt.adapters.sparkstream.sql.core.writing import Select
from dbt.adapters.sparkstream.sql.passes.windows.lower import SHOWS_UTC, time_window, wall_clock

_EPOCH = datetime(1970, 1, 1)


@dataclass(frozen=True)
class Clock:
    """Wall clock of a query, as TIMESTAMP_NTZ. All texts are expressions of Spark SQL.

    Attributes:
        numbers: True if times are numbers of microseconds.
        time: the time column, as it is written.
        type: the column's type, or None where it isn't known; then `__time` is one of the column's values.
        wall_bounds: True if window_start and window_end stay TIMESTAMP_NTZ.
    """

    numbers: ClassVar[bool] = False

    time: str
    type: str | None
    wall_bounds: bool = False

    def rows(self, relation: str) -> Select:
        """The rows of a relation, with the wall clock as `__wall`."""
        return Select(["*", f"{self._wall} AS __wall"], relation)

    def slices(self, relation: str, length: Interval, offset: Interval) -> tuple[Select, str]:
        """The rows of a relation that have a time, and an expression over the rows: where a row's slice begins."""
        return Select(["*", f"{self.floor(self._wall, length, offset)} AS __start"], relation), "__start"

    def floor(self, wall: str, length: Interval, offset: Interval) -> str:
        """Start of the slice of a time: the last multiple of `length`, counted from `offset` on, up to the time."""
        return f"{time_window(wall, length, offset)}.start"

    def number(self, start: str, length: Interval, offset: Interval) -> str:
        """The number of the slice that begins at the time `start`."""
        return f"({start} - {_literal(offset)}) DIV {length.sql()}"

    def at(self, number: str, length: Interval, offset: Interval) -> str:
        """Start of the slice of a number."""
        return f"{_literal(offset)} + {length.sql()} * ({number})"

    def plus(self, wall: str, length: Interval) -> str:
        """A time and a length added up; the length may be negative."""
        if not length:
            return wall
        return f"{wall} - {self.length(length * -1)}" if length.micros < 0 else f"{wall} + {self.length(length)}"

    def length(self, length: Interval) -> str:
        """A length, to compare differences of two times with."""
        return length.sql()

    def copies(self, relation: str, window: Hop) -> Select:
        """The rows of a relation, one copy for each window of the row, with the window's start as `__start`."""
        # The wall clock is computed in an inner query: else Spark would convert the time several times for each copy.
        start = f"{time_window('__wall', window.size, window.offset, window.slide)}.start"
        return Select(["*", f"{start} AS __start"], self.rows(relation))

    def typed(self, wall: str) -> str:
        """A time on the wall clock in the type of the time column."""
        if self.type == NTZ:
            return wall
        return f"CAST({wall} AS TIMESTAMP_LTZ)" if self.type else f"coalesce({wall}, __time)"

    def columns(self, start: str, end: str, last: str) -> tuple[str, str, str]:
        """window_start, window_end and window_time, from times on the wall clock.

        Args:
            last: a millisecond before the end.
        """
        if self.type == NTZ or self.wall_bounds:
            return start, end, self.typed(last)
        return self.typed(start), self.typed(end), f"{self.typed(end)} - {MILLISECOND.sql()}"

    def shown(self, wall: str) -> str:
        """Wall-clock time of a bound that became a TIMESTAMP: 03:30 for 02:30 in a skipped hour."""
        return f"CAST({self.typed(wall)} AS TIMESTAMP_NTZ)"

    @property
    def _wall(self) -> str:
        return wall_clock(self.time, self.type == NTZ)


class Micros(Clock):
    """The wall clock of a TIMESTAMP, in microseconds."""

    numbers: ClassVar[bool] = True

    def rows(self, relation: str) -> Select:
        # A TIMESTAMP that a clock in UTC shows as the session's clock shows the time column.
        local = f"IF({SHOWS_UTC}, {self.time}, from_utc_timestamp({self.time}, current_timezone()))"
        return Select(["*", f"unix_micros({local}) AS __wall"], relation, where=[f"{self.time} IS NOT NULL"])

    def slices(self, relation: str, length: Interval, offset: Interval) -> tuple[Select, str]:
        return self.rows(relation), self.floor("__wall", length, offset)

    def floor(self, wall: str, length: Interval, offset: Interval) -> str:
        return f"{wall} - pmod({self.plus(wall, offset * -1)}, {length.micros})"

    def number(self, start: str, length: Interval, offset: Interval) -> str:
        number = self.plus(start, offset * -1)
        return f"{number if number.isidentifier() else f'({number})'} DIV {length.micros}"

    def at(self, number: str, length: Interval, offset: Interval) -> str:
        return self.plus(f"{length.micros} * ({number})", offset)

    def length(self, length: Interval) -> str:
        return str(length.micros)

    def copies(self, relation: str, window: Hop) -> Select:
        # window() makes a struct for each copy; this sequence is one array for all rows.
        behind = f"sequence(0L, {(window.overlap - 1) * window.slide.micros}L, {window.slide.micros}L)"
        last = self.floor("__wall", window.slide, window.offset % window.slide)
        return Select(
            ["*", "__last - __behind AS __start"],
            Select(["*", f"{last} AS __last"], self.rows(relation)),
            views=[f"explode({behind}) AS __behind"],
            where=[] if window.even else [f"__wall - __last + __behind < {window.size.micros}"],
        )

    def typed(self, wall: str) -> str:
        instant = f"timestamp_micros({wall})"
        return f"IF({SHOWS_UTC}, {instant}, to_utc_timestamp({instant}, current_timezone()))"

    def columns(self, start: str, end: str, last: str) -> tuple[str, str, str]:
        if self.wall_bounds:
            return _naive(start), _naive(end), self.typed(last)
        before = f"to_utc_timestamp(timestamp_micros({end}), current_timezone()) - {MILLISECOND.sql()}"
        return self.typed(start), self.typed(end), f"IF({SHOWS_UTC}, timestamp_micros({last}), {before})"

    def shown(self, wall: str) -> str:
        return f"unix_micros(from_utc_timestamp({self.typed(wall)}, current_timezone()))"


def clock(time: str, type_: str | None, *, wall_bounds: bool = False) -> Clock:
    """The clock for a time column.

    Args:
        type_: the column's type, or None where nobody knows it.
    """
    return (Micros if type_ == LTZ else Clock)(time, type_, wall_bounds)


def _naive(micros: str) -> str:
    """A number of microseconds as a TIMESTAMP_NTZ."""
    return f"{_literal(Interval(0))} + INTERVAL '0.000001' SECOND * ({micros})"


def multiple(number: str, length: int) -> str:
    """The last multiple of a length up to a number, such as the first slice of the block of a slice."""
    return f"{number} - pmod({number}, {length})"


def _literal(offset: Interval) -> str:
    return f"TIMESTAMP_NTZ '{_EPOCH + timedelta(microseconds=offset.micros)}'"
