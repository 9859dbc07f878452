"""Names of columns without an alias.

OpenMLDB prints the expression: `sum(x)over w`, `x + 1`. SQLstream counts: `EXPR$0`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.source import Source

_OPERATORS: Mapping[type[exp.Expr], str] = {
    exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/", exp.IntDiv: "DIV", exp.Mod: "%",
    exp.EQ: "=", exp.NEQ: "!=", exp.GT: ">", exp.GTE: ">=", exp.LT: "<", exp.LTE: "<=",
    exp.And: "AND", exp.Or: "OR", exp.Xor: "XOR", exp.BitwiseAnd: "&", exp.BitwiseOr: "|", exp.BitwiseXor: "^",
    exp.Like: "LIKE", exp.ILike: "ILIKE", exp.RegexpLike: "RLIKE", exp.Escape: "ESCAPE",
}  # fmt: skip
_SIGNS: Mapping[type[exp.Expr], str] = {exp.Neg: "-", exp.Not: "NOT", exp.BitwiseNot: "~"}
_TYPES = {
    **{"SMALLINT": "int16", "INT": "int32", "INTEGER": "int32", "BIGINT": "int64", "BOOLEAN": "bool"},
    **{"TEXT": "string", "VARCHAR": "string", "TIMESTAMPTZ": "timestamp", "TIMESTAMPLTZ": "timestamp"},
}
"""Other name of a type, which is a function, too -> OpenMLDB's own name."""


NAMED = (exp.Alias, exp.Aliases, exp.Column, exp.Dot, exp.Star)
"""Items of a SELECT list that have a name."""


def counted_name(select: exp.Select, index: int) -> str | None:
    """The name that SQLstream gives to an item of a SELECT list; None where a star before it hides its place."""
    before = select.expressions[:index]
    return None if any(item.is_star for item in before) else f"EXPR${index}"


def column_name(source: Source, node: exp.Expr) -> str:
    """Name of an expression's column without an alias, as OpenMLDB prints it."""
    return _printed(source, node).replace("`", "") or "''"


def _printed(source: Source, node: exp.Expr) -> str:
    def of(part: Any) -> str:
        return _printed(source, part)

    node = node.unnest()  # parentheses aren't printed
    kind = type(node)
    if kind in _OPERATORS:
        name = f"{of(node.this)} {_OPERATORS[kind]} {of(node.args['expression'])}"
        return f"NOT {name}" if node.args.get("negate") else name
    if isinstance(node, exp.Not) and isinstance(node.this, (exp.In, exp.Between)) and source.is_negated(node.this):
        return _listed(source, node.this, " not")
    if kind in _SIGNS:
        is_number = isinstance(node, exp.Neg) and isinstance(node.this.unnest(), exp.Literal)
        return f"{_SIGNS[kind]}{'' if is_number else ' '}{of(node.this)}"
    if isinstance(node, exp.Case):
        return _case(source, node)
    if isinstance(node, (exp.In, exp.Between)):
        return _listed(source, node, "")
    if isinstance(node, exp.Is) and isinstance(node.expression, exp.Null):
        return f"IS_NULL {of(node.this)}"
    if isinstance(node, exp.DPipe):
        return f"concat({of(node.this)}, {of(node.expression)})"
    if isinstance(node, exp.Cast) and isinstance(node.to, exp.DataType) and hasattr(node.to.this, "value"):
        return f"{_type(node.to.this.value)}({of(node.this)})"
    if isinstance(node, exp.Window):
        window = node.args.get("alias")
        return f"{of(node.this)}over {window.name if window else 'ANONYMOUS_WINDOW '}"
    if isinstance(node, exp.Anonymous) and not any(isinstance(each, exp.Distinct) for each in node.expressions):
        return f"{_type(node.name)}({', '.join(map(of, node.expressions))})"
    if isinstance(node, exp.Column) and not isinstance(node.this, exp.Star):
        return ".".join(part.name for part in node.parts)
    literal = _literal(node)
    return re.sub(r"\s+", " ", source.written(node)) if literal is None else literal


def _case(source: Source, node: exp.Case) -> str:
    """`case (when a then b,when c then d) else null`."""
    value = f"{_printed(source, node.this)} = " if node.this else ""
    branches = ",".join(
        f"when {value}{_printed(source, branch.this)} then {_printed(source, branch.args['true'])}"
        for branch in node.args["ifs"]
    )
    return f"case ({branches}) else {_printed(source, node.args.get('default') or exp.Null())}"


def _type(name: str) -> str:
    return _TYPES.get(name.upper(), name.lower() if name.isupper() else name)


def _listed(source: Source, node: exp.Expr, negation: str) -> str:
    """`x in (1,2)` and `x between 1 and 2`."""
    value = _printed(source, node.this)
    if isinstance(node, exp.Between):
        low, high = (_printed(source, node.args[bound]) for bound in ("low", "high"))
        return f"{value}{negation}{' ' if negation else ''} between {low} and {high}"
    if node.args.get("query"):
        return f"{value}{negation} in query expr"
    return f"{value}{negation} in ({','.join(_printed(source, each) for each in node.expressions)})"


def _literal(node: exp.Expr) -> str | None:
    if isinstance(node, exp.Null):
        return "null"
    if isinstance(node, exp.Boolean):
        return str(node.this).lower()
    if not isinstance(node, exp.Literal):
        return None
    if not node.is_number or not (number := re.fullmatch(r"(\d*)([.]\d*)?(E[+-]?\d+)?([LFD]?)", node.name.upper())):
        return node.name
    whole, *fraction, suffix = number.groups()
    if suffix in ("", "L") and not any(fraction):
        return whole
    return f"{float(node.name.rstrip('lLfFdD')):.6f}"
