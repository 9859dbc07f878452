"""SESSION on a stream: Spark's `session_window()` in GROUP BY, the only form that its streams know."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.interval import MILLISECOND
from dbt.adapters.sparkstream.sql.core.source import Edit, Source
from dbt.adapters.sparkstream.sql.core.tree import enclosing, own
from dbt.adapters.sparkstream.sql.core.windows import WINDOW_COLUMNS, Session, WindowFunction
from dbt.adapters.sparkstream.sql.streaming.distinct import has_distinct

ALL = "__all_rows"
"""The key of sessions without keys, which Spark wants to have one."""

_BOUNDS = {
    "window_start": "session_window.start",
    "window_end": "session_window.end",
    "window_time": f"session_window.end - {MILLISECOND.sql()}",
}


def is_session(function: WindowFunction) -> bool:
    """Whether a window function is a SESSION."""
    return isinstance(function.window, Session)


def aggregation(function: WindowFunction) -> exp.Select | None:
    """The query that aggregates a SESSION as Spark's streams can; None where there is none.

    It groups the rows of the SESSION, which a constant gap ends, by its windows and its keys, and aggregates no
    DISTINCT values.
    """
    select = enclosing(function, exp.Select)
    group = select.args.get("group") if select else None
    if select is None or group is None or _relation(select) is not function or function.has_session_rules:
        return None
    if has_distinct(select) or any(group.args.get(kind) for kind in ("grouping_sets", "cube", "rollup", "all")):
        return None
    names = {key.name.casefold() for key in group.expressions if isinstance(key, exp.Column)}
    keys = {key.name.casefold() for key in function.partition_by}
    others = names - set(WINDOW_COLUMNS)
    plain = {"window_start", "window_end"} <= names and others == keys and len(names) == len(group.expressions)
    return select if plain else None


class Sessions:
    """Edits the aggregations of sessions."""

    def __init__(self, source: Source) -> None:
        self._source = source

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
