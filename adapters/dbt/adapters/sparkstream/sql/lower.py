"""Window table functions written as Spark SQL, one query for each kind of window.

Windows follow the wall clock: a TIMESTAMP is read as the TIMESTAMP_NTZ of the session's zone, and so are the
bounds; where the column's type isn't known, `coalesce(bound, column)` gives the bound the column's type.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from dbt.adapters.sparkstream.sql.interval import MILLISECOND, Interval
from dbt.adapters.sparkstream.sql.windows import Cumulate, Hop, Session, Tumble, Window

NTZ = "timestamp_ntz"
_RELATION = "\0relation\0"
"""Stands for the relation until all lines are indented; no SQL has it."""


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
        utc: whether the session's clock shows UTC, so that a TIMESTAMP is its wall clock as it is.
    """

    window: Window
    relation: str
    time: str
    time_type: str | None = None
    keys: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    utc: bool = False

    @property
    def is_wall(self) -> bool:
        """Whether the time is wall clock as it is."""
        return self.utc or self.time_type == NTZ

    @property
    def wall(self) -> str:
        """The time as wall clock."""
        return self.time if self.is_wall else f"CAST({self.time} AS TIMESTAMP_NTZ)"

    def typed(self, bound: str, time: str | None = None) -> str:
        """A wall-clock bound in the type of the time column."""
        return bound if self.is_wall else f"coalesce({bound}, {time or self.time})"


def time_window(time: str, size: Interval, offset: Interval, slide: Interval | None = None) -> str:
    """Spark's own `window()` for windows that it knows; its offset must be less than the slide."""
    slide = slide or size
    arguments = [time, f"'{size.words()}'"]
    start = offset % slide
    if start or slide != size:
        arguments.append(f"'{slide.words()}'")
    if start:
        arguments.append(f"'{start.words()}'")
    return f"window({', '.join(arguments)})"


def spelled(call: WindowCall) -> str:
    """The window function itself, as Spark SQL with our windows has it."""
    keys = f" PARTITION BY ({', '.join(call.keys)})" if call.keys else ""
    given = [getattr(call.window, name) for name in call.window.arguments]
    intervals = [
        value.sql() for name, value in zip(call.window.arguments, given, strict=True) if name != "offset" or value
    ]
    notes = "".join(f" /* {_plain(note.strip())} */" for note in call.notes)
    return f"{call.window.name}({call.relation}{keys}, {call.time}, {', '.join(intervals)}{notes})"


def lower(call: WindowCall, indent: str = "") -> str:
    """The query, in parentheses, that stands for a window table function.

    Args:
        indent: white space that the lines after the first begin with.
    """
    window = call.window
    comment = f"/* {window.name.lower()}: {window.words()} on {_plain(call.time)}"
    if call.keys:
        comment += f", per {', '.join(_plain(k) for k in call.keys)}"
    lines = [comment + " */", *(f"/* {_plain(note.strip())} */" for note in call.notes)]
    # The relation comes in last: new lines in its strings are no place to indent.
    lines += _LOWERINGS[type(window)](replace(call, relation=_RELATION), window).split("\n")
    return ("(\n" + "\n".join(f"{indent}  {line}" for line in lines) + f"\n{indent})").replace(_RELATION, call.relation)


def _plain(text: str) -> str:
    """Text that can stand in a comment."""
    return text.replace("*/", "* /").replace("/*", "/ *")


def _tumble(call: WindowCall, window: Tumble) -> str:
    end = "__window.end"
    return f"""\
SELECT
  * EXCEPT (__window),
  {call.typed("__window.start")} AS window_start,
  {call.typed(end)} AS window_end,
  {call.typed(f"{end} - {MILLISECOND.sql()}")} AS window_time
FROM (
  SELECT *, {time_window(call.wall, window.size, window.offset)} AS __window
  FROM {call.relation}
)"""


def _hop(call: WindowCall, window: Hop) -> str:
    if window.slide == window.size:
        return _tumble(call, Tumble(window.size, window.offset % window.size))
    slide, size = window.slide.sql(), window.size.sql()
    last = "__rows.__slide.start"
    first = f"{last} - {(window.slide * (window.overlap - 1)).sql()}" if window.overlap > 1 else last
    end = f"__hop.start + {size}"
    time = f"__rows.{call.time}"
    query = f"""\
SELECT
  __rows.* EXCEPT (__slide),
  {call.typed("__hop.start", time)} AS window_start,
  {call.typed(end, time)} AS window_end,
  {call.typed(f"__hop.start + {(window.size + MILLISECOND * -1).sql()}", time)} AS window_time
FROM (
  SELECT *, {time_window(call.wall, window.slide, window.offset)} AS __slide
  FROM {call.relation}
) AS __rows
LATERAL VIEW explode(sequence({first}, {last}, {slide})) __hop AS start"""
    if not window.even:
        wall = time if call.is_wall else f"CAST({time} AS TIMESTAMP_NTZ)"
        query += f"\nWHERE {wall} < {end}"
    return query


def _cumulate(call: WindowCall, window: Cumulate) -> str:
    if window.step == window.size:
        return _tumble(call, Tumble(window.size, window.offset % window.size))
    step = window.step.sql()
    time = f"__rows.{call.time}"
    wall = time if call.is_wall else f"CAST({time} AS TIMESTAMP_NTZ)"
    block = "__rows.__block"
    first = f"{block}.start + {step} * (({wall} - {block}.start) DIV {step} + 1)"
    return f"""\
SELECT
  __rows.* EXCEPT (__block),
  {call.typed(f"{block}.start", time)} AS window_start,
  {call.typed("__step.end", time)} AS window_end,
  {call.typed(f"__step.end - {MILLISECOND.sql()}", time)} AS window_time
FROM (
  SELECT *, {time_window(call.wall, window.size, window.offset)} AS __block
  FROM {call.relation}
) AS __rows
LATERAL VIEW explode(sequence({first}, {block}.end, {step})) __step AS end"""


def _session(call: WindowCall, window: Session) -> str:
    gap = window.gap.sql()
    keys = ", ".join(call.keys)
    per_key = f"PARTITION BY {keys} " if keys else ""
    end = f"max(__time) OVER __same + {gap}"
    # The running count takes the default RANGE frame, so rows of the same time get the same session.
    return f"""\
SELECT
  * EXCEPT (__time, __opens, __session),
  {call.typed("min(__time) OVER __same")} AS window_start,
  {call.typed(end)} AS window_end,
  {call.typed(f"max(__time) OVER __same + {(window.gap + MILLISECOND * -1).sql()}")} AS window_time
FROM (
  SELECT *, count_if(__opens) OVER ({per_key}ORDER BY __time) AS __session
  FROM (
    SELECT *, coalesce(__time - lag(__time) OVER ({per_key}ORDER BY __time) > {gap}, TRUE) AS __opens
    FROM (
      SELECT *, {time_window(call.wall, MILLISECOND, Interval(0))}.start AS __time
      FROM {call.relation}
    )
  )
)
WINDOW __same AS (PARTITION BY {f"{keys}, " if keys else ""}__session)"""


_LOWERINGS: dict[type, Callable[..., str]] = {
    Tumble: _tumble,
    Hop: _hop,
    Cumulate: _cumulate,
    Session: _session,
}
