"""Forms of a query that no rule rewrites."""

from __future__ import annotations

from collections.abc import Collection

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.errors import NoRule
from dbt.adapters.sparkstream.sql.core.nodes import Opaque, own
from dbt.adapters.sparkstream.sql.core.source import SPAN
from dbt.adapters.sparkstream.sql.core.windows import AUXILIARY, GROUP_WINDOWS, WindowFunction
from dbt.adapters.sparkstream.sql.grammar.specs import FramedWindow, LastJoin

_GROUP_CALLS = frozenset({*GROUP_WINDOWS, *AUXILIARY})


def check_form(select: exp.Select, known: Collection[str], beside: str) -> None:
    """Refuses a query that a rule can't rewrite as a whole.

    Args:
        known: the clauses that the rule reads, as sqlglot names them.
        beside: what to say of another clause, behind its name.

    Raises:
        NoRule: it has other clauses, is an expression of another query, or has what other passes rewrite too.
    """
    other = sorted(k.rstrip("_") for k, v in select.args.items() if v and k not in known)
    if other or SPAN not in select.meta:
        raise NoRule(f"{', '.join(other) or 'this form'} {beside}")
    if any(_in_clause(query, select) for query in select.find_all(Opaque)):
        raise NoRule("a query in it can't be parsed, and may use any column")
    if _in_expression(select):
        raise NoRule("it stands in a condition or expression of another query, whose columns it may use")
    for node in own(select, FramedWindow, LastJoin, exp.Anonymous):
        if not isinstance(node, exp.Anonymous) or node.name.upper() in _GROUP_CALLS:
            raise NoRule("frames, LAST JOIN or group windows beside it; put the windows in a subquery")


def _in_clause(query: exp.Expr, select: exp.Select) -> bool:
    """True if a query is in a clause of a SELECT where it may use the SELECT's columns: not in FROM or a CTE."""
    node: exp.Expr | None = query
    while node is not None and node is not select:
        if isinstance(node, (WindowFunction, exp.CTE)):
            return False
        node = node.parent
    return True


def _in_expression(select: exp.Select) -> bool:
    """True if a query is in the place of an expression, and not in FROM, a CTE or a set operation."""
    node: exp.Expr = select
    while node.parent:
        parent = node.parent
        if isinstance(parent, (Opaque, exp.Exists, exp.In, exp.Lateral, exp.Binary)) and not isinstance(
            parent, exp.SetOperation
        ):
            return True
        if isinstance(parent, exp.Select) and isinstance(node, (exp.Subquery, exp.Alias)):
            return True
        if isinstance(node, exp.Subquery) and not isinstance(
            parent, (exp.From, exp.Join, exp.Subquery, exp.SetOperation, WindowFunction, exp.Table, exp.CTE)
        ):
            return isinstance(parent, (exp.Condition, exp.Where, exp.Having, exp.Ordered, exp.Alias))
        node = parent
    return False
