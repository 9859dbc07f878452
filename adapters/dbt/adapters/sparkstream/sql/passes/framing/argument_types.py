"""Types that OpenMLDB's operators, conversions and functions refuse, where Spark would convert without a word."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.types import INTEGERS, is_numeric, is_string

NUMBERS = "numbers"
DAYS = "dates, timestamps and numbers of milliseconds"
TIMES = "timestamps and numbers of milliseconds"
TEXTS = "texts"


def fits(wanted: str, type_: str | None) -> bool:
    """Whether a first argument of a type may be one of those wanted, such as NUMBERS."""
    number = is_numeric(type_) or type_ == "boolean"
    if not (number or is_string(type_) or type_ in ("date", "timestamp")):
        return True
    return {
        NUMBERS: number,
        DAYS: type_ in (*INTEGERS, "date", "timestamp"),
        TIMES: type_ in (*INTEGERS, "timestamp"),
        TEXTS: is_string(type_),
    }[wanted]


def converts(type_: str | None, target: str) -> bool:
    """Whether a value of a type can become one of another: no number is a date, and no date a number."""
    number = is_numeric(type_) or type_ == "boolean"
    if target == "DATE":
        return not number
    return not (type_ == "date" and target in ("BIGINT", "INT", "SMALLINT", "FLOAT", "DOUBLE"))


TEXT_OPERATORS = (exp.Like, exp.ILike, exp.RegexpLike)
BIT_OPERATORS = (exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor)


def wrong_operand(node: exp.Expr, types: Sequence[str | None]) -> int | None:
    """Which operand of an operator is of a type that it doesn't take; None where all may be right.

    The operators are arithmetic, LIKE and its like on texts, and operators on bits.
    """
    if isinstance(node, TEXT_OPERATORS):
        return next((i for i, type_ in enumerate(types) if type_ not in (None, "void") and not is_string(type_)), None)
    if isinstance(node, BIT_OPERATORS):
        return next((i for i, type_ in enumerate(types) if type_ not in (None, "void", *INTEGERS)), None)
    timed = isinstance(node, (exp.Add, exp.Sub))
    for index, type_ in enumerate(types):
        if is_string(type_) or type_ == "date":
            return index
        if type_ == "timestamp" and not (timed or (isinstance(node, exp.Div) and index == 0)):
            return index
        if isinstance(node, exp.IntDiv) and type_ in ("float", "double"):
            return index
    if timed and "timestamp" in types:
        other = types[0] if types[1] == "timestamp" else types[1]
        if other in ("float", "double"):
            return 0 if types[1] == "timestamp" else 1
    return None
