"""The clock on the wall in the rules' queries: as numbers where times are instants, as times where they are not.

Windows follow the wall clock of the session's zone. Slices are counted on it, and counting is arithmetic: Spark turns
a TIMESTAMP into a TIMESTAMP_NTZ, and adds an INTERVAL, by way of a calendar, which takes longer than to aggregate the
row. So where the time is known to be a TIMESTAMP, the wall clock is the number of microseconds that it is ahead of
1970-01-01 00:00. In UTC that is the number that Spark keeps; which it is, is known when the query is planned.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from dbt.adapters.sparkstream.sql.core.interval import MILLISECOND, Interval
from dbt.adapters.sparkstream.sql.core.types import NTZ
from dbt.adapters.sparkstream.sql.core.windows import Hop
from dbt.adapters.sparkstream.sql.passes.windows.lower import SHOWS_UTC, is_multiple, nested, time_window, wall_clock

LTZ = "timestamp"
_EPOCH = datetime(1970, 1, 1)


class Clock(Protocol):
    """How a query reads the wall clock. All texts are expressions of Spark SQL."""

    def rows(self, relation: str) -> str:
        """The rows of a relation, with the wall clock as `__wall`."""

    def slices(self, relation: str, length: Interval, offset: Interval) -> tuple[str, str]:
        """The rows of a relation that have a time, and an expression over them that says where their slice begins."""

    def floor(self, wall: str, length: Interval, offset: Interval) -> str:
        """Where the slice begins that a time is in: the last multiple of `length`, from `offset` on."""

    def number(self, start: str, length: Interval, offset: Interval) -> str:
        """The number of the slice that begins at a time."""

    def at(self, number: str, length: Interval, offset: Interval) -> str:
        """Where the slice of a number begins."""

    def plus(self, wall: str, length: Interval) -> str:
        """A time that is later by a length, or earlier."""

    def length(self, length: Interval) -> str:
        """A length as the difference of two times."""

    def copies(self, relation: str, window: Hop) -> str:
        """The rows of a relation, each once for every window that it is in, with that window's start as `__start`."""

    def typed(self, wall: str) -> str:
        """A time on the wall clock in the type of the time column."""

    def columns(self, start: str, end: str, last: str) -> tuple[str, str, str]:
        """The window columns from times on the wall clock; `last` is a millisecond before the end."""

    def shown(self, wall: str) -> str:
        """What the clock shows at a bound that is a TIMESTAMP: something else only if the bound is never shown."""

    def is_multiple(self, length: str, of: Interval) -> str:
        """Whether the difference of two times is a multiple of a length."""


@dataclass(frozen=True)
class Times:
    """The wall clock as TIMESTAMP_NTZ.

    Attributes:
        time: the time column, as it is written.
        type: its type, or None where it isn't known: then `__time` is a value of that type.
        wall_bounds: whether window_start and window_end stay TIMESTAMP_NTZ.
    """

    time: str
    type: str | None
    wall_bounds: bool = False

    def rows(self, relation: str) -> str:
        return f"SELECT *, {self._wall} AS __wall\nFROM {relation}"

    def slices(self, relation: str, length: Interval, offset: Interval) -> tuple[str, str]:
        return f"SELECT *, {self.floor(self._wall, length, offset)} AS __start\nFROM {relation}", "__start"

    def floor(self, wall: str, length: Interval, offset: Interval) -> str:
        return f"{time_window(wall, length, offset)}.start"

    def number(self, start: str, length: Interval, offset: Interval) -> str:
        return f"({start} - {_literal(offset)}) DIV {length.sql()}"

    def at(self, number: str, length: Interval, offset: Interval) -> str:
        return f"{_literal(offset)} + {length.sql()} * ({number})"

    def plus(self, wall: str, length: Interval) -> str:
        return _sum(wall, length, Interval.sql)

    def length(self, length: Interval) -> str:
        return length.sql()

    def copies(self, relation: str, window: Hop) -> str:
        # Spark would convert the time for each copy, and several times: it stands in a query of its own.
        start = f"{time_window('__wall', window.size, window.offset, window.slide)}.start"
        return f"SELECT *, {start} AS __start\nFROM {nested(self.rows(relation))}"

    def typed(self, wall: str) -> str:
        if self.type == NTZ:
            return wall
        return f"CAST({wall} AS TIMESTAMP_LTZ)" if self.type else f"coalesce({wall}, __time)"

    def columns(self, start: str, end: str, last: str) -> tuple[str, str, str]:
        if self.type == NTZ or self.wall_bounds:
            return start, end, self.typed(last)
        return self.typed(start), self.typed(end), f"{self.typed(end)} - {MILLISECOND.sql()}"

    def shown(self, wall: str) -> str:
        return f"CAST({self.typed(wall)} AS TIMESTAMP_NTZ)"

    def is_multiple(self, length: str, of: Interval) -> str:
        return is_multiple(length, of)

    @property
    def _wall(self) -> str:
        return wall_clock(self.time, self.type == NTZ)


@dataclass(frozen=True)
class Micros:
    """The wall clock of a TIMESTAMP, in microseconds.

    Attributes:
        time: the time column, as it is written.
        wall_bounds: whether window_start and window_end are TIMESTAMP_NTZ.
    """

    time: str
    wall_bounds: bool = False

    def rows(self, relation: str) -> str:
        # The instant at which a clock in UTC shows what the session's clock shows.
        local = f"IF({SHOWS_UTC}, {self.time}, from_utc_timestamp({self.time}, current_timezone()))"
        return f"SELECT *, unix_micros({local}) AS __wall\nFROM {relation}\nWHERE {self.time} IS NOT NULL"

    def slices(self, relation: str, length: Interval, offset: Interval) -> tuple[str, str]:
        return self.rows(relation), self.floor("__wall", length, offset)

    def floor(self, wall: str, length: Interval, offset: Interval) -> str:
        return f"{wall} - pmod({self.plus(wall, offset * -1)}, {length.micros})"

    def number(self, start: str, length: Interval, offset: Interval) -> str:
        number = self.plus(start, offset * -1)
        return f"{number if number.isidentifier() else f'({number})'} DIV {length.micros}"

    def at(self, number: str, length: Interval, offset: Interval) -> str:
        return self.plus(f"{length.micros} * ({number})", offset)

    def plus(self, wall: str, length: Interval) -> str:
        return _sum(wall, length, self.length)

    def length(self, length: Interval) -> str:
        return str(length.micros)

    def copies(self, relation: str, window: Hop) -> str:
        # window() makes a struct for each copy; these numbers are one array for all rows.
        behind = f"sequence(0L, {(window.overlap - 1) * window.slide.micros}L, {window.slide.micros}L)"
        last = self.floor("__wall", window.slide, window.offset % window.slide)
        starts = f"SELECT *, {last} AS __last\nFROM {nested(self.rows(relation))}"
        copies = f"SELECT *, __last - __behind AS __start\nFROM {nested(starts)}\n"
        copies += f"LATERAL VIEW explode({behind}) AS __behind"
        return copies if window.even else f"{copies}\nWHERE __wall - __last + __behind < {window.size.micros}"

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

    def is_multiple(self, length: str, of: Interval) -> str:
        return f"{length} % {of.micros} = 0"


def clock(time: str, type_: str | None, *, wall_bounds: bool = False) -> Clock:
    """The clock for a time column of some type; None where nobody knows it."""
    return Micros(time, wall_bounds) if type_ == LTZ else Times(time, type_, wall_bounds)


def _naive(micros: str) -> str:
    """A number of microseconds as a TIMESTAMP_NTZ."""
    return f"{_literal(Interval(0))} + INTERVAL '0.000001' SECOND * ({micros})"


def multiple(number: str, length: int) -> str:
    """The last multiple of a length up to a number: where the block or bucket begins that the number is in."""
    return f"{number} - pmod({number}, {length})"


def _literal(offset: Interval) -> str:
    return f"TIMESTAMP_NTZ '{_EPOCH + timedelta(microseconds=offset.micros)}'"


def _sum(wall: str, length: Interval, written: Callable[[Interval], str]) -> str:
    if not length:
        return wall
    return f"{wall} - {written(length * -1)}" if length.micros < 0 else f"{wall} + {written(length)}"
