"""SESSION on a stream: Spark's `session_window()` in GROUP BY, or in every other form by rows that leave the stream.

These rows leave when the watermark has passed their time. Rows of a session that later rows may still join are kept; a
session that is over goes on as a whole, in one micro-batch. Kept rows are whole sessions so far, so the sessions of the
kept rows and the new rows are the sessions of all rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.interval import MILLISECOND
from dbt.adapters.sparkstream.sql.core.names.columns import Resolver
from dbt.adapters.sparkstream.sql.core.names.scope import from_item
from dbt.adapters.sparkstream.sql.core.nodes import enclosing, own
from dbt.adapters.sparkstream.sql.core.source import Edit, Source
from dbt.adapters.sparkstream.sql.core.windows import WINDOW_COLUMNS, Session, WindowFunction
from dbt.adapters.sparkstream.sql.passes.windows.functions import WindowFunctions
from dbt.adapters.sparkstream.sql.passes.windows.lower import lower
from dbt.adapters.sparkstream.sql.streaming.above import Part, check_around
from dbt.adapters.sparkstream.sql.streaming.distinct import has_distinct
from dbt.adapters.sparkstream.sql.streaming.endings import SO_FAR, UNTIL, OnSessions
from dbt.adapters.sparkstream.sql.streaming.names import Streams, ctes_of

ALL = "__all_rows"
"""The key of sessions without keys, which Spark wants to have one."""

_BOUNDS = {
    "window_start": "session_window.start",
    "window_end": "session_window.end",
    "window_time": f"session_window.end - {MILLISECOND.sql()}",
}


def aggregation(function: WindowFunction) -> exp.Select | None:
    """The query that aggregates a SESSION as Spark's streams can; None where there is none.

    It groups the rows of the SESSION, which a constant gap ends, by its windows and its keys, and aggregates no
    DISTINCT values. Its WHERE leaves out whole sessions at most: Spark filters rows before it makes sessions of them.
    """
    select = enclosing(function, exp.Select)
    group = select.args.get("group") if select else None
    if select is None or group is None or _relation(select) is not function or function.has_session_rules:
        return None
    if has_distinct(select) or any(group.args.get(kind) for kind in ("grouping_sets", "cube", "rollup", "all")):
        return None
    names = {key.name.casefold() for key in group.expressions if isinstance(key, exp.Column)}
    keys = {key.name.casefold() for key in function.partition_by}
    where = select.args.get("where")
    if where is not None and not {column.name.casefold() for column in where.find_all(exp.Column)} <= keys:
        return None
    others = names - set(WINDOW_COLUMNS)
    plain = {"window_start", "window_end"} <= names and others == keys and len(names) == len(group.expressions)
    return select if plain else None


def leaves_stream(function: WindowFunction) -> bool:
    """True if a window function is a SESSION whose rows have to leave the stream."""
    return isinstance(function.window, Session) and aggregation(function) is None


def session_edits(source: Source, function: WindowFunction, select: exp.Select) -> Iterator[Edit]:
    """Edits that make a `session_window()` of a SESSION and the query that aggregates it."""
    group = select.args["group"]
    assert isinstance(function.window, Session)
    call = f"session_window({source.written(function.timecol)}, '{function.window.constant_gap.words()}')"
    relation = source.span(function.this)
    if function.partition_by:
        yield Edit(source.span(function), lambda: source.render(relation), level=1)
    else:
        yield Edit(source.span(function), lambda: f"(SELECT *, 1 AS {ALL} FROM {source.render(relation)})", level=1)
    keys = [source.span(k) for k in group.expressions if k.name.casefold() not in WINDOW_COLUMNS]
    # The span of GROUP BY itself begins with its words in dialect flink.
    yield Edit(
        (source.span(group.expressions[0])[0], source.span(group.expressions[-1])[1]),
        lambda: ", ".join([call, *map(source.render, keys), *([] if keys else [ALL])]),
        level=1,
    )
    for column in own(select, exp.Column):
        bound = _BOUNDS.get(column.name.casefold())
        if bound and enclosing(column, exp.Group) is not group:
            alias = f" AS {column.name}" if column.parent is select else ""
            yield Edit.to(source.span(column), bound + alias)


def named(select: exp.Select, bound: str) -> tuple[str, ...]:
    """The output columns that hold a bound of the session."""
    columns = ((p.unalias(), str(p.alias_or_name)) for p in select.expressions)
    return tuple(name for c, name in columns if isinstance(c, exp.Column) and c.name.casefold() == bound)


def _relation(select: exp.Select) -> exp.Expr | None:
    relation = from_item(select)
    if select.args.get("joins") or select.args.get("laterals"):
        return None
    return relation.this if isinstance(relation, exp.Table) else relation


SESSIONS = Part("a SESSION", "make the sessions a streaming model of their own, and read that")


@dataclass(frozen=True)
class RowSessions:
    """A SESSION whose rows leave the stream.

    Attributes:
        function: the SESSION.
        query: gives the rows of `SO_FAR` with the windows of their sessions.
    """

    function: WindowFunction
    query: str

    @property
    def time(self) -> exp.Expr:
        """The column by whose order rows leave the stream."""
        return self.function.timecol

    def ending(self, query: str) -> OnSessions:
        """Ending that brings the rows into the table; `query` is the `query` of `OnSessions`."""
        # At its very end, a session may still be joined by a row of a part of a millisecond later.
        is_closed = f"(CAST(window_end AS TIMESTAMP_NTZ) < (SELECT until FROM {UNTIL}))"
        kept = f"SELECT * EXCEPT ({', '.join(WINDOW_COLUMNS)}) FROM {self.query}\nWHERE NOT {is_closed}"
        return OnSessions(query, kept, f"SELECT * FROM {self.query}\nWHERE {is_closed}")


def row_sessions(tree: exp.Expr, source: Source, streams: Streams, resolver: Resolver) -> RowSessions | None:
    """The SESSION of a query whose rows have to leave the stream; None where it has none.

    Raises:
        TranslationError: there are several, or what is around it needs rows of several micro-batches.
    """
    found = [f for f in tree.find_all(WindowFunction) if streams.feeds(f) and leaves_stream(f)]
    if not found:
        return None
    if len(found) > 1:
        raise source.error(
            found[1], "a streaming model can't have several SESSIONs with all of their rows", SESSIONS.hint
        )
    [function] = found
    _check_input(function, source)
    check_around(tree, function, (function.this, *ctes_of(function.this)), source, streams, SESSIONS)
    call = replace(WindowFunctions(source, resolver).call(function), relation=SO_FAR)
    return RowSessions(function, lower(call))


def _check_input(function: WindowFunction, source: Source) -> None:
    for node in (function.this, *ctes_of(function.this)):
        window = node.find(exp.Window)
        if window is not None:
            raise source.error(
                window,
                "OVER below a SESSION doesn't stream",
                "make what is below the SESSION a streaming model of its own, and read that",
            )
