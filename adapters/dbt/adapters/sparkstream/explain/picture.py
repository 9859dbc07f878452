"""Rows on a line of time, or of numbers, and the windows or frames that they fall in: what is drawn, not how."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta

_EPOCH = datetime(1970, 1, 1)


@dataclass(frozen=True)
class Dot:
    """A row.

    Attributes:
        id: its number; of rows at the same place, the higher one arrived later.
        at: microseconds on the clock since 1970, or a number.
        lane: number of the lane that it is in.
        columns: column -> value, as text.
    """

    id: int
    at: float
    lane: int = 0
    columns: tuple[tuple[str, str | None], ...] = ()


@dataclass(frozen=True)
class Bar:
    """A window, or the frame of a row.

    Attributes:
        start: where it begins.
        end: where it ends; a window's end is out, a frame's is the place of its last row.
        rows: ids of the rows in it.
        lane: the lane that it belongs to; None for all of them.
        owner: id of the row that a frame belongs to.
    """

    start: float
    end: float
    rows: tuple[int, ...]
    lane: int | None = None
    owner: int | None = None


@dataclass(frozen=True)
class Picture:
    """Content of a picture.

    Attributes:
        title: its title.
        dots: the rows.
        bars: the windows or frames.
        lanes: names of the lanes; a single empty name if there are no groups.
        timed: True if places are times.
        unit: text after a number on the axis.
        band: a piece of the axis to be shaded.
        rules: where dashed lines are.
        current: id of a row that is marked as the current one.
        inside: ids of the rows that are marked as in its frame.
    """

    title: str
    dots: tuple[Dot, ...]
    bars: tuple[Bar, ...] = ()
    lanes: tuple[str, ...] = ("",)
    timed: bool = True
    unit: str = ""
    band: tuple[float, float] | None = None
    rules: tuple[float, ...] = ()
    current: int | None = None
    inside: frozenset[int] = field(default_factory=frozenset)

    def place(self, at: float) -> str:
        """A place on the axis as text."""
        return clock(at) if self.timed else f"{at:g}{self.unit}"

    def words(self, bar: Bar) -> str:
        """A bar as text."""
        rows = "1 row" if len(bar.rows) == 1 else f"{len(bar.rows)} rows"
        lane = f"{self.lanes[bar.lane]}, " if bar.lane is not None and self.lanes[bar.lane] else ""
        if bar.owner is not None:
            owner = next(dot for dot in self.dots if dot.id == bar.owner)
            return f"{lane}frame of the row at {self.place(owner.at)}: {rows}"
        return f"{lane}window {self.span(bar)}: {rows}"

    def span(self, bar: Bar) -> str:
        """A bar's start and end as text, with the date once if it is the same."""
        first, last = self.place(bar.start), self.place(bar.end)
        day = first[:11]
        return f"{first} – {last.removeprefix(day) if self.timed else last}"

    def label(self, dot: Dot) -> str:
        """A row as text."""
        lane = f"{self.lanes[dot.lane]}, " if self.lanes[dot.lane] else ""
        values = ", ".join(f"{name} {'NULL' if value is None else value}" for name, value in dot.columns)
        return f"{lane}row at {self.place(dot.at)}{f': {values}' if values else ''}"


def clock(micros: float) -> str:
    """A time as text, without seconds and fractions of seconds that are zero."""
    time = _EPOCH + timedelta(microseconds=int(micros))
    text = f"{time.year:04d}-{time:%m-%d %H:%M}"
    if time.second or time.microsecond:
        text += f":{time:%S}"
    if time.microsecond:
        text += f".{time.microsecond:06d}".rstrip("0")
    return text
