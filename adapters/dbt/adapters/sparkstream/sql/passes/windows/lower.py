"""Window table functions written as Spark SQL, one query for each kind of window.

Windows follow the wall clock: a TIMESTAMP is read as the TIMESTAMP_NTZ of the session's zone, and so are the
bounds; where the column's type isn't known, `coalesce(bound, column)` gives the bound the column's type.

A clock that skips an hour never shows the times in it. A bound that is one of them becomes, as a TIMESTAMP, the time an
hour later. Where that makes two windows one, the other window has all rows between the bounds that they have become, so
the one with a skipped bound is left out: a row is in the window once (`unless_read_as_another`). As TIMESTAMP_NTZ they
are two.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from dbt.adapters.sparkstream.sql.core.interval import MILLISECOND, Interval
from dbt.adapters.sparkstream.sql.core.types import NTZ
from dbt.adapters.sparkstream.sql.core.windows import WINDOW_COLUMNS, Cumulate, Hop, Session, Tumble, Window

UTC = ("UTC", "Etc/UTC", "GMT")
"""Time zones in which a TIMESTAMP is its own wall clock, by the names that are common."""
SHOWS_UTC = f"current_timezone() IN {UTC}"
"""Whether the session's clock shows UTC: Spark has the answer before it runs anything."""
_RELATION = "\0relation\0"
_CONDITION = "\0condition\0"
"""These stand for the relation and for close_on until all lines are indented; no SQL has them."""


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
        utc: whether the session's clock shows UTC, so that a TIMESTAMP is its wall clock as it is.
        wall_bounds: whether window_start and window_end stay wall clock, of type TIMESTAMP_NTZ, as in Flink.
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
        """Whether the time is wall clock as it is."""
        return self.utc or self.time_type == NTZ

    @property
    def wall(self) -> str:
        """The time as wall clock."""
        return wall_clock(self.time, self.is_wall)

    def typed(self, bound: str, time: str | None = None) -> str:
        """A wall-clock bound in the type of the time column."""
        return bound if self.is_wall else f"coalesce({bound}, {time or self.time})"

    def columns(self, start: str, end: str, last: str, time: str | None = None) -> str:
        """The window columns as items of SELECT, from times on the wall clock.

        Args:
            last: a millisecond before the end.
            time: the time column, if it has another name there.
        """
        if self.is_wall or self.wall_bounds:
            values = start, end, self.typed(last, time)
        else:
            end = self.typed(end, time)
            values = self.typed(start, time), end, f"{end} - {MILLISECOND.sql()}"
        return ",\n".join(f"  {value} AS {name}" for value, name in zip(values, WINDOW_COLUMNS, strict=True))

    @property
    def may_repeat(self) -> bool:
        """Whether two windows may have the same bounds."""
        return (
            not self.is_wall
            and not self.wall_bounds
            and isinstance(self.window, Hop | Cumulate)
            and self.window.repeats
        )

    def shown_at(self, time: str) -> Callable[[str], str]:
        """What the clock shows at a bound in the type of a time: something else only if it never shows the bound."""
        return lambda bound: f"CAST({self.typed(bound, time)} AS TIMESTAMP_NTZ)"


def wall_clock(time: str, is_wall: bool) -> str:
    """A time as the clock on the wall shows it, which it may be already."""
    return time if is_wall else f"CAST({time} AS TIMESTAMP_NTZ)"


def unless_read_as_another(
    window: Hop | Cumulate,
    start: str,
    end: str,
    shown: Callable[[str], str],
    multiple: Callable[[str, Interval], str],
    longest: str = "",
) -> str:
    """The condition for windows whose bounds don't read as those of another one, where the clock skips an hour.

    Args:
        start: where a window begins on the wall clock; not looked at where windows begin together.
        end: where it ends.
        shown: what the clock shows at a bound that is a TIMESTAMP.
        multiple: whether the difference of two times is a multiple of a length.
        longest: where the last window ends that begins with it, of a CUMULATE.
    """
    if isinstance(window, Cumulate):
        bound, every, another = end, window.step, f"{shown(end)} <= {longest}"
    else:
        bound, every, another = start, window.slide, f"{shown(end)} - ({end}) = {shown(start)} - ({start})"
    later = f"{shown(bound)} - ({bound})" if " " in bound else f"{shown(bound)} - {bound}"
    return f"""\
{SHOWS_UTC} OR NOT (
  {shown(bound)} > {bound}
  AND {another}
  AND {multiple(f"({later})", every)}
)"""


def is_multiple(length: str, of: Interval) -> str:
    """Whether an INTERVAL is a multiple of a length."""
    return f"pmod({length} DIV INTERVAL '0.000001' SECOND, {of.micros}) = 0"


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
    given = {name: getattr(call.window, name) for name in call.window.arguments}
    arguments = [
        call.gap or "" if value is None else value.sql() for name, value in given.items() if name != "offset" or value
    ]
    if isinstance(call.window, Session) and call.window.max_duration is not None:
        arguments.append(f"max_duration => {call.window.max_duration.sql()}")
    if call.close_on is not None:
        arguments.append(f"close_on => {call.close_on}")
    notes = "".join(f" /* {_plain(note.strip())} */" for note in call.notes)
    return f"{call.window.name}({call.relation}{keys}, {call.time}, {', '.join(arguments)}{notes})"


def lower(call: WindowCall, indent: str = "") -> str:
    """The query, in parentheses, that stands for a window table function.

    Args:
        indent: white space that the lines after the first begin with.
    """
    window = call.window
    comment = f"/* {window.name.lower()}: {window.words()} on {_plain(call.time)}"
    if call.keys:
        comment += f", per {', '.join(_plain(k) for k in call.keys)}"
    if call.close_on is not None:
        comment += f", closed on {_plain(' '.join(call.close_on.split()))}"
    lines = [comment + " */", *(f"/* {_plain(note.strip())} */" for note in call.notes)]
    # The relation and the condition come in last: new lines in their strings are no place to indent.
    condition = None if call.close_on is None else _CONDITION
    lines += _LOWERINGS[type(window)](replace(call, relation=_RELATION, close_on=condition), window).split("\n")
    text = "(\n" + "\n".join(f"{indent}  {line}" for line in lines) + f"\n{indent})"
    return text.replace(_CONDITION, call.close_on or "").replace(_RELATION, call.relation)


def _plain(text: str) -> str:
    """Text that can stand in a comment."""
    return text.replace("*/", "* /").replace("/*", "/ *")


def _tumble(call: WindowCall, window: Tumble) -> str:
    start, end = "__window.start", "__window.end"
    return f"""\
SELECT
  * EXCEPT (__window),
{call.columns(start, end, f"{end} - {MILLISECOND.sql()}")}
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
    start, end = "__hop.start", f"__hop.start + {size}"
    time = f"__rows.{call.time}"
    query = f"""\
SELECT
  __rows.* EXCEPT (__slide),
{call.columns(start, end, f"{start} + {(window.size + MILLISECOND * -1).sql()}", time)}
FROM (
  SELECT *, {time_window(call.wall, window.slide, window.offset)} AS __slide
  FROM {call.relation}
) AS __rows
LATERAL VIEW explode(sequence({first}, {last}, {slide})) __hop AS start"""
    conditions = [] if window.even else [f"{wall_clock(time, call.is_wall)} < {end}"]
    if call.may_repeat:
        conditions.append(f"({unless_read_as_another(window, start, end, call.shown_at(time), is_multiple)})")
    return query + (f"\nWHERE {' AND '.join(conditions)}" if conditions else "")


def _cumulate(call: WindowCall, window: Cumulate) -> str:
    if window.step == window.size:
        return _tumble(call, Tumble(window.size, window.offset % window.size))
    step = window.step.sql()
    time = f"__rows.{call.time}"
    wall = wall_clock(time, call.is_wall)
    block = "__rows.__block"
    first = f"{block}.start + {step} * (({wall} - {block}.start) DIV {step} + 1)"
    end = "__step.end"
    query = f"""\
SELECT
  __rows.* EXCEPT (__block),
{call.columns(f"{block}.start", end, f"{end} - {MILLISECOND.sql()}", time)}
FROM (
  SELECT *, {time_window(call.wall, window.size, window.offset)} AS __block
  FROM {call.relation}
) AS __rows
LATERAL VIEW explode(sequence({first}, {block}.end, {step})) __step AS end"""
    if call.may_repeat:
        query += f"\nWHERE {unless_read_as_another(window, '', end, call.shown_at(time), is_multiple, f'{block}.end')}"
    return query


def _session(call: WindowCall, window: Session) -> str:
    if call.gap is not None or call.close_on is not None or window.max_duration is not None:
        return _ruled_session(call, window)
    assert window.gap is not None
    gap = window.gap.sql()
    keys = ", ".join(call.keys)
    per_key = f"PARTITION BY {keys} " if keys else ""
    end = f"max(__time) OVER __same + {gap}"
    # The running count takes the default RANGE frame, so rows of the same time get the same session.
    return f"""\
SELECT
  * EXCEPT (__time, __opens, __session),
{call.columns("min(__time) OVER __same", end, f"max(__time) OVER __same + {(window.gap + MILLISECOND * -1).sql()}")}
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


def _ruled_session(call: WindowCall, window: Session) -> str:
    """A SESSION that something else than a constant gap ends; a query around a query for each of its rules."""
    added = ["__time", "__until", "__opens", "__session", "__first", "__end"]
    keys = call.keys
    rows = f"SELECT *, {time_window(call.wall, MILLISECOND, Interval(0))}.start AS __time"
    if call.close_on is not None:
        rows += f", coalesce({call.close_on}, FALSE) AS __closes"
        added.append("__closes")
    rows += f"\nFROM {call.relation}"
    rows = _around(f"SELECT *, {_until(call, window)} AS __until", rows)
    if call.gap is not None:
        rows = _around("SELECT *", rows, "WHERE __until > __time")
    if call.close_on is not None:
        # Rows of the same time as one that closes are in its session: no order tells them apart.
        so_far, here = _per(keys, "ORDER BY __time"), _per((*keys, "__time"))
        before = f"count_if(__closes) OVER {so_far} - count_if(__closes) OVER {here}"
        rows = _around(f"SELECT *, {before} AS __stretch", rows)
        keys = (*keys, "__stretch")
        added.append("__stretch")
    earlier = _per(keys, "ORDER BY __time ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING")
    rows = _around(f"SELECT *, coalesce(__time > max(__until) OVER {earlier}, TRUE) AS __opens", rows)
    # The running count takes the default RANGE frame, so rows of the same time get the same session.
    rows = _around(f"SELECT *, count_if(__opens) OVER {_per(keys, 'ORDER BY __time')} AS __session", rows)
    keys = (*keys, "__session")
    end = "max(__until) OVER __same"
    if window.max_duration is not None:
        rows = _in_parts(rows, keys, window.max_duration)
        keys = (*keys, "__part")
        added.append("__part")
        end = f"least({end}, min(__time) OVER __same + {window.max_duration.sql()})"
    if call.close_on is not None:
        end = f"IF(max(__closes) OVER __same, max(__time) OVER __same + {MILLISECOND.sql()}, {end})"
    bounds = f"SELECT *, min(__time) OVER __same AS __first, {end} AS __end"
    columns = f"""\
SELECT
  * EXCEPT ({", ".join(added)}),
{call.columns("__first", "__end", f"__end - {MILLISECOND.sql()}")}"""
    return _around(columns, _around(bounds, rows, f"WINDOW __same AS {_per(keys)}"))


def _until(call: WindowCall, window: Session) -> str:
    """The time up to which a row keeps its session open; NULL for a row without a gap."""
    if window.gap is not None:
        return f"__time + {window.gap.sql()}"
    # No cast of Spark's takes intervals and numbers as well as texts such as '5 minutes'.
    casts = (f"try_cast({call.gap} AS INTERVAL SECOND)", f"try_cast(CAST({call.gap} AS STRING) AS INTERVAL)")
    return f"coalesce({', '.join(f'__time + {cast}' for cast in casts)})"


def _in_parts(rows: str, keys: tuple[str, ...], longest: Interval) -> str:
    """Rows with `__part`, the first time of their part of a session, where that would last too long.

    Where a part begins depends on where the one before it does, so the rows of each session are gone through in order.
    The sessions from below are those without a limit: a row beyond it may open one more, as what keeps a session open
    ends with it.
    """
    listed = ", ".join(keys)
    opens = f"row.__time > seen.until OR row.__time >= element_at(seen.parts, -1) + {longest.sql()}"
    opened = "named_struct('parts', concat(seen.parts, array(row.__time)), 'until', row.__until)"
    goes_on = "named_struct('parts', seen.parts, 'until', greatest(seen.until, row.__until))"
    matches = " AND ".join(f"__rows.{key} <=> __parts.{key}" for key in keys)
    same = _per(tuple(f"__rows.{key}" for key in keys), "ORDER BY __rows.__time")
    return f"""\
WITH __rows AS (
{_indented(rows)}
), __parts AS (
  SELECT {listed}, explode(aggregate(
    sort_array(collect_list(struct(__time, __until))),
    named_struct('parts', array(min(__time)), 'until', min(__time)),
    (seen, row) -> IF({opens}, {opened}, {goes_on}),
    seen -> seen.parts
  )) AS __begins
  FROM __rows
  GROUP BY {listed}
)
SELECT __rows.*, max(__parts.__begins) OVER {same} AS __part
FROM __rows
LEFT JOIN __parts ON {matches} AND __rows.__time = __parts.__begins"""


def _per(keys: tuple[str, ...], order: str = "") -> str:
    """A window of each of some keys, for OVER."""
    per = [f"PARTITION BY {', '.join(keys)}"] if keys else []
    return f"({' '.join([*per, *filter(None, [order])])})"


def _around(select: str, rows: str, behind: str = "") -> str:
    """A query over the rows of another one."""
    return f"{select}\nFROM {nested(rows)}" + (f"\n{behind}" if behind else "")


def nested(query: str) -> str:
    """A query in FROM."""
    return f"(\n{_indented(query)}\n)"


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.split("\n"))


_LOWERINGS: dict[type, Callable[..., str]] = {
    Tumble: _tumble,
    Hop: _hop,
    Cumulate: _cumulate,
    Session: _session,
}
