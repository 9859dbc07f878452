"""Row windows as Flink assigns them, in a few lines of Python to compare with.

Times are whole microseconds: of the wall clock since 1970-01-01 00:00, or of the instant since the epoch.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

MS = 1_000
SECOND = 1_000 * MS
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR

Bounds = tuple[int, int]
"""Start and end (exclusive) of a window."""

_EPOCH = datetime(1970, 1, 1)
_MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True)
class Tumble:
    size: int
    offset: int = 0

    def windows(self, time: int) -> Iterator[Bounds]:
        start = time - (time - self.offset) % self.size
        yield start, start + self.size


@dataclass(frozen=True)
class Hop:
    slide: int
    size: int
    offset: int = 0

    def windows(self, time: int) -> Iterator[Bounds]:
        start = time - (time - self.offset) % self.slide
        while start > time - self.size:
            yield start, start + self.size
            start -= self.slide


@dataclass(frozen=True)
class Cumulate:
    step: int
    size: int
    offset: int = 0

    def windows(self, time: int) -> Iterator[Bounds]:
        start = time - (time - self.offset) % self.size
        for end in range(start + self.step, start + self.size + 1, self.step):
            if end > time:
                yield start, end


@dataclass(frozen=True)
class Session:
    gap: int
    keyed: bool = False


@dataclass(frozen=True)
class RuledSession:
    """A session that more than a constant gap ends.

    Attributes:
        gap: for all rows; None where each has its own.
        max_duration: no session lasts longer; None for no limit.
        keyed: True if each key has sessions of its own.
    """

    gap: int | None
    max_duration: int | None = None
    keyed: bool = False


@dataclass(frozen=True)
class SessionRow:
    """A row of a session: its time on the wall clock, its key, its own gap, and whether it closes."""

    time: int | None
    key: Hashable = None
    gap: int | None = None
    closes: bool = False


def assign_sessions(window: RuledSession, rows: Sequence[SessionRow]) -> list[Bounds | None]:
    """The session of every row; None for a row that is in none."""
    found: list[Bounds | None] = [None] * len(rows)
    by_key: dict[Hashable, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    for number, row in enumerate(rows):
        gap = row.gap if window.gap is None else window.gap
        if row.time is not None and gap is not None and gap > 0:
            by_key[row.key if window.keyed else None][row.time - row.time % MS].append(number)
    for times in by_key.values():
        start = until = 0
        members: list[int] = []
        closed = True
        for time in sorted(times):
            limit = window.max_duration is not None and time >= start + window.max_duration
            if closed or time > until or limit:
                start, until, members = time, time, []
            here = [rows[number] for number in times[time]]
            members += times[time]
            until = max(until, *(time + ((row.gap if window.gap is None else window.gap) or 0) for row in here))
            closed = any(row.closes for row in here)
            end = until if window.max_duration is None else min(until, start + window.max_duration)
            for number in members:
                found[number] = start, time + MS if closed else end
    return found


def assign(
    window: Tumble | Hop | Cumulate | Session, times: Sequence[int | None], keys: Sequence[Hashable]
) -> list[list[Bounds]]:
    """The windows of every row, by its wall clock; none for a row without a time.

    Args:
        times: wall clock of each row; a part of a millisecond doesn't count.
        keys: key of each row, for sessions that have one.
    """
    floored = [None if time is None else time - time % MS for time in times]
    if not isinstance(window, Session):
        return [[] if time is None else list(window.windows(time)) for time in floored]
    by_key: dict[Hashable, list[int]] = defaultdict(list)
    for time, key in zip(floored, keys, strict=True):
        if time is not None:
            by_key[key if window.keyed else None].append(time)
    merged = {key: _merge(sorted(found), window.gap) for key, found in by_key.items()}
    return [
        [] if time is None else [(a, b) for a, b in merged[key if window.keyed else None] if a <= time < b]
        for time, key in zip(floored, keys, strict=True)
    ]


def _merge(times: Sequence[int], gap: int) -> list[Bounds]:
    merged: list[Bounds] = []
    for time in times:
        if merged and time <= merged[-1][1]:
            merged[-1] = merged[-1][0], time + gap
        else:
            merged.append((time, time + gap))
    return merged


def wall_clock(instant: int, zone: str) -> int:
    """What a clock in a zone shows at an instant."""
    shown = (_EPOCH + instant * _MICROSECOND).replace(tzinfo=timezone.utc).astimezone(ZoneInfo(zone))
    return (shown.replace(tzinfo=None) - _EPOCH) // _MICROSECOND


def instant(wall: int, zone: str) -> int:
    """When a clock in a zone shows this: the first time if it does twice, an hour later if it never does."""
    shown = (_EPOCH + wall * _MICROSECOND).replace(tzinfo=ZoneInfo(zone), fold=0)
    return (shown.astimezone(timezone.utc).replace(tzinfo=None) - _EPOCH) // _MICROSECOND
