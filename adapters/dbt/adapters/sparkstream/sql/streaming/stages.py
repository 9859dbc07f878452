"""Window functions on a stream, each as a view whose `window_end` carries the watermark."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.names.columns import Resolver
from dbt.adapters.sparkstream.sql.core.source import Edit, Source
from dbt.adapters.sparkstream.sql.core.windows import Session, WindowFunction
from dbt.adapters.sparkstream.sql.passes.windows.functions import WindowFunctions
from dbt.adapters.sparkstream.sql.streaming.names import Streams, ctes_of, with_clause
from dbt.adapters.sparkstream.sql.streaming.sessions import aggregation, named, session_edits


@dataclass(frozen=True)
class Stage:
    """A view that a plan needs.

    Attributes:
        view: its name.
        sql: its query.
        time: the column of its rows that has to carry a watermark; None where Spark checks that itself.
        end: the column that carries the watermark from here on: the end of the row's window.
        closes: the columns that hold the window's `window_time`: what windows by one of them is closed by `end`.
    """

    view: str
    sql: str
    time: str | None
    end: str | None
    closes: tuple[str, ...]


@dataclass(frozen=True)
class Arrivals:
    """The rows of streams that come to a window function, or to OVER: these rows can be late.

    Attributes:
        rows: a query that gives them.
        windows: a query that gives them with `window_start` and `window_end`, once for each of their windows.
        time: the column with their time, as it is written.
        streams: the streams that they come from.
    """

    rows: str
    windows: str
    time: str
    streams: tuple[str, ...]


class StagedWindows(WindowFunctions):
    """Edits the window functions of a statement whose rows come from a stream.

    Args:
        unstaged: the window function whose rows leave the stream, if any.
        utc: True if the session's clock shows UTC.

    Attributes:
        stages: what the edits made so far need, in the order of the text.
        late: the rows that come to the first window functions.
        by_instant: True if there is a SESSION that Spark aggregates: its gap is between instants.
    """

    def __init__(
        self, source: Source, resolver: Resolver, streams: Streams, unstaged: WindowFunction | None, *, utc: bool
    ) -> None:
        super().__init__(source, resolver)
        self._streams = streams
        self._unstaged = unstaged
        self._utc = utc
        self.stages: list[Stage] = []
        self.late: list[Arrivals] = []
        self.by_instant = False

    def edits(self, tree: exp.Expr) -> Iterator[Edit]:
        for function in tree.find_all(WindowFunction):
            self._check(function)
            span = self.source.span(function)
            if function is self._unstaged:
                continue
            if not self._streams.feeds(function):
                yield Edit(span, lambda function=function: self._lower(function))  # type: ignore[misc]
            elif isinstance(function.window, Session):
                aggregate = aggregation(function)
                assert aggregate is not None
                self.by_instant = True
                yield from self._session(function, aggregate)
            else:
                yield Edit(span, lambda function=function: self._window(function))  # type: ignore[misc]

    def _window(self, function: WindowFunction) -> str:
        query = self._lower(function, indent="", utc=self._utc)[1:-1].strip("\n")
        lines = [line[2:] if line.startswith("  ") else line for line in query.split("\n")]
        sql = with_clause(self.source, function.this) + "\n".join(lines)
        if not self._follows(function):
            self._arrive(function, self.text(function.this), sql)
        return self._add(function, sql, str(function.timecol.name), "window_end", ("window_time",))

    def _session(self, function: WindowFunction, aggregate: exp.Select) -> Iterator[Edit]:
        for edit in session_edits(self.source, function, aggregate):
            if edit.span == self.source.span(function):
                edit = replace(edit, text=lambda text=edit.text: self._recorded(function, text()))  # type: ignore[misc]
            yield edit
        if aggregate.parent is not None:
            end, closes = next(iter(named(aggregate, "window_end")), None), named(aggregate, "window_time")

            def text() -> str:
                sql = with_clause(self.source, aggregate) + self.text(aggregate)
                return f"SELECT * FROM {self._add(function, sql, None, end, closes)}"

            yield self.edit(aggregate, text, level=1)

    def _recorded(self, function: WindowFunction, relation: str) -> str:
        """The rows of a SESSION, added to `late`: each is late by a session of its own, before sessions are merged."""
        if not self._follows(function):
            time, window = self.source.written(function.timecol), function.window
            assert isinstance(window, Session)
            bounds = f"{time} AS window_start, {time} + {window.constant_gap.sql()} AS window_end"
            ctes = with_clause(self.source, function.this)
            self._arrive(function, relation, f"{ctes}SELECT *, {bounds} FROM {relation}")
        return relation

    def _arrive(self, function: WindowFunction, relation: str, windows: str) -> None:
        read = {name for node in (function.this, *ctes_of(function.this)) for name in self._streams.read(node)}
        rows = f"{with_clause(self.source, function.this)}SELECT * FROM {relation}"
        time = self.source.written(function.timecol)
        self.late.append(Arrivals(rows, windows, time, tuple(sorted(read))))

    def _follows(self, function: WindowFunction) -> bool:
        """True if the rows of a window function come from another window function."""
        return any(node.find(WindowFunction) for node in (function.this, *ctes_of(function.this)))

    def _add(
        self, function: WindowFunction, sql: str, time: str | None, end: str | None, closes: tuple[str, ...]
    ) -> str:
        view = f"__{function.window.name.lower()}_{len(self.stages) + 1}"
        self.stages.append(Stage(view, sql, time, end, closes))
        return view
