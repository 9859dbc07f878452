"""SESSION on a stream, in every form but `session_window`, which Spark's streams aggregate themselves.

The rows leave the stream when the watermark has passed their time. Rows of a session that later rows may still join
are kept; a session that is over goes on as a whole, in one micro-batch. Kept rows are whole sessions so far, so the
sessions of the kept rows and the new rows are the sessions of all rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.names.columns import Resolver
from dbt.adapters.sparkstream.sql.core.source import Source
from dbt.adapters.sparkstream.sql.core.windows import WINDOW_COLUMNS, WindowFunction
from dbt.adapters.sparkstream.sql.passes.windows.functions import WindowFunctions
from dbt.adapters.sparkstream.sql.passes.windows.lower import lower
from dbt.adapters.sparkstream.sql.streaming.above import Part, check_around
from dbt.adapters.sparkstream.sql.streaming.endings import SO_FAR, UNTIL, OnSessions
from dbt.adapters.sparkstream.sql.streaming.names import Streams, ctes_of
from dbt.adapters.sparkstream.sql.streaming.sessions import aggregation, is_session

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
        """How the rows get into the table; `query` as `OnSessions` has it."""
        return OnSessions(query, self.kept(), self.closed())

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
            source.span(found[1]), "a streaming model can't have several SESSIONs with all of their rows", SESSIONS.hint
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
                source.span(window),
                "OVER below a SESSION doesn't stream",
                "make what is below the SESSION a streaming model of its own, and read that",
            )
