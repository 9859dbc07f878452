"""Window table functions written as Spark SQL.

Windows follow the wall clock: a TIMESTAMP is read as the TIMESTAMP_NTZ of the session's zone, and so are the bounds.
Where the column's type isn't known, `coalesce(bound, column)` gives the bound the column's type.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from dbt.adapters.sparkstream.sql.core.interval import Interval
from dbt.adapters.sparkstream.sql.core.types import NTZ
from dbt.adapters.sparkstream.sql.core.windows import Session, Window
from dbt.adapters.sparkstream.sql.passes.windows.queries import render

UTC = ("UTC", "Etc/UTC", "GMT")
"""Time zones in which a TIMESTAMP is its own wall clock, by the names that are common."""
SHOWS_UTC = f"current_timezone() IN {UTC}"
"""Condition that the session's clock shows UTC: Spark has the answer before it runs anything."""


@dataclass(frozen=True)
class WindowCall:
    """A window table function with its parts as Spark SQL text.

    Attributes:
        window: the window.
        relation: what stands in FROM, such as `db.bid` or `(SELECT ...)`.
        time: the time column, quoted where needed.
        time_type: its Spark type, or None when nobody knows.
        keys: the columns of PARTITION BY.
        notes: comments that stood within the call.
        gap: the column with each row's own gap, of a SESSION.
        close_on: the condition for a row that ends its SESSION.
        utc: True if the session's clock shows UTC, so that a TIMESTAMP is its wall clock as it is.
        wall_bounds: True if window_start and window_end stay wall clock, of type TIMESTAMP_NTZ, as in Flink.
    """

    window: Window
    relation: str
    time: str
    time_type: str | None = None
    keys: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    gap: str | None = None
    close_on: str | None = None
    utc: bool = False
    wall_bounds: bool = False

    @property
    def is_wall(self) -> bool:
        """True if the time is wall clock as it is."""
        return self.utc or self.time_type == NTZ


def wall_clock(time: str, is_wall: bool) -> str:
    """Wall-clock time of a time.

    Args:
        is_wall: True if it is wall clock as it is.
    """
    return time if is_wall else f"CAST({time} AS TIMESTAMP_NTZ)"


def time_window(wall: str, size: Interval, offset: Interval, slide: Interval | None = None) -> str:
    """Spark's own `window()` over a time on the wall clock."""
    return _time_window(size.micros, offset.micros, slide.micros if slide else None).format(wall)


@lru_cache
def _time_window(size: int, offset: int, slide: int | None) -> str:
    return render("spark_window", "{}", size, offset, slide)


def spelled(call: WindowCall) -> str:
    """The call of the window function, as Spark SQL with our windows has it."""
    keys = f" PARTITION BY ({', '.join(call.keys)})" if call.keys else ""
    given = {name: getattr(call.window, name) for name in call.window.arguments}
    arguments = [
        call.gap or "" if value is None else value.sql() for name, value in given.items() if name != "offset" or value
    ]
    if isinstance(call.window, Session) and call.window.max_duration is not None:
        arguments.append(f"max_duration => {call.window.max_duration.sql()}")
    if call.close_on is not None:
        arguments.append(f"close_on => {call.close_on}")
    notes = "".join(f" {note}" for note in _comments(call.notes))
    return f"{call.window.name}({call.relation}{keys}, {call.time}, {', '.join(arguments)}{notes})"


def lower(call: WindowCall, indent: str = "") -> str:
    """The query, in parentheses, that stands for a window table function.

    Args:
        indent: white space that the lines after the first begin with.
    """
    window, keys = call.window, {f"key_{i}": key for i, key in enumerate(call.keys)}
    words = f"{window.name.lower()}: {window.words()}"
    comment = render("window_comment", words, call.time, keys=call.keys, condition=call.close_on)
    texts = {
        "comment": f"\n{indent}  ".join([comment, *_comments(call.notes)]),
        "relation": call.relation,
        "time": call.time,
        "gap": call.gap,
        "condition": call.close_on,
        **keys,
    }
    lines = _query(window, tuple(keys), call.gap is not None, call.close_on is not None, call.is_wall, call.wall_bounds)
    # Line by line: new lines in the user's texts, which may stand in a string, are no place to indent.
    return f"\n{indent}".join(line.format_map(texts) for line in lines)


@lru_cache(maxsize=1_000)
def _query(
    window: Window, keys: tuple[str, ...], own_gap: bool, has_condition: bool, is_wall: bool, wall_bounds: bool
) -> tuple[str, ...]:
    """The lines of a window's query, with `{relation}`, `{time}` and the like where a call's texts go."""
    given = (getattr(window, name) for name in window.arguments)
    lengths = [None if length is None else length.micros for length in given]
    rules: dict[str, object] = {}
    if isinstance(window, Session):
        rules = {
            "own_gap": "{gap}" if own_gap else None,
            "longest": window.max_duration.micros if window.max_duration else None,
            "condition": "{condition}" if has_condition else None,
            "keys": [f"{{{key}}}" for key in keys],
        }
    query = render(
        f"{window.name.lower()}_query",
        *("{comment}", "{relation}", "{time}"),
        *lengths,
        **rules,
        is_wall=is_wall,
        wall_bounds=wall_bounds,
    )
    return tuple(query.split("\n"))


def _comments(notes: tuple[str, ...]) -> list[str]:
    """The comments that stood within a call, each in `/* */`."""
    return [f"/* {note.strip().replace('*/', '* /').replace('/*', '/ *')} */" for note in notes]
