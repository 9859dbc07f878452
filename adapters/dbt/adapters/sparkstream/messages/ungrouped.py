"""Columns that a query which groups neither groups by nor aggregates."""

from __future__ import annotations

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError


def ungrouped(sql: str, name: str) -> int | None:
    """Offset of the first column of a name outside GROUP BY and aggregates, in a query that groups; None if unknown.

    Args:
        sql: a statement, with nothing of ours.
        name: the column, without the table.
    """
    try:
        trees = sqlglot.parse(sql, read="spark")
    except SqlglotError:
        return None
    found = [
        column.this.meta["start"]
        for tree in trees
        if tree is not None
        for select in tree.find_all(exp.Select)
        if select.args.get("group") or any(_of(select, call) for call in select.find_all(exp.AggFunc))
        for column in select.find_all(exp.Column)
        if column.name.lower() == name.lower() and _of(select, column) and not _is_reduced(column)
    ]
    return min(found, default=None)


def _of(select: exp.Select, node: exp.Expr) -> bool:
    return node.find_ancestor(exp.Select) is select


def _is_reduced(column: exp.Column) -> bool:
    """True if a column is in an aggregate, a key of GROUP BY, or read before rows are grouped."""
    before = (exp.AggFunc, exp.Group, exp.Where, exp.From, exp.Join, exp.Lateral)
    return column.find_ancestor(*before, exp.Select) is not column.find_ancestor(exp.Select)
