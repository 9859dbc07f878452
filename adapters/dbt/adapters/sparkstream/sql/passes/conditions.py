"""Conditions that are operands of conditions: Calcite's grammar takes them as they are, Spark's needs parentheses."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.source import SPAN

_RANGES = (exp.In, exp.Between, exp.Like, exp.SimilarTo, exp.Escape, exp.Exists)
_PREDICATES = (exp.Is, exp.Not, exp.NullSafeEQ, exp.NullSafeNEQ, *_RANGES)

COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ, exp.NullSafeNEQ)


def loose_operands(node: exp.Expr) -> Iterator[exp.Expr]:
    """The operands of a comparison or of IS that Spark reads otherwise, or not at all, without parentheses.

    `ok = x LIKE 'a%'` compares ok with a condition, where Spark takes `ok = x` for the operand of LIKE; Spark has
    no NOT behind `ok =`; and `a IS NULL IS TRUE` has a predicate before IS.
    """
    before = _written(node.this)
    if isinstance(before, _PREDICATES):
        yield before
    behind = _written(node.expression) if isinstance(node, COMPARISONS) else None
    if isinstance(behind, (exp.Not, *_RANGES)):
        yield behind


def _written(node: exp.Expr) -> exp.Expr:
    """A node without the parentheses that sqlglot alone has put around it."""
    return node.this if isinstance(node, exp.Paren) and SPAN not in node.meta else node
