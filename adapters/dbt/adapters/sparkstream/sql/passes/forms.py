"""The normal form of an expression, by which two are told to be the same."""

from __future__ import annotations

from sqlglot import exp

from dbt.adapters.sparkstream.sql.dialects.sparkstream import SparkStream


def normal_form(node: exp.Expr) -> str:
    """An expression as text, the same for two that mean the same: `(A + "b")` and `a+b` are `a + b`."""
    copy = node.unnest().copy()
    for identifier in copy.find_all(exp.Identifier):
        identifier.set("this", identifier.this.casefold())
        identifier.set("quoted", False)
    return copy.sql(SparkStream, comments=False)
