"""Row windows as values, and the syntax-tree node of a window table function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.errors import PartError
from dbt.adapters.sparkstream.sql.core.interval import MILLISECOND, ZERO, Interval
from dbt.adapters.sparkstream.sql.core.limits import most_windows
from dbt.adapters.sparkstream.sql.core.nodes import find

DAY = Interval.of("1", "day")
LONGEST_APART = Interval.of("28", "day")
"""Longest size of windows that never begin in one skipped hour and end in another."""


def _positive(argument: str, value: Interval) -> None:
    if value <= ZERO:
        raise PartError(argument, f"window {argument} must be positive", f"write a {argument} such as '10 minutes'")
    if value.micros % MILLISECOND.micros:
        # window_time is the end less a millisecond, and Flink's windows are of whole milliseconds.
        millis = value.micros // MILLISECOND.micros + 1
        unit = "millisecond" if millis == 1 else "milliseconds"
        raise PartError(
            argument,
            f"window {argument} must be whole milliseconds",
            f"write '{millis} {unit}', INTERVAL '{millis / 1000:g}' SECOND",
        )


def _bounded(argument: str, step: Interval, size: Interval) -> None:
    """Refuses windows of which a row is in so many that one row fills Spark's memory."""
    most = most_windows()
    windows = -(-size.micros // step.micros)
    if windows > most:
        longer = Interval(-(-size.micros // most // MILLISECOND.micros) * MILLISECOND.micros)
        raise PartError(
            argument,
            f"a row is in {windows:,} of these windows, and {most:,} is the most",
            f"write a {argument} of {longer.words()} or more, or set max_windows in the model's config or the profile",
        )


@dataclass(frozen=True)
class Tumble:
    """Windows of one size side by side: a row is in exactly one."""

    name: ClassVar[str] = "TUMBLE"
    arguments: ClassVar[tuple[str, ...]] = ("size", "offset")

    size: Interval
    offset: Interval = ZERO

    def __post_init__(self) -> None:
        _positive("size", self.size)
        if abs(self.offset.micros) >= self.size.micros:
            raise PartError(
                "offset",
                f"the offset ({self.offset.words()}) must be smaller than the size ({self.size.words()})",
                f"write the offset between -{self.size.words()} and {self.size.words()}",
            )

    def words(self) -> str:
        return f"windows of {self.size.words()}{_offset_words(self.offset)}"


@dataclass(frozen=True)
class Hop:
    """Windows of one size, a new one every slide: a row is in size / slide of them."""

    name: ClassVar[str] = "HOP"
    arguments: ClassVar[tuple[str, ...]] = ("slide", "size", "offset")

    slide: Interval
    size: Interval
    offset: Interval = ZERO

    def __post_init__(self) -> None:
        _positive("slide", self.slide)
        _positive("size", self.size)
        _bounded("slide", self.slide, self.size)

    @property
    def overlap(self) -> int:
        """Most windows that a row is in."""
        return -(-self.size.micros // self.slide.micros)

    @property
    def even(self) -> bool:
        """True if every row is in exactly `overlap` windows."""
        return self.size.micros % self.slide.micros == 0

    @property
    def repeats(self) -> bool:
        """True if two windows may begin and end at the same instants.

        A clock that skips an hour reads a time in it as an hour later, where another window may begin or end. The hour
        is a multiple of the slide then, and no clock has ever skipped more than a day, or a day twice.
        """
        return self.size > LONGEST_APART and self.slide < DAY

    def words(self) -> str:
        return f"windows of {self.size.words()} every {self.slide.words()}{_offset_words(self.offset)}"


@dataclass(frozen=True)
class Cumulate:
    """Windows that share a start and grow by a step up to the size."""

    name: ClassVar[str] = "CUMULATE"
    arguments: ClassVar[tuple[str, ...]] = ("step", "size", "offset")

    step: Interval
    size: Interval
    offset: Interval = ZERO

    def __post_init__(self) -> None:
        _positive("step", self.step)
        _positive("size", self.size)
        _bounded("step", self.step, self.size)
        if self.size.micros % self.step.micros:
            raise PartError(
                "size",
                f"the size ({self.size.words()}) must be a whole multiple of the step ({self.step.words()})",
                f"write a size such as '{(self.step * max(1, self.size // self.step)).words()}'",
            )

    @property
    def repeats(self) -> bool:
        """True if two windows that begin together may end at the same instant, where the clock skips an hour."""
        return self.step < self.size and self.step <= DAY

    def words(self) -> str:
        return f"windows that grow by {self.step.words()} up to {self.size.words()}{_offset_words(self.offset)}"


@dataclass(frozen=True)
class Session:
    """Windows of activity: rows at most a gap apart, per partition key.

    Attributes:
        gap: how long a row keeps its session open; None where a column has it for each row.
        max_duration: no session lasts longer; None for no limit.
    """

    name: ClassVar[str] = "SESSION"
    arguments: ClassVar[tuple[str, ...]] = ("gap",)
    options: ClassVar[tuple[str, ...]] = ("max_duration", "close_on")
    """Arguments that are given by name only, and that Flink doesn't have."""

    gap: Interval | None
    max_duration: Interval | None = None

    def __post_init__(self) -> None:
        for argument, value in (("gap", self.gap), ("max_duration", self.max_duration)):
            if value is not None:
                _positive(argument, value)

    @property
    def constant_gap(self) -> Interval:
        """The gap, where it is the same for all rows.

        Raises:
            ValueError: a column has it for each row.
        """
        if self.gap is None:
            raise ValueError("each row has its own gap")
        return self.gap

    def words(self) -> str:
        gap = f"a gap of {self.gap.words()}" if self.gap is not None else "each row's own gap"
        limit = f", of {self.max_duration.words()} at most" if self.max_duration is not None else ""
        return f"sessions with {gap}{limit}"


def _offset_words(offset: Interval) -> str:
    return f", offset {offset.words()}" if offset else ""


Window = Tumble | Hop | Cumulate | Session
WINDOWS: dict[str, type[Tumble] | type[Hop] | type[Cumulate] | type[Session]] = {
    w.name: w for w in (Tumble, Hop, Cumulate, Session)
}

BOUNDS = ("window_start", "window_end")
WINDOW_COLUMNS = (*BOUNDS, "window_time")
"""The columns that every row window appends, in this order (Flink: Windowing table-valued functions)."""

GROUP_WINDOWS = {"TUMBLE": Tumble, "HOP": Hop, "SESSION": Session}
"""Name of a window in GROUP BY, such as `GROUP BY TUMBLE(ts, INTERVAL '1' HOUR)` -> its type."""
AUXILIARY = {
    f"{name}_{bound}": (name, bound) for name in GROUP_WINDOWS for bound in ("START", "END", "ROWTIME", "PROCTIME")
}
"""Name of a function for a bound of such a window, `TUMBLE_START` -> its window and bound."""
UNREAD = "unread"
"""Key of the time column's meta for the span of the columns behind it in DESCRIPTOR, which Flink doesn't read."""


class WindowFunction(exp.Expression, exp.Func):
    """A window table function in FROM: `TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' HOUR)`.

    Args:
        this: the relation that the rows come from: a Table or a Subquery.
        timecol: Identifier of the time column.
        window: the window, one of `WINDOWS`; a value, not a node.
        partition_by: keys of SESSION.
        gap: Identifier of the column with each row's own gap, of a SESSION that has no other.
        close_on: the condition for a row that ends its SESSION.
    """

    arg_types = {"this": True, "timecol": True, "window": True, "partition_by": False, "gap": False, "close_on": False}

    @property
    def window(self) -> Window:
        return self.args["window"]

    @property
    def timecol(self) -> exp.Identifier:
        return self.args["timecol"]

    @property
    def partition_by(self) -> list[exp.Expr]:
        return self.args.get("partition_by") or []

    @property
    def gap(self) -> exp.Identifier | None:
        return self.args.get("gap")

    @property
    def close_on(self) -> exp.Expr | None:
        return self.args.get("close_on")

    @property
    def has_session_rules(self) -> bool:
        """True if more than a constant gap ends a session: max_duration, a gap per row, or a closing condition."""
        limited = isinstance(self.window, Session) and self.window.max_duration is not None
        return limited or self.gap is not None or self.close_on is not None


def window_functions(tree: exp.Expr) -> list[WindowFunction]:
    """The window table functions of a statement."""
    return list(find(tree, WindowFunction))
