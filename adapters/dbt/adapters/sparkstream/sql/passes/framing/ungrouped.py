"""Columns that a SELECT with GROUP BY can't have: Spark refuses them, and says so in its own words."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.scope import sources
from dbt.adapters.sparkstream.sql.core.source import Source
from dbt.adapters.sparkstream.sql.core.tree import enclosing
from dbt.adapters.sparkstream.sql.core.typing import SPARK
from dbt.adapters.sparkstream.sql.grammar.specs import FramedWindow
from dbt.adapters.sparkstream.sql.passes.framing.names import AGGREGATES, CATEGORIES, RANKS, SPARK_AGGREGATES

_SCALARS = frozenset(SPARK.functions) - AGGREGATES - SPARK_AGGREGATES - RANKS - {"GROUPING", "GROUPING_ID"}
"""Functions of one row: what is no key in their arguments is none. Another function may aggregate, as a user's may."""
_OTHER_ROWS = (exp.Query, exp.Window, FramedWindow, exp.Star, exp.Lambda)


def check_grouped(source: Source, tree: exp.Expr) -> None:
    """Refuses a column of a SELECT list that is neither a key nor in an aggregate.

    Raises:
        TranslationError: at the column.
    """
    for select in tree.find_all(exp.Select):
        keys = _keys(select)
        if keys is None:
            continue
        for item in select.expressions:
            for column in _ungrouped(_plain(item.unalias()), keys):
                if _is_own(column, select):
                    name = source.written(column)
                    raise source.error(
                        source.span(column),
                        f"{name} is neither in GROUP BY nor in an aggregate function",
                        f"write GROUP BY ..., {name}, or an aggregate such as max({name})",
                    )


def _keys(select: exp.Select) -> frozenset[exp.Expr] | None:
    """The keys of a SELECT that aggregates; None where it doesn't, or where Spark alone knows its keys."""
    group = select.args.get("group")
    if group is None:
        calls = (call for item in select.expressions for call in item.find_all(exp.Anonymous))
        return frozenset() if any(_aggregates(call, select) for call in calls) else None
    if any(group.args.get(key) for key in ("all", "totals", "rollup", "cube", "grouping_sets")):
        return None
    if any(isinstance(key, (exp.Rollup, exp.Cube, exp.GroupingSets)) for key in group.expressions):
        return None
    keys: list[exp.Expr] = []
    for key in group.expressions:
        if not isinstance(key, exp.Literal):
            keys.append(key)
        elif key.name.isdecimal() and 1 <= int(key.name) <= len(select.expressions):
            keys.append(select.expressions[int(key.name) - 1].unalias())
        else:
            return None
    aliases = {item.alias.casefold(): item.this for item in select.expressions if isinstance(item, exp.Alias)}
    named = [
        aliases[key.name.casefold()] for key in keys if isinstance(key, exp.Column) and key.name.casefold() in aliases
    ]
    return frozenset(_plain(key.unnest()) for key in (*keys, *named))


def _aggregates(call: exp.Anonymous, select: exp.Select) -> bool:
    """Whether a call makes one row of all rows of a SELECT; within a call over a window, it is over the window too."""
    around = enclosing(call, exp.Select, exp.Window, FramedWindow)
    return call.name.upper() in CATEGORIES and around is select


def _ungrouped(node: exp.Expr, keys: frozenset[exp.Expr]) -> Iterator[exp.Column]:
    if node in keys or isinstance(node, _OTHER_ROWS):
        return
    if isinstance(node, exp.Column):
        yield node
        return
    if isinstance(node, exp.Anonymous) and node.name.upper() not in _SCALARS:
        return
    for child in node.iter_expressions():
        yield from _ungrouped(child, keys)


def _plain(node: exp.Expr) -> exp.Expr:
    """An expression whose columns have no table's name and no upper case, so that `T.K` equals the key `k`."""

    def bare(part: exp.Expr) -> exp.Expr:
        if isinstance(part, exp.Column) and not part.is_star:
            column = exp.column(part.name.casefold())
            column.meta.update(part.meta)
            return column
        return part.this if isinstance(part, exp.Paren) else part

    return node.copy().transform(bare)


def _is_own(column: exp.Column, select: exp.Select) -> bool:
    """Whether a name can mean nothing but a column of the SELECT's inputs: no alias, no column of a query around."""
    aliases = {item.alias.casefold() for item in select.expressions if isinstance(item, exp.Alias)}
    within = enclosing(select, exp.Select)
    stands = select.parent
    of_rows = isinstance(stands, exp.Subquery) and isinstance(stands.parent, (exp.From, exp.Join))
    return column.name not in aliases and bool(sources(select)) and (within is None or of_rows)
