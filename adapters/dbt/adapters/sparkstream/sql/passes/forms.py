"""The normal form of an expression: two expressions that mean the same have the same one."""

from __future__ import annotations

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.windows import WindowFunction
from dbt.adapters.sparkstream.sql.dialects.sparkstream import SparkStream
from dbt.adapters.sparkstream.sql.grammar.specs import FramedWindow


def normal_form(node: exp.Expr) -> str:
    """An expression as text, the same for two that mean the same: `(A + "b")` and `a+b` are `a + b`."""
    copy = node.unnest().copy().transform(_as_call)
    for identifier in copy.find_all(exp.Identifier):
        identifier.set("this", identifier.this.casefold())
        identifier.set("quoted", False)
    return copy.sql(SparkStream, comments=False)


def _as_call(node: exp.Expr) -> exp.Expr:
    """A window of ours as a plain call, since sqlglot can't write our windows."""
    if isinstance(node, WindowFunction):
        return exp.func(f"{node.window}", *(part.transform(_as_call) for part in node.iter_expressions()))
    if not isinstance(node, FramedWindow):
        return node
    window = node.value
    keys = [[normal_form(key.expression) for key in part] for part in (window.partition, window.order)]
    unions = [normal_form(union) for union in window.unions]
    return exp.func("OVER", node.this, exp.Literal.string(f"{keys} {unions} {window.frame}"))
