"""OpenMLDB's conversions between types, as the texts around the value: `BIGINT(ts)` is `unix_millis(ts)`."""

from __future__ import annotations

import re
from collections.abc import Callable

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.errors import RefusedError
from dbt.adapters.sparkstream.sql.core.types import INTEGERS, is_string
from dbt.adapters.sparkstream.sql.passes.framing.scalars import COMPACT, Around, by_type, dashed, text
from dbt.adapters.sparkstream.sql.passes.framing.times import may_be_time

Conversion = Callable[[exp.Expr, "str | None"], "Around | None"]
"""Value and its type -> the SQL before and behind the value; None where Spark's own conversion gives the same."""


def _millis(value: exp.Expr, type_: str | None) -> Around | None:
    """To BIGINT, which goes by milliseconds in OpenMLDB and by seconds in Spark."""
    if type_ is None:
        return by_type(
            "CASE WHEN typeof(v) = 'timestamp' THEN unix_millis(CAST(CAST(v AS STRING) AS TIMESTAMP)) "
            "ELSE CAST(v AS BIGINT) END"
        )
    return ("unix_millis(", ")") if type_ == "timestamp" else _whole("BIGINT")(value, type_)


def _whole(name: str) -> Conversion:
    """To a whole number: a time gives its milliseconds, a text such as `a1` NULL."""

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


def _fractional(name: str) -> Conversion:
    return lambda value, type_: ("CAST(unix_millis(", f") AS {name})") if type_ == "timestamp" else None


def _of_likely_time(name: str) -> Around:
    """To a number other than BIGINT, of a column that may be a time or a number.

    Args:
        name: the function that converts, such as `INT`.
    """
    type_ = SPARK_TYPES.get(name, name)
    return by_type(
        "CASE WHEN typeof(v) = 'timestamp' THEN "
        f"CAST(unix_millis(CAST(CAST(v AS STRING) AS TIMESTAMP)) AS {type_}) ELSE CAST(v AS {type_}) END"
    )


def _from_millis(value: exp.Expr, type_: str | None) -> Around | None:
    """To TIMESTAMP, of a number of milliseconds, or of the text of a time or a day.

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
"""Functions to numbers, but for BIGINT."""

CONVERSIONS: dict[str, Conversion] = {
    "BIGINT": _millis,
    "INT64": _millis,
    "INT": _whole("INT"),
    "INT32": _whole("INT"),
    "SMALLINT": _whole("SMALLINT"),
    "INT16": _whole("SMALLINT"),
    "FLOAT": _fractional("FLOAT"),
    "DOUBLE": _fractional("DOUBLE"),
    "TIMESTAMP": _from_millis,
    "DATE": _date,
    "STRING": lambda value, type_: text(type_),
}
"""Function -> what stands around its argument in Spark SQL."""
SPARK_TYPES = {"BOOL": "BOOLEAN", "INT16": "SMALLINT", "INT32": "INT", "INT64": "BIGINT", "VARCHAR": "STRING"}
"""Types of OpenMLDB's by their names -> Spark's."""
TYPES_OF_CONVERSIONS = {name: SPARK_TYPES.get(name, name).lower() for name in CONVERSIONS}
"""Function -> the Spark type that it converts to."""


def conversion(name: str, value: exp.Expr, type_: str | None, times: frozenset[str]) -> Around | None:
    """What stands around the argument of a conversion in Spark SQL; None where Spark's own does the same.

    Args:
        name: the function that converts, such as `INT`.
        type_: the type of the value, if it is known.
        times: the columns that may well be times.
    """
    if type_ == "date" and name in (*_NUMBERS, "BIGINT", "INT64"):
        raise RefusedError("a date is no number: without ANSI, Spark gives NULL", "write datediff(d, '2020-01-01')")
    if type_ is None and name in _NUMBERS and may_be_time(value, times):
        return _of_likely_time(name)
    renamed = (f"{TYPES_OF_CONVERSIONS[name]}(", ")") if name in SPARK_TYPES else None
    return CONVERSIONS[name](value, type_) or renamed
