"""SESSION on a stream: Spark's `session_window()` in GROUP BY, the only form that its streams know."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from dbt.adapters.sparkstream.sql.columns import Resolver
from dbt.adapters.sparkstream.sql.interval import MILLISECOND
from dbt.adapters.sparkstream.sql.source import Edit, Source
from dbt.adapters.sparkstream.sql.windows import WINDOW_COLUMNS, Session, WindowFunction

ALL = "__all_rows"
"""The key of sessions without keys, which Spark wants to have one."""

_BOUNDS = {
    "window_start": "session_window.start",
    "window_end": "session_window.end",
    "window_time": f"session_window.end - {MILLISECOND.sql()}",
}


class Sessions:
    """Edits the aggregations of sessions."""

    def __init__(self, source: Source, resolver: Resolver) -> None:
        self._source = source
        self._resolver = resolver

    def aggregate(self, function: WindowFunction) -> exp.Select:
        """The query that groups the rows of a SESSION by its windows.

        Raises:
            TranslationError: there is none.
        """
        source = self._source
        select = function.find_ancestor(exp.Select)
        group = select.args.get("group") if select else None
        hint = (
            "group its rows by window_start, window_end and the keys of PARTITION BY, in the same SELECT; "
            "or use a table model"
        )
        if function.has_session_rules:
            raise source.error(
                source.span(function),
                "on a stream, a SESSION has a constant gap and no more rules",
                "use a table model",
            )
        if select is None or group is None or _relation(select) is not function:
            raise source.error(source.span(function), "SESSION on a stream has to be aggregated", hint)
        if any(group.args.get(kind) for kind in ("grouping_sets", "cube", "rollup")):
            raise source.error(source.span(group), "sessions on a stream take no GROUPING SETS, CUBE or ROLLUP", hint)
        names = {key.name.casefold() for key in group.expressions if isinstance(key, exp.Column)}
        keys = {key.name.casefold() for key in function.partition_by}
        others = names - set(WINDOW_COLUMNS)
        if not {"window_start", "window_end"} <= names or others != keys or len(names) < len(group.expressions):
            wanted = ", ".join(["window_start", "window_end", *(key.name for key in function.partition_by)])
            raise source.error(
                source.span(group),
                "on a stream, a SESSION's rows are grouped by its windows and its keys",
                f"write GROUP BY {wanted}",
            )
        return select

    def edits(self, function: WindowFunction, select: exp.Select) -> Iterator[Edit]:
        """What makes a `session_window()` of a SESSION and the query that aggregates it."""
        source = self._source
        group = select.args["group"]
        assert isinstance(function.window, Session)
        assert function.window.gap is not None
        time = source.written(function.timecol)
        call = f"session_window({time}, '{function.window.gap.words()}')"
        relation = source.span(function.this)
        if function.partition_by:
            yield Edit(source.span(function), lambda: source.render(relation), level=1)
        else:
            yield Edit(source.span(function), lambda: f"(SELECT *, 1 AS {ALL} FROM {source.render(relation)})", level=1)
        keys = [source.span(k) for k in group.expressions if k.name.casefold() not in WINDOW_COLUMNS]
        yield Edit(
            source.span(group),
            lambda: ", ".join([call, *map(source.render, keys), *([] if keys else [ALL])]),
            level=1,
        )
        for column in select.find_all(exp.Column):
            bound = _BOUNDS.get(column.name.casefold())
            if bound and column.find_ancestor(exp.Select) is select and column.find_ancestor(exp.Group) is not group:
                alias = f" AS {column.name}" if column.parent is select else ""
                yield Edit(source.span(column), lambda text=bound + alias: text)  # type: ignore[misc]

    @staticmethod
    def named(select: exp.Select, bound: str) -> tuple[str, ...]:
        """The output columns that hold a bound of the session."""
        columns = ((p.unalias(), str(p.alias_or_name)) for p in select.expressions)
        return tuple(name for c, name in columns if isinstance(c, exp.Column) and c.name.casefold() == bound)


def _relation(select: exp.Select) -> exp.Expr | None:
    from_ = select.args.get("from_")
    if from_ is None or select.args.get("joins") or select.args.get("laterals"):
        return None
    relation = from_.this
    return relation.this if isinstance(relation, exp.Table) else relation
