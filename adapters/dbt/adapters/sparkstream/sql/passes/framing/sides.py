"""Whose columns the parts of a LAST JOIN's condition have."""

from __future__ import annotations

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.literals import quoted
from dbt.adapters.sparkstream.sql.core.names.scope import name_of, sources
from dbt.adapters.sparkstream.sql.passes.framing.select import FramedSelect


def side(select: FramedSelect, node: exp.Expr, right: str) -> str:
    """Whose columns an expression has: the `right` table's, the `left` tables', `both`, or `unknown`."""
    found: set[str] = set()
    for column in node.find_all(exp.Column):
        if column.table:
            found.add("right" if quoted(column.table).lower() == right.lower() else "left")
            continue
        owners = [name_of(s) for s in sources(select.select) if select.resolver.columns(s).find(column.name)]
        known = all(select.resolver.columns(s).complete for s in sources(select.select))
        if not known or len(owners) != 1:
            return "unknown"
        found.add("right" if (owners[0] or "").lower() == right.lower() else "left")
    if len(found) > 1:
        return "both"
    return found.pop() if found else "left"


def equality(select: FramedSelect, node: exp.Expr, right: str) -> tuple[exp.Expr, exp.Expr] | None:
    """The left and the right side of a comparison of left rows with the right table by `=` or IS NOT DISTINCT FROM."""
    if not isinstance(node, (exp.EQ, exp.NullSafeEQ)):
        return None
    sides = side(select, node.this, right), side(select, node.expression, right)
    if sides == ("left", "right"):
        return node.this, node.expression
    return (node.expression, node.this) if sides == ("right", "left") else None
