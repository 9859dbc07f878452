"""Types of expressions, as far as the statement and the schema tell."""

from __future__ import annotations

from sqlglot import exp, parse_one
from sqlglot.errors import ParseError

from dbt.adapters.sparkstream.sql.core.columns import Resolver
from dbt.adapters.sparkstream.sql.core.types import INTEGERS, is_numeric


def type_of(text: str, select: exp.Select, resolver: Resolver) -> str | None:
    """The Spark type of an expression in a SELECT, or None where it isn't known."""
    try:
        node = parse_one(text, read="spark")
    except ParseError:
        return None
    return _type(node, select, resolver)


def _type(node: exp.Expr | None, select: exp.Select, resolver: Resolver) -> str | None:
    if isinstance(node, (exp.Paren, exp.Neg, exp.Abs)):
        return _type(node.this, select, resolver)
    if isinstance(node, exp.Column):
        found = resolver.find(node, select)
        return found.type if found else None
    if isinstance(node, exp.Literal):
        if node.is_string:
            return "string"
        if node.this.isdecimal():
            return "int" if int(node.this) < 2**31 else "bigint"
        return None
    if isinstance(node, exp.Cast):
        return node.to.sql("spark").lower()
    if isinstance(node, (exp.Boolean, exp.Predicate, exp.Connector, exp.Not)):
        return "boolean"
    if isinstance(node, (exp.Add, exp.Sub, exp.Mul, exp.Mod)):
        return _wider(_type(node.this, select, resolver), _type(node.expression, select, resolver))
    if isinstance(node, exp.Div):
        return "double"
    if isinstance(node, (exp.Coalesce, exp.If, exp.Case)):
        parts = _branches(node)
        types = {_type(p, select, resolver) for p in parts if not isinstance(p, exp.Null)}
        if len(types) == 1:
            return types.pop()
        return None
    if isinstance(node, (exp.Window, exp.Lag, exp.FirstValue, exp.LastValue, exp.Min, exp.Max)):
        return _type(node.this, select, resolver)
    if isinstance(node, exp.Anonymous) and node.name.upper() == "AT" and node.expressions:
        return _type(node.expressions[0], select, resolver)
    if isinstance(node, exp.Count):
        return "bigint"
    return None


def _branches(node: exp.Expr) -> list[exp.Expr]:
    if isinstance(node, exp.Coalesce):
        return [node.this, *node.expressions]
    if isinstance(node, exp.If):
        return [n for n in (node.args.get("true"), node.args.get("false")) if n]
    found = [i.args["true"] for i in node.args.get("ifs") or []]
    return [*found, node.args["default"]] if node.args.get("default") else found


def _wider(one: str | None, other: str | None) -> str | None:
    if one is None or other is None or not (is_numeric(one) and is_numeric(other)):
        return None
    if "double" in (one, other):
        return "double"
    if one in INTEGERS and other in INTEGERS:
        return max(one, other, "int", key=INTEGERS.index)
    return None
