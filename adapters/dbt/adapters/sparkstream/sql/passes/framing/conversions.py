"""OpenMLDB's conversions between types, as the texts around the value: `BIGINT(ts)` is `unix_millis(ts)`."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.types import INTEGERS, is_string

Around = Sequence[str]
"""The texts before the first argument, between the arguments, and behind the last one that is kept."""
Conversion = Callable[[exp.Expr, "str | None"], "Around | None"]
"""Value and its type -> the SQL before and behind the value; None where Spark's own conversion gives the same."""


def by_type(body: str) -> Around:
    """The texts around a value whose type only Spark knows, to name it v in an expression."""
    return "get(transform(array(", f"), v -> {body}), 0)"


_ZEROS_AT_THE_END = "'([.][0-9]*[1-9])0+(?=e|$)|[.]0+(?=e|$)', '$1'"
TO_INT = ("CAST(", " AS INT)")
TEXT_OF_FLOAT = ("regexp_replace(nullif(format_string('%g', CAST(", f" AS DOUBLE)), 'null'), {_ZEROS_AT_THE_END})")
"""A DOUBLE as text, in at most six digits: 1, 0.333333 and 1e+10, where Spark writes 1.0 and 1.0E10."""


def text(type_: str | None) -> Around | None:
    """The SQL around the value of STRING(value); None where Spark's CAST gives the same text."""
    if type_ in ("float", "double"):
        return TEXT_OF_FLOAT
    if type_ == "timestamp":
        return "date_format(", ", 'yyyy-MM-dd HH:mm:ss')"
    if type_ is not None:
        return None
    return by_type(
        f"CASE WHEN typeof(v) IN ('float', 'double') THEN {'CAST(v AS STRING)'.join(TEXT_OF_FLOAT)} "
        "WHEN typeof(v) = 'timestamp' THEN left(CAST(v AS STRING), 19) ELSE CAST(v AS STRING) END"
    )


COMPACT = ", '^([0-9]{4})([0-9]{2})([0-9]{2})$', '$1-$2-$3')"
"""End of a regexp_replace behind the text of a day, which makes 2020-05-22 of 20200522."""


def dashed(value: exp.Expr, type_: str | None) -> Around:
    """The texts around the text of a day, which may be 20200522 in OpenMLDB, and is 2020-05-22 in Spark."""
    if isinstance(value, exp.Literal) and not re.fullmatch(r"\d{8}", value.name):
        return ("", "")
    return ("regexp_replace(", COMPACT) if type_ is None or is_string(type_) else ("", "")


def _millis(value: exp.Expr, type_: str | None) -> Around | None:
    """Conversion to BIGINT, which goes by milliseconds in OpenMLDB and by seconds in Spark."""
    if type_ is None:
        return by_type(
            "CASE WHEN typeof(v) = 'timestamp' THEN unix_millis(CAST(CAST(v AS STRING) AS TIMESTAMP)) "
            "ELSE CAST(v AS BIGINT) END"
        )
    return ("unix_millis(", ")") if type_ == "timestamp" else _to_integer("BIGINT")(value, type_)


def _to_integer(name: str) -> Conversion:
    """Conversion to a whole number: a time gives its milliseconds, a text such as `a1` NULL."""

    def of(value: exp.Expr, type_: str | None) -> Around | None:
        if type_ == "timestamp":
            return ("CAST(unix_millis(", f") AS {name})")
        if not is_string(type_):
            return None
        if isinstance(value, exp.Literal) and re.fullmatch(r"\s*[+-]?\d{1,4}\s*", value.name):
            return None
        if isinstance(value, exp.Literal) and re.fullmatch(r"\s*[+-]?0[xX][0-9a-fA-F]+\s*", value.name):
            return (f"CAST({int(value.name, 16)} AS {name})",)
        return ("try_cast(", f" AS {name})")

    return of


def _to_fraction(name: str) -> Conversion:
    return lambda value, type_: ("CAST(unix_millis(", f") AS {name})") if type_ == "timestamp" else None


def _of_likely_time(name: str) -> Around:
    """Conversion to a number other than BIGINT, of a column that may be a time or a number.

    Args:
        name: the function that converts, such as `INT`.
    """
    type_ = SPARK_TYPES.get(name, name)
    return by_type(
        "CASE WHEN typeof(v) = 'timestamp' THEN "
        f"CAST(unix_millis(CAST(CAST(v AS STRING) AS TIMESTAMP)) AS {type_}) ELSE CAST(v AS {type_}) END"
    )


def _from_millis(value: exp.Expr, type_: str | None) -> Around | None:
    """Conversion to TIMESTAMP, of a number of milliseconds, or of the text of a time or a day.

    A fraction of a millisecond is cut off, and TRUE is one millisecond, where Spark reads seconds.
    """
    if type_ in INTEGERS:
        return ("timestamp_millis(", ")")
    if type_ in ("float", "double", "boolean"):
        return ("timestamp_millis(CAST(", " AS BIGINT))")
    if type_ is not None:
        before, behind = dashed(value, type_)
        return (f"timestamp({before}", f"{behind})") if before else None
    numbers = ", ".join(f"'{t}'" for t in (*INTEGERS, "float", "double"))
    return by_type(
        f"CASE WHEN typeof(v) IN ({numbers}) THEN "
        "timestamp_millis(CAST(CAST(CAST(v AS STRING) AS DECIMAL(38,3)) AS BIGINT)) "
        f"WHEN typeof(v) = 'string' THEN CAST(regexp_replace(CAST(v AS STRING){COMPACT} AS TIMESTAMP) "
        "ELSE CAST(v AS TIMESTAMP) END"
    )


def _date(value: exp.Expr, type_: str | None) -> Around | None:
    before, behind = dashed(value, type_)
    return (f"date({before}", f"{behind})") if before else None


_NUMBERS = frozenset(("INT", "INT32", "SMALLINT", "INT16", "FLOAT", "DOUBLE"))
"""Functions that convert to numbers, except BIGINT."""

CONVERSIONS: dict[str, Conversion] = {
    "BIGINT": _millis,
    "INT64": _millis,
    **dict.fromkeys(("INT", "INT32"), _to_integer("INT")),
    **dict.fromkeys(("SMALLINT", "INT16"), _to_integer("SMALLINT")),
    "FLOAT": _to_fraction("FLOAT"),
    "DOUBLE": _to_fraction("DOUBLE"),
    "TIMESTAMP": _from_millis,
    "DATE": _date,
    "STRING": lambda value, type_: text(type_),
}
"""Function -> rule that gives the Spark SQL around its argument."""
SPARK_TYPES = {"BOOL": "BOOLEAN", "INT16": "SMALLINT", "INT32": "INT", "INT64": "BIGINT", "VARCHAR": "STRING"}
"""Name of a type in OpenMLDB -> Spark's name."""
TYPES_OF_CONVERSIONS = {name: SPARK_TYPES.get(name, name).lower() for name in CONVERSIONS}
"""Function -> the Spark type that it converts to."""


def conversion(name: str, value: exp.Expr, type_: str | None, *, timed: bool) -> Around | None:
    """Spark SQL around the argument of a conversion; None where Spark's own conversion gives the same.

    Args:
        name: the function that converts, such as `INT`.
        type_: the type of the value, if it is known.
        timed: True if the value may well be a time.
    """
    if type_ is None and name in _NUMBERS and timed:
        return _of_likely_time(name)
    renamed = (f"{TYPES_OF_CONVERSIONS[name]}(", ")") if name in SPARK_TYPES else None
    return CONVERSIONS[name](value, type_) or renamed
