"""Which queries of Flink SQL aggregate."""

from __future__ import annotations

from sqlglot import exp

from dbt.adapters.sparkstream.sql.passes.flink.functions import AGGREGATES


def has_aggregate(node: exp.Expr, select: exp.Expr) -> bool:
    """Whether an expression of a SELECT has an aggregate that isn't over a window, outside of subqueries."""
    return any(
        isinstance(n, exp.Anonymous)
        and n.name.upper() in AGGREGATES
        and n.find_ancestor(exp.Select) is select
        and not (isinstance(n.parent, exp.Window) and n.arg_key == "this")
        for n in node.walk()
    )


def is_aggregated(select: exp.Select) -> bool:
    """Whether a query has GROUP BY or HAVING, or selects an aggregate."""
    clauses = select.args.get("group") is not None or select.args.get("having") is not None
    return clauses or any(has_aggregate(projection, select) for projection in select.expressions)
