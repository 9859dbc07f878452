"""Spark's types of expressions, as far as columns tell; None is always a safe answer."""

from __future__ import annotations

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.columns import Column, Resolver
from dbt.adapters.sparkstream.sql.core.types import INTEGERS, decimal_parts, is_decimal, is_numeric, spark_type

_DIGITS = {"tinyint": 3, "smallint": 5, "int": 10, "bigint": 20}
"""Digits that Spark gives an integer beside a DECIMAL."""

_SAME = ("abs", "negative", "positive", "min", "max")
_COMMON = ("coalesce", "nvl", "ifnull", "least", "greatest")


class SparkResolver(Resolver):
    """A Resolver that knows the type of whole expressions by Spark's rules."""

    def expression(self, node: exp.Expr, select: exp.Select) -> Column:
        found = super().expression(node, select)
        if found.type is None and not isinstance(node, exp.Column):
            return Column(found.name, type_of(node, select, self), found.origin)
        return found

    def widened(self, one: str | None, other: str | None) -> str | None:
        return _common([one, other])


def type_of(node: exp.Expr | None, select: exp.Select, resolver: Resolver) -> str | None:
    """The type of an expression in a query, or None where it isn't certain."""

    def of(inner: exp.Expr | None) -> str | None:
        return type_of(inner, select, resolver)

    if isinstance(node, (exp.Paren, exp.Neg)):
        return of(node.this)
    if isinstance(node, exp.Column):
        found = resolver.find(node, select)
        return found.type if found else None
    if isinstance(node, exp.Null):
        return "void"
    if isinstance(node, exp.Literal):
        return _literal(node)
    if isinstance(node, exp.Cast):
        return spark_type(node.to)
    if isinstance(node, (exp.Add, exp.Sub, exp.Mul, exp.Div)):
        return _arithmetic(node, of(node.this), of(node.expression))
    if isinstance(node, exp.If):
        return _common([of(node.args.get("true")), of(node.args["false"]) if node.args.get("false") else "void"])
    if isinstance(node, exp.Case):
        branches = [of(branch.args.get("true")) for branch in node.args.get("ifs") or []]
        return _common([*branches, of(node.args["default"]) if node.args.get("default") else "void"])
    if isinstance(node, exp.Anonymous) and isinstance(node.this, str):
        name = node.this.lower()
        if name in _SAME and len(node.expressions) == 1:
            return of(node.expressions[0])
        if name in _COMMON:
            return _common([of(e) for e in node.expressions])
        if name in ("count", "count_if"):
            return "bigint"
    return None


def _literal(literal: exp.Literal) -> str | None:
    if literal.is_string:
        return "string"
    text = literal.name
    if text.isdecimal():
        return "int" if int(text) < 2**31 else "bigint" if int(text) < 2**63 else None
    whole, point, fraction = text.partition(".")
    if point and (whole + fraction).isdecimal():
        digits = len((whole + fraction).lstrip("0"))
        return f"decimal({max(digits, len(fraction))},{len(fraction)})"
    return None


def _arithmetic(node: exp.Expr, left: str | None, right: str | None) -> str | None:
    if not (is_numeric(left) and is_numeric(right)):
        return None
    assert left and right
    if not (is_decimal(left) or is_decimal(right)):
        if isinstance(node, exp.Div):
            return "double"
        if left in INTEGERS and right in INTEGERS:
            return max(left, right, key=INTEGERS.index)
        return "float" if left == right == "float" else "double" if "double" in (left, right) else None
    if "double" in (left, right) or "float" in (left, right):
        return "double"
    (p1, s1), (p2, s2) = _as_decimal(node.this, left), _as_decimal(node.expression, right)
    if isinstance(node, exp.Mul):
        precision, scale = p1 + p2 + 1, s1 + s2
    elif isinstance(node, exp.Div):
        scale = max(6, s1 + p2 + 1)
        precision = p1 - s1 + s2 + scale
    else:
        scale = max(s1, s2)
        precision = max(p1 - s1, p2 - s2) + scale + 1
    # Beyond 38 digits the type depends on a setting.
    return f"decimal({precision},{scale})" if precision <= 38 else None


def _as_decimal(node: exp.Expr, type_: str) -> tuple[int, int]:
    if type_ not in INTEGERS:
        return decimal_parts(type_)
    return (len(node.name.lstrip("0")) or 1 if isinstance(node, exp.Literal) else _DIGITS[type_], 0)


def _common(types: list[str | None]) -> str | None:
    """The type of CASE, COALESCE and the like."""
    known = [t for t in types if t != "void"]
    if not known or any(t is None for t in known):
        return None
    if len(set(known)) == 1:
        return known[0]
    if not all(is_numeric(t) for t in known) or "float" in known:
        return None
    if "double" in known:
        return "double"
    if all(t in INTEGERS for t in known):
        return max((t for t in known if t), key=INTEGERS.index)
    parts = [(_DIGITS[t], 0) if t in INTEGERS else decimal_parts(t) for t in known if t]
    scale = max(s for _, s in parts)
    precision = max(p - s for p, s in parts) + scale
    return f"decimal({precision},{scale})" if precision <= 38 else None
