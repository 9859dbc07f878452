"""Windows of the streams of a join: `a OVER (RANGE INTERVAL '1' HOUR PRECEDING) JOIN b ON ...` in SQLstream.

A row of `a` meets the rows of `b` that are in b's window when it comes, and the other way round. On tables, two rows
meet if the window of the earlier row's stream reaches back from the later row's time to it, which becomes a part of ON:

    b.ROWTIME BETWEEN a.ROWTIME - <window of b> AND a.ROWTIME + <window of a>

A stream without a window has the row of the moment alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.frames import Frame, Kind
from dbt.adapters.sparkstream.sql.core.names.scope import from_item, name_of, relations
from dbt.adapters.sparkstream.sql.core.nodes import find
from dbt.adapters.sparkstream.sql.core.source import Edit, Source
from dbt.adapters.sparkstream.sql.dialects.sqlstream import STREAM_WINDOW, StreamWindow
from dbt.adapters.sparkstream.sql.grammar.specs import FramedWindow
from dbt.adapters.sparkstream.sql.passes.editor import Insertions

_HINT = "write FROM a OVER (RANGE INTERVAL '1' HOUR PRECEDING) AS a JOIN b OVER (...) AS b ON a.k = b.k"


def stream_joins(source: Source, tree: exp.Expr, inserted: Insertions) -> Iterator[Edit]:
    """The edits of the joins of streams that have windows; what they add to ON goes to `inserted`."""
    for select in find(tree, exp.Select):
        if from_item(select) is None:
            continue
        tables, joins = relations(select), select.args.get("joins") or []
        windows = [table.meta.get(STREAM_WINDOW) for table in tables]
        given = next(((t, w) for t, w in zip(tables, windows, strict=True) if w), None)
        if given is None:
            continue
        if len(tables) != 2 or not joins[0].args.get("on"):
            raise source.error(
                (source.span(given[0])[0], given[1].span[1]),
                f"{given[0].name} has a window in FROM, which is how SQLstream joins two streams by ON",
                f"{_HINT}; a third one in a query around this one",
            )
        left, right = (f"{name_of(table)}.ROWTIME" for table in tables)
        back, ahead = (_length(source, select, window) for window in reversed(windows))
        if times := _times(left, right, back, ahead):
            on = joins[0].args["on"]
            opening, closing = ("(", ")") if isinstance(on, exp.Or) else ("", "")
            inserted.wrap(source.span(on), (opening, f"{closing} AND {times}"))
        for window in windows:
            if window:
                before = source.tokens[source.tokens.at(window.span[0]) - 1]
                yield Edit.to((before.end + 1, window.span[1]), "")


def _length(source: Source, select: exp.Select, window: StreamWindow | None) -> int | None:
    """Milliseconds that a window reaches back: 0 without a window, None if it has all rows."""
    if window is None:
        return 0
    frame = _frame(source, select, window)
    if frame.end or (frame.kind is Kind.ROWS and frame.start):
        raise source.error(
            window.span, "the window of a stream in a join is a length of time up to the current row", _HINT
        )
    return frame.start


def _frame(source: Source, select: exp.Select, window: StreamWindow) -> Frame:
    if not isinstance(window.window, str):
        return window.window.frame
    for named in select.args.get("windows") or []:
        if isinstance(named, FramedWindow) and named.this.name.casefold() == window.window.casefold():
            return named.value.frame
    raise source.error(window.span, f"no window named {window.window}", f"write WINDOW {window.window} AS (...)")


def _times(left: str, right: str, back: int | None, ahead: int | None) -> str:
    """Condition on the times of rows that meet, left and right; empty if all do."""
    first = left if back == 0 else f"{left} - {_interval(back)}"
    last = left if ahead == 0 else f"{left} + {_interval(ahead)}"
    if back is None or ahead is None:
        return "" if back is ahead else f"{right} >= {first}" if ahead is None else f"{right} <= {last}"
    return f"{right} BETWEEN {first} AND {last}"


def _interval(millis: int | None) -> str:
    seconds, rest = divmod(millis or 0, 1000)
    return f"INTERVAL '{seconds}{f'.{rest:03d}' if rest else ''}' SECOND"
