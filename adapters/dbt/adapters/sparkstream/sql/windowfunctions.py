"""Window table functions in FROM: checked against their input's columns and written as Spark SQL."""

from __future__ import annotations

from collections.abc import Container, Iterator

from sqlglot import exp

from dbt.adapters.sparkstream.sql.columns import Resolver, check_time
from dbt.adapters.sparkstream.sql.lower import WindowCall, lower, spelled
from dbt.adapters.sparkstream.sql.source import Edit, Source
from dbt.adapters.sparkstream.sql.windows import WINDOW_COLUMNS, WindowFunction, window_functions


class WindowFunctions:
    """Edits the window table functions of a statement.

    Args:
        keep: whether they stay, in the one spelling that the optimiser reads.
        skipped: ids of functions that another edit covers.
    """

    def __init__(self, source: Source, resolver: Resolver, *, keep: bool = False, skipped: Container[int] = ()) -> None:
        self._source = source
        self._resolver = resolver
        self._keep = keep
        self._skipped = skipped

    def edits(self, tree: exp.Expr) -> Iterator[Edit]:
        """A subquery in the place of every window table function."""
        for function in window_functions(tree):
            if id(function) in self._skipped:
                continue
            self._check(function)
            yield Edit(self._source.span(function), lambda function=function: self._lower(function))  # type: ignore[misc]

    def _lower(self, function: WindowFunction, indent: str | None = None, utc: bool = False) -> str:
        source = self._source
        rows = self._resolver.columns(function.this)
        time = rows.find(function.timecol.name)
        span = source.span(function)
        relation = source.span(function.this)
        call = WindowCall(
            window=function.window,
            relation=source.render(relation),
            time=source.written(function.timecol),
            time_type=time.type if time else None,
            keys=tuple(source.written(key) for key in function.partition_by),
            notes=tuple(
                note
                for token in source.tokens_in((span[0], span[1] - 1))
                for note in token.comments
                if note not in source.text[slice(*relation)]
            ),
            utc=utc,
        )
        if self._keep:
            return spelled(call)
        return lower(call, source.indent(span[0]) if indent is None else indent)

    def _check(self, function: WindowFunction) -> None:
        """Refuses a window whose input can't have it, as far as its columns are known."""
        source, name = self._source, function.window.name
        rows = self._resolver.columns(function.this)
        time = rows.find(function.timecol.name)
        place = source.span(function.timecol)
        if time:
            check_time(source, place, time.name, time.type, time.origin)
        for column in WINDOW_COLUMNS:
            if rows.find(column):
                raise source.error(
                    source.span(function.this),
                    f"the input of {name} has a column {column} already",
                    f"rename it in the input: SELECT {column} AS inner_{column.removeprefix('window_')}, ...",
                )
        if time is None and rows.complete:
            known = ", ".join(c.name for c in rows.items)
            raise source.error(
                place,
                f"the input of {name} has no column {function.timecol.name}",
                f"it has {known}" if known else None,
            )
        for key in function.partition_by:
            if rows.complete and not rows.find(key.name):
                known = ", ".join(c.name for c in rows.items)
                raise source.error(source.span(key), f"the input of {name} has no column {key.name}", f"it has {known}")
