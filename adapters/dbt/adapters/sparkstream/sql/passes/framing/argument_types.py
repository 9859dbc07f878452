"""Types that OpenMLDB's operators, conversions and functions refuse, where Spark would convert without a word."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.types import INTEGERS, is_numeric, is_string

_NUMBERS = "numbers"
_DAYS = "dates, timestamps and numbers of milliseconds"
_TIMES = "timestamps and numbers of milliseconds"
_TEXTS = "texts"

FIRST_ARGUMENTS = {
    **dict.fromkeys(
        (
            *("ABS", "CEIL", "CEILING", "FLOOR", "ROUND", "TRUNCATE", "INC", "SQRT", "EXP", "POW", "POWER", "PMOD"),
            *("LN", "LOG", "LOG2", "LOG10", "SIN", "COS", "TAN", "COT", "ASIN", "ACOS", "ATAN", "ATAN2"),
            *("RADIANS", "DEGREES"),
        ),
        _NUMBERS,
    ),
    **dict.fromkeys(
        ("YEAR", "MONTH", "DAY", "DAYOFMONTH", "DAYOFWEEK", "DAYOFYEAR", "WEEK", "WEEKOFYEAR", "LAST_DAY"), _DAYS
    ),
    **dict.fromkeys(("HOUR", "MINUTE", "SECOND"), _TIMES),
    **dict.fromkeys(
        (
            *("SUBSTR", "SUBSTRING", "UPPER", "UCASE", "LOWER", "LCASE", "CHAR_LENGTH", "CHARACTER_LENGTH"),
            *("STRCMP", "REPLACE", "REVERSE", "SPLIT", "LIKE_MATCH", "ILIKE_MATCH", "REGEXP_LIKE"),
        ),
        _TEXTS,
    ),
}
"""Function -> what its first argument may be."""
TIME_FUNCTIONS = frozenset(name for name, wanted in FIRST_ARGUMENTS.items() if wanted in (_DAYS, _TIMES))
"""Functions of a time, a day, or a number of milliseconds."""


def takes(name: str, type_: str | None) -> str | None:
    """The words for what a function takes, where it doesn't take a first argument of this type; else None."""
    wanted = FIRST_ARGUMENTS.get(name)
    if wanted is None or type_ is None:
        return None
    number = is_numeric(type_) or type_ == "boolean"
    fits = {
        _NUMBERS: number,
        _DAYS: type_ in (*INTEGERS, "date", "timestamp"),
        _TIMES: type_ in (*INTEGERS, "timestamp"),
        _TEXTS: is_string(type_),
    }
    known = number or is_string(type_) or type_ in ("date", "timestamp")
    return wanted if known and not fits[wanted] else None


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
