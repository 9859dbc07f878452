"""Order in which windows close: OVER across closed windows has to read them in this order.

Windows close by their ends. So their rows come in the order of `window_end` and `window_time`; in that of
`window_start` only where all windows are of one length, or where those of a key follow each other, as sessions do.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.names.columns import Resolver
from dbt.adapters.sparkstream.sql.core.names.scope import find_cte, from_item
from dbt.adapters.sparkstream.sql.core.nodes import has_aggregate
from dbt.adapters.sparkstream.sql.core.source import Source
from dbt.adapters.sparkstream.sql.core.windows import WINDOW_COLUMNS, Hop, Session, Tumble, WindowFunction
from dbt.adapters.sparkstream.sql.passes.flink.frames import in_force
from dbt.adapters.sparkstream.sql.streaming.history import frames_of
from dbt.adapters.sparkstream.sql.streaming.names import ctes_of

START = "window_start"


def check_order(select: exp.Select, relation: exp.Expr, source: Source, resolver: Resolver) -> None:
    """Refuses OVER across windows in another order than that in which they close.

    Args:
        select: the query with OVER.
        relation: the aggregation over windows that it reads.

    Raises:
        TranslationError: points at the OVER.
    """
    functions = [f for node in (relation, *ctes_of(relation)) for f in node.find_all(WindowFunction)]
    for window, keys, order in frames_of(select):
        column = order[0][0]
        known = resolver.find(column, select)
        origin = known.origin if known is not None else None
        if origin == START or (origin is None and column.name.casefold() == START):
            frame = in_force(window).frame
            by_time = frame is not None and str(frame.args.get("kind")).upper() == "RANGE"
            fits = all(_start_is_in_order(function, keys, by_time) for function in functions)
        else:
            value = None if origin is not None else _definition(column.name, relation)
            fits = value is None or _is_of_a_window(value)
        if not fits:
            raise source.error(
                window,
                f"windows close in the order of their ends, and this OVER reads them in that of {column.name}",
                "write ORDER BY window_end, and then what else decides",
            )


def _start_is_in_order(function: WindowFunction, keys: Sequence[exp.Expr], by_time: bool) -> bool:
    if isinstance(function.window, Session):
        names = {key.name.casefold() for key in keys if isinstance(key, exp.Column)}
        return not by_time and {key.name.casefold() for key in function.partition_by} <= names
    return isinstance(function.window, (Tumble, Hop))


def _definition(name: str, relation: exp.Expr) -> exp.Expr | None:
    """Expression that a column of a relation is computed by, or the rows' column that it is; None if it isn't known."""
    value: exp.Expr | None = None
    inner: exp.Expr | None = relation
    while isinstance(inner, (exp.Subquery, exp.Table, exp.Select)):
        if isinstance(inner, exp.Subquery):
            inner = inner.this
        elif isinstance(inner, exp.Table):
            cte = find_cte(inner)
            if cte is None:
                return value  # rows
            inner = None if cte.alias_column_names else cte.this
        else:
            items = {item.alias_or_name.casefold(): item.unalias() for item in inner.expressions if not item.is_star}
            value = items.get(name.casefold(), value)
            if value is not None and (not isinstance(value, exp.Column) or _is_of_a_window(value)):
                return value
            name = name if value is None else value.name
            inner = from_item(inner)
    return value if isinstance(inner, WindowFunction) else None


def _is_of_a_window(value: exp.Expr) -> bool:
    """True if a value is computed from a window's bounds, or from the result of Spark's `window()`."""
    if has_aggregate(value):
        return False
    names = {part.name.casefold() for column in value.find_all(exp.Column) for part in column.parts}
    calls = {call.name.casefold() for call in value.find_all(exp.Anonymous)}
    return bool(names & {*WINDOW_COLUMNS, "window", "session_window"} or calls & {"window", "session_window"})
