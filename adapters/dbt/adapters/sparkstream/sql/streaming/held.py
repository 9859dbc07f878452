"""Streams that hold rows back until their window is closed; they drop later rows."""

from __future__ import annotations

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.names.scope import find_cte, sources
from dbt.adapters.sparkstream.sql.streaming.names import Streams


def is_held(node: exp.Expr, streams: Streams) -> bool:
    """Whether all rows of streams that come to a node have been aggregated on their way.

    Args:
        node: a query, or a relation that rows of a stream come to.
        streams: the streams.
    """
    if isinstance(node, exp.Select):
        if node.args.get("group"):
            return True
        return all(is_held(relation, streams) for relation in sources(node) if streams.feeds(relation))
    if isinstance(node, exp.SetOperation):
        return all(is_held(side, streams) for side in (node.left, node.right) if streams.feeds(side))
    if isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier):
        cte = None if node.args.get("db") else find_cte(node)
        return cte is not None and is_held(cte.this, streams)
    return isinstance(node.this, exp.Expr) and streams.feeds(node.this) and is_held(node.this, streams)
