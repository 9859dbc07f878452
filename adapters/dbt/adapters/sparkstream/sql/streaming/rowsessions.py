"""SESSION on a stream in every form but the one that Spark's streams aggregate themselves.

The rows leave the stream when the watermark has passed their time. Those of sessions that later rows may still join are
kept; the others go on together with the rest of their session, in one micro-batch. A kept row begins a session or
belongs to one, so sessions of the kept rows and the new ones are the sessions of all rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.columns import Resolver
from dbt.adapters.sparkstream.sql.core.scope import find_cte
from dbt.adapters.sparkstream.sql.core.source import Source
from dbt.adapters.sparkstream.sql.core.windows import WINDOW_COLUMNS, WindowFunction
from dbt.adapters.sparkstream.sql.passes.windows.functions import WindowFunctions
from dbt.adapters.sparkstream.sql.passes.windows.lower import lower
from dbt.adapters.sparkstream.sql.streaming.endings import SO_FAR, UNTIL
from dbt.adapters.sparkstream.sql.streaming.names import Streams, ctes_of, within
from dbt.adapters.sparkstream.sql.streaming.sessions import aggregation, is_session

_OWN_MODEL = "make the sessions a streaming model of their own, and read that"


@dataclass(frozen=True)
class RowSessions:
    """A SESSION whose rows leave the stream.

    Attributes:
        function: the SESSION.
        query: gives the rows of `SO_FAR` with the windows of their sessions.
    """

    function: WindowFunction
    query: str

    def closed(self) -> str:
        """The rows of `SO_FAR` whose session no row can join any more."""
        return f"SELECT * FROM {self.query}\nWHERE {self._is_closed}"

    def kept(self) -> str:
        """The rows of `SO_FAR` that the sessions of later rows need."""
        return f"SELECT * EXCEPT ({', '.join(WINDOW_COLUMNS)}) FROM {self.query}\nWHERE NOT {self._is_closed}"

    @property
    def _is_closed(self) -> str:
        # At its very end, a session may still be joined by a row of a part of a millisecond later.
        return f"(CAST(window_end AS TIMESTAMP_NTZ) < (SELECT until FROM {UNTIL}))"


def row_sessions(tree: exp.Expr, source: Source, streams: Streams, resolver: Resolver) -> RowSessions | None:
    """The SESSION of a query whose rows have to leave the stream; None where it has none.

    Raises:
        TranslationError: there are several, or what is around it needs rows of several micro-batches.
    """
    found = [f for f in tree.find_all(WindowFunction) if is_session(f) and streams.feeds(f) and aggregation(f) is None]
    if not found:
        return None
    if len(found) > 1:
        raise source.error(
            source.span(found[1]), "a streaming model can't have several SESSIONs with all of their rows", _OWN_MODEL
        )
    [function] = found
    _check_input(function, source)
    check_around(tree, function, source, streams)
    call = replace(WindowFunctions(source, resolver).call(function), relation=SO_FAR)
    return RowSessions(function, lower(call))


def _check_input(function: WindowFunction, source: Source) -> None:
    for node in (function.this, *ctes_of(function.this)):
        window = node.find(exp.Window)
        if window is not None:
            raise source.error(
                source.span(window),
                "OVER below a SESSION doesn't stream",
                "make what is below the SESSION a streaming model of its own, and read that",
            )


def check_around(tree: exp.Expr, function: WindowFunction, source: Source, streams: Streams) -> None:
    """Refuses what would need rows beside those of the closed sessions of a micro-batch."""
    below = (function.this, *ctes_of(function.this))
    readers = []
    _check_beside(function.parent if isinstance(function.parent, exp.Table) else function, source)
    for table in tree.find_all(exp.Table):
        if any(within(table, node) for node in below) or table.this is function or not streams.feeds(table):
            continue
        if isinstance(table.this, WindowFunction):
            raise source.error(
                source.span(table.this), "windows over the rows of a SESSION don't stream in the same model", _OWN_MODEL
            )
        cte = find_cte(table)
        if cte is None or not _leads(cte.this, function):
            raise source.error(
                source.span(table), "a SESSION and another stream in the same model don't stream", _OWN_MODEL
            )
        readers.append((cte, table))
        _check_beside(table, source)
    for cte, table in readers:
        if sum(other is cte for other, _ in readers) > 1:
            raise source.error(source.span(table), "the rows of a SESSION are read twice here", _OWN_MODEL)


def _check_beside(read: exp.Expr, source: Source) -> None:
    """Refuses rows of a table that would be rows of every micro-batch, as no row of the stream has to match them."""
    select = read.find_ancestor(exp.Select)
    joins = (select.args.get("joins") or []) if select is not None else []
    at = next((i for i, join in enumerate(joins) if join.this is read), -1)
    keeping = [join for join in joins[at + 1 :] if join.side in ("RIGHT", "FULL")]
    if at >= 0 and (joins[at].side in ("LEFT", "FULL") or joins[at].kind in ("SEMI", "ANTI")):
        keeping.append(joins[at])
    if keeping:
        raise source.error(
            source.span(keeping[0].this),
            "this join keeps rows of a table, which would come again with every micro-batch",
            "write the SESSION first, and JOIN or LEFT JOIN behind it",
        )
    operation = read.find_ancestor(exp.SetOperation)
    if operation is not None:
        raise source.error(
            source.span(operation),
            "a SESSION with all of its rows and other rows beside it don't stream in the same model",
            _OWN_MODEL,
        )


def _leads(node: exp.Expr, function: WindowFunction) -> bool:
    """Whether a node reads a window function, itself or through CTEs."""
    return any(within(function, read) for read in (node, *ctes_of(node)))
