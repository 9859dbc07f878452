"""Values that can be NULL, by Flink's names of types (`INT NOT NULL`)."""

from __future__ import annotations

from sqlglot import exp

from dbt.adapters.sparkstream.sql.passes.flink.clocks import word

_OF_ALL = (exp.Add, exp.Sub, exp.Mul, exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.And, exp.Or)
_OF_ONE = (exp.Paren, exp.Neg, exp.Not)
_CONSTANTS = (exp.Literal, exp.Boolean, exp.Interval, exp.CurrentDate)


def can_be_null(node: exp.Expr) -> bool | None:
    """Whether a value can be NULL; None where nobody knows. A column is taken for one that can."""
    if isinstance(node, (*_CONSTANTS, exp.Is)) or word(node):
        return False
    if isinstance(node, (exp.Null, exp.Column, exp.Dot)) or node.args.get("safe"):  # TRY_CAST
        return True
    if isinstance(node, _OF_ONE) or (isinstance(node, exp.Cast) and not _is_sized_text(node)):
        return can_be_null(node.this)
    if isinstance(node, _OF_ALL):
        sides = can_be_null(node.left), can_be_null(node.right)
        return None if None in sides else True in sides
    if isinstance(node, exp.Anonymous) and node.name.upper() in ("COALESCE", "IFNULL"):
        values = [can_be_null(value) for value in node.expressions]
        return False if False in values else None if None in values else True
    return None


def _is_sized_text(node: exp.Cast) -> bool:
    """Whether a value is cast to CHAR or VARCHAR, whose sizes Spark's types haven't."""
    return node.to.is_type("char", "varchar")
