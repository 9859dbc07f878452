"""Kinds of Flink's types, and the names that TYPEOF gives them, such as INT NOT NULL."""

from __future__ import annotations

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core import types
from dbt.adapters.sparkstream.sql.core.errors import RefusedError
from dbt.adapters.sparkstream.sql.core.literals import backticked, string_literal
from dbt.adapters.sparkstream.sql.core.nested import element, entry, fields, is_array
from dbt.adapters.sparkstream.sql.passes.flink.clocks import word
from dbt.adapters.sparkstream.sql.passes.flink.rewriter import FlinkCall

MONTHS = "interval year to month"
"""The type of a length of whole months; others are of days and less."""


def length_type(unit: str) -> str:
    """Type of a length of time in a unit such as MONTH or HOURS."""
    return MONTHS if unit.upper().startswith(("YEAR", "QUARTER", "MONTH")) else "interval day to second"


def family(type_: str | None) -> str | None:
    """The kind of a type: number, text, boolean, date, time, binary, interval, array, map or row; None if unknown.

    TIME is a clock.
    """
    if type_ is None or type_ == "void":
        return None
    if types.is_numeric(type_):
        return "number"
    if types.is_string(type_):
        return "text"
    if type_ in types.TIMES:
        return "time"
    if types.is_clock(type_):
        return "clock"
    if type_ in ("boolean", "date", "binary"):
        return type_
    if type_.startswith("interval"):
        return "interval"
    if is_array(type_):
        return "array"
    return "map" if entry(type_) is not None else "row" if fields(type_) is not None else None


_LONGEST = 2**31 - 1
"""Size of a text without a limit."""
_NAMES = {
    "int": "INT",
    "binary": "BYTES",
    "string": "STRING",
    **{name: name.upper() for name in ("tinyint", "smallint", "bigint", "float", "double", "boolean", "date")},
}
_IN_FULL = {"binary": f"VARBINARY({_LONGEST})", "string": f"VARCHAR({_LONGEST})"}
"""The names that TYPEOF(x, TRUE) has."""
_OF_ALL = (exp.Add, exp.Sub, exp.Mul, exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.And, exp.Or)
_OF_ONE = (exp.Paren, exp.Neg, exp.Not)
_CONSTANTS = (exp.Literal, exp.Boolean, exp.Interval, exp.CurrentDate)


def typeof(call: FlinkCall) -> str:
    """TYPEOF: the name ends with NOT NULL if a value can't be NULL, which isn't known of every call."""
    value, constant = call.args[0], call.literals[0]
    nullable = call.nullable[0]
    if call.types[0] == "void" or value.upper() == "NULL":
        return "'NULL'"
    if nullable is None:
        raise RefusedError(
            f"nobody knows here whether {value} can be NULL, which TYPEOF says", "write the name of the type as a text"
        )
    name = f"CHAR({len(constant)})" if constant else _name(call.types[0], "TRUE" in map(str.upper, call.args[1:]))
    if name is None:
        raise RefusedError(
            f"nobody knows Flink's type of {value}: Spark's has no digits behind the second, or isn't known",
            "write the name of the type as a text",
        )
    return string_literal(name if nullable else f"{name} NOT NULL")


def _name(type_: str | None, in_full: bool) -> str | None:
    """Flink's name of a Spark type; None if it isn't known, as for a TIMESTAMP, whose precision Spark hasn't."""
    if type_ is None:
        return None
    if types.is_decimal(type_):
        return "DECIMAL({}, {})".format(*types.decimal_parts(type_))
    if types.is_clock(type_):
        return type_.upper()
    if type_ in _NAMES:
        return _IN_FULL.get(type_, _NAMES[type_]) if in_full else _NAMES[type_]
    row, pair = fields(type_), entry(type_)
    if row is not None:
        inner = [_name(inner_type, in_full) for _, inner_type in row]
        columns = ", ".join(f"{backticked(name)} {own}" for (name, _), own in zip(row, inner, strict=True))
        return None if None in inner else f"ROW<{columns}>"
    inner = [_name(part, in_full) for part in (pair or [element(type_)])]
    return None if None in inner else f"{'MAP' if pair else 'ARRAY'}<{', '.join(map(str, inner))}>"


def can_be_null(node: exp.Expr) -> bool | None:
    """Nullability of a value: True for a column, False for a literal, None for an unknown function."""
    if isinstance(node, (*_CONSTANTS, exp.Is)) or word(node):
        return False
    if isinstance(node, (exp.Null, exp.Column, exp.Dot)) or node.args.get("safe"):  # TRY_CAST
        return True
    if isinstance(node, _OF_ONE) or (isinstance(node, exp.Cast) and not node.to.is_type("char", "varchar")):
        return can_be_null(node.this)
    if isinstance(node, _OF_ALL):
        sides = can_be_null(node.left), can_be_null(node.right)
        return None if None in sides else True in sides
    if isinstance(node, exp.Anonymous) and node.name.upper() in ("COALESCE", "IFNULL"):
        values = [can_be_null(value) for value in node.expressions]
        return False if False in values else None if None in values else True
    return None
