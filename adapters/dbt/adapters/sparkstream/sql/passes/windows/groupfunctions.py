"""Group windows as table functions: Flink SQL in, Flink SQL out.

`GROUP BY HOP(ts, ...)` is `FROM HOP(TABLE t, ...)`, grouped by its bounds: both give each row the same windows. Streams
and the optimiser's rules know the functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.names.columns import Resolver
from dbt.adapters.sparkstream.sql.core.names.scope import from_item
from dbt.adapters.sparkstream.sql.core.nodes import aggregate_name, own
from dbt.adapters.sparkstream.sql.core.source import Edit, Source
from dbt.adapters.sparkstream.sql.core.windows import AUXILIARY, Hop, Session, Window, WindowFunction
from dbt.adapters.sparkstream.sql.dialects.flinkwords import flink_name
from dbt.adapters.sparkstream.sql.passes.framing.block import Block
from dbt.adapters.sparkstream.sql.passes.optimize.aggregates import MERGEABLE
from dbt.adapters.sparkstream.sql.passes.optimize.hop import LEAST_OVERLAP
from dbt.adapters.sparkstream.sql.passes.windows.groups import GroupWindows, is_call, is_group_window, only_relation

_COLUMNS = {"START": "window_start", "END": "window_end", "ROWTIME": "window_time"}


def group_functions(
    tree: exp.Expr,
    source: Source,
    resolver: Resolver,
    chosen: Callable[[exp.Select, Window], bool],
    *,
    strict: bool,
) -> Iterator[Edit]:
    """Window functions in the place of group windows on a table or subquery.

    Args:
        chosen: whether to edit a query with a group window.
        strict: True if it is Flink SQL: there, the names of group windows are nobody's own functions.

    Raises:
        TranslationError: what is wrong with a group window.
    """
    windows = GroupWindows(source, resolver, strict=strict)
    found = [
        (select, call)
        for select, call, window in windows.windows(tree)
        if _relation(select) is not None and isinstance(call.expressions[0], exp.Column) and chosen(select, window)
    ]
    if found:
        list(windows.edits(tree))  # which checks that the calls of a query go together
    for select, call in found:
        yield from _as_function(source, select, call, strict)


def rules_pay(select: exp.Select, window: Window) -> bool:
    """True if rules may compute the query over a group window in less time than Spark's own window."""
    if isinstance(window, Hop):
        return window.overlap >= LEAST_OVERLAP  # else Spark's window() takes as long, and is shorter to read
    if not isinstance(window, Session) or any(select.find_all(exp.Distinct)):
        return False
    relation = _relation(select)
    here = ("", relation.alias_or_name.casefold()) if relation is not None else ()
    keys = [key for key in select.args["group"].expressions if not is_group_window(key, True)]
    plain = all(isinstance(key, exp.Column) and key.table.casefold() in here for key in keys)
    calls = [name for node in select.find_all(exp.Anonymous) if (name := aggregate_name(node))]
    return plain and bool(calls) and all(name in MERGEABLE for name in calls)


def _relation(select: exp.Select) -> exp.Expr | None:
    """The relation whose rows a window function may read in the place of a query's group window."""
    relation = only_relation(select)
    return None if relation is None or relation.find(WindowFunction) else relation


def _as_function(source: Source, select: exp.Select, call: exp.Anonymous, strict: bool) -> Iterator[Edit]:
    """The edits of one query.

    Args:
        call: its group window, in GROUP BY.
    """
    kind, relation = call.name.upper(), from_item(select)
    assert relation is not None
    table, place, name = isinstance(relation, exp.Table), source.unaliased(relation), relation.name
    alias = f" AS {flink_name(name)}" if table and not relation.alias else ""
    keys = _keys(source, select, call) if kind == "SESSION" else []
    per = f" PARTITION BY ({', '.join(keys)})" if keys else ""
    time, *lengths = call.expressions
    rest = ", ".join([f"DESCRIPTOR({source.written(time.this)})", *map(source.written, lengths)])
    if kind == "SESSION" and select.args.get("where"):  # of other windows, it may stand above as well
        block, rows = Block(source, select), source.span(relation)
        start, end = block.clauses["where"]

        def text() -> str:
            query = f"(SELECT * FROM {source.render(rows)} WHERE {block.condition()})"
            return f"TABLE({kind}({query}{per}, {rest})){alias}" + source.render((place[1], start))

        yield Edit((place[0], end), text)
    else:
        before = f"TABLE({kind}({'TABLE ' if table else ''}"
        yield Edit(place, lambda: f"{before}{source.render(place)}{per}, {rest})){alias}")
    bounds = {"window_start": None, "window_end": None}
    for other in own(select, exp.Anonymous):
        if is_call(other, AUXILIARY):
            column = _COLUMNS[AUXILIARY[other.name.upper()][1]]
            bounds[column] = None
            if other in select.expressions:  # under the name that the call has
                position = select.expressions.index(other)
                column += f" AS `EXPR${position}`" if strict else f" AS {other.name.lower()}"
            yield Edit.to(source.call_span(other), column)
    yield Edit(source.call_span(call), lambda: ", ".join(bounds))


def _keys(source: Source, select: exp.Select, call: exp.Anonymous) -> list[str]:
    """The other keys of GROUP BY, as PARTITION BY of a SESSION has them."""
    keys = [key for key in select.args["group"].expressions if key is not call]
    for key in keys:
        if not isinstance(key, exp.Column):
            raise source.error(
                key,
                f"{source.written(key)} is no column: on a stream, columns are the keys of a SESSION",
                "compute it in a subquery, and group by its name",
            )
    return [source.written(key.this) for key in keys]
