"""Window table functions in FROM: checked against their input's columns and written as Spark SQL."""

from __future__ import annotations

from collections.abc import Container, Iterator

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.names.checks import check_column, check_time
from dbt.adapters.sparkstream.sql.core.names.columns import Resolver
from dbt.adapters.sparkstream.sql.core.source import Edit, Source
from dbt.adapters.sparkstream.sql.core.types import INTEGERS, is_decimal, is_string
from dbt.adapters.sparkstream.sql.core.windows import WINDOW_COLUMNS, WindowFunction, window_functions
from dbt.adapters.sparkstream.sql.passes.editor import Editor
from dbt.adapters.sparkstream.sql.passes.windows.lower import WindowCall, lower, spelled


class WindowFunctions(Editor):
    """Edits the window table functions of a statement.

    Args:
        keep: True if window functions stay, in the one spelling that the optimiser reads.
        skipped: ids of window functions that are part of another edit.
    """

    def __init__(self, source: Source, resolver: Resolver, *, keep: bool = False, skipped: Container[int] = ()) -> None:
        super().__init__(source, resolver)
        self._keep = keep
        self._skipped = skipped

    def edits(self, tree: exp.Expr) -> Iterator[Edit]:
        """A subquery in the place of every window table function."""
        for function in window_functions(tree):
            self._check(function)
            if id(function) in self._skipped:
                continue
            yield self.edit(function, lambda function=function: self._lower(function))  # type: ignore[misc]

    def _lower(self, function: WindowFunction, indent: str | None = None, utc: bool = False) -> str:
        call = self.call(function, utc)
        if self._keep:
            return spelled(call)
        return lower(call, self.source.indent(self.source.span(function)[0]) if indent is None else indent)

    def call(self, function: WindowFunction, utc: bool = False) -> WindowCall:
        """A window table function with its parts as Spark SQL: their text with the edits so far."""
        source = self.source
        rows = self.resolver.columns(function.this)
        time = rows.find(function.timecol.name)
        span = source.span(function)
        relation = source.span(function.this)
        return WindowCall(
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
            gap=source.written(function.gap) if function.gap is not None else None,
            close_on=source.rendered(function.close_on) if function.close_on is not None else None,
            utc=utc,
            wall_bounds=self.resolver.wall_bounds,
        )

    def _check(self, function: WindowFunction) -> None:
        """Refuses a window whose input can't have it, as far as its columns are known."""
        source, name = self.source, function.window.name
        rows = self.resolver.columns(function.this)
        time = rows.find(function.timecol.name)
        if time:
            check_time(source, function.timecol, time.name, time.type, time.origin, flink=self.resolver.wall_bounds)
        for column in WINDOW_COLUMNS:
            if rows.find(column):
                raise source.error(
                    function.this,
                    f"the input of {name} has a column {column} already",
                    f"rename it in the input: SELECT {column} AS inner_{column.removeprefix('window_')}, ...",
                )
        check_column(source, function.timecol, rows, f"the input of {name}")
        condition = function.close_on
        conditions = [] if condition is None else [c for c in condition.find_all(exp.Column) if not c.table]
        own_gap = [] if function.gap is None else [function.gap]
        used: list[exp.Expr] = [*function.partition_by, *own_gap, *conditions]
        for node in used:
            check_column(source, node, rows, f"the input of {name}")
        gap = rows.find(own_gap[0].name) if own_gap else None
        if gap is not None and gap.type is not None and not _is_gap(gap.type):
            raise source.error(
                own_gap[0],
                f"the gap {gap.name} is of type {gap.type}, and no length of time",
                f"cast it in a subquery, to seconds: (SELECT *, CAST({gap.name} AS DECIMAL(18, 3)) AS gap FROM ...)",
            )


def _is_gap(type_: str) -> bool:
    """True if values of a type can be gaps: texts, numbers of seconds, and intervals of days and smaller units."""
    if type_.startswith("interval"):
        return not any(unit in type_ for unit in ("year", "month"))
    return is_string(type_) or type_ in INTEGERS or is_decimal(type_) or type_ == "void"
