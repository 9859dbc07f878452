"""Aggregating calls and queries of Flink SQL."""

from __future__ import annotations

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.tree import own
from dbt.adapters.sparkstream.sql.passes.flink.functions import AGGREGATES


def is_aggregate(node: exp.Expr) -> bool:
    """Whether a node is an aggregate over the rows of a group, and not one before OVER."""
    if not (isinstance(node, exp.Anonymous) and node.name.upper() in AGGREGATES):
        return False
    outer: exp.Expr | None = node
    while outer is not None and isinstance(outer.parent, (exp.Filter, exp.WithinGroup)) and outer.arg_key == "this":
        outer = outer.parent
    return outer is not None and not (isinstance(outer.parent, exp.Window) and outer.arg_key == "this")


def has_aggregate(node: exp.Expr) -> bool:
    """Whether an expression of a SELECT has an aggregate that isn't over a window, outside of subqueries."""
    return any(is_aggregate(each) for each in own(node, exp.Expr))


def is_aggregated(select: exp.Select) -> bool:
    """Whether a query has GROUP BY or HAVING, or selects an aggregate."""
    clauses = select.args.get("group") is not None or select.args.get("having") is not None
    return clauses or any(has_aggregate(projection) for projection in select.expressions)
