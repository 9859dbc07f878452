"""A request's row, from JSON's values to a SELECT of literals."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Any

from dbt.adapters.sparkstream.sql.core.errors import RequestError, did_you_mean
from dbt.adapters.sparkstream.sql.core.literals import backticked, read_time, string_literal
from dbt.adapters.sparkstream.sql.core.types import BITS, INTEGERS, is_string


def row_sql(row: Mapping[str, Any], columns: Mapping[str, str], table: str) -> str:
    """A SELECT of one row, with the columns of a table in its order and types.

    Args:
        row: column -> value, as JSON has them: numbers, text, true and false, null; a timestamp is text
            (`2024-03-01 10:00:00.250`) or milliseconds since 1970.
        columns: column of the table -> Spark type.
        table: the table's name, for errors.

    Raises:
        RequestError: a column is missing or unknown, or a value doesn't fit its type.
    """
    given = {name.casefold(): value for name, value in row.items()}
    known = {name.casefold() for name in columns}
    for name in row:
        if name.casefold() not in known:
            hint = did_you_mean(name, columns, f"it has {', '.join(columns)}")
            raise RequestError(f"{table} has no column {name}\n  {hint}")
    if len(given) < len(row):
        raise RequestError(f"the row has a column twice: {', '.join(row)}\n  write each one once")
    missing = [name for name in columns if name.casefold() not in given]
    if missing:
        raise RequestError(
            f"the row lacks {', '.join(missing)}\n"
            f"  give every column of {table}; write null for a value that isn't known"
        )
    items = [f"{_literal(given[n.casefold()], t.lower(), n)} AS {backticked(n)}" for n, t in columns.items()]
    return f"SELECT {', '.join(items)}"


def _literal(value: Any, type_: str, column: str) -> str:
    if value is None:
        return f"CAST(NULL AS {type_.upper()})"
    kind = type_.partition("(")[0].partition("<")[0]
    if kind in ("array", "map", "struct"):
        return f"from_json({string_literal(json.dumps(value))}, {string_literal(type_)})"
    converted = next(
        (convert(value, type_) for kinds, convert in _CONVERSIONS if kind in kinds),
        str(value) if is_string(type_) and isinstance(value, str) else None,
    )
    if converted is None:
        shown = json.dumps(value, default=str)
        article = "an" if type_[0] in "aeiou" else "a"
        raise RequestError(f"{column} is {article} {type_}, and {shown} is none\n  write {_example(type_)}")
    if kind in ("timestamp", "timestamp_ntz") and not isinstance(value, str):
        return f"CAST(timestamp_millis({value}) AS {type_.upper()})"
    return f"CAST({string_literal(converted)} AS {type_.upper()})"


def _integer(value: Any, type_: str) -> str | None:
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    half = 2 ** (BITS[type_] - 1)
    return str(value) if -half <= value < half else None


def _decimal(value: Any, type_: str) -> str | None:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        return None
    return str(number) if number.is_finite() else None


def _double(value: Any, type_: str) -> str | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return (
        repr(float(value)) if math.isfinite(value) else {"inf": "Infinity", "-inf": "-Infinity"}.get(str(value), "NaN")
    )


def _date(value: Any, type_: str) -> str | None:
    try:
        return date.fromisoformat(value).isoformat()
    except (TypeError, ValueError):
        return None


def _timestamp(value: Any, type_: str) -> str | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    try:
        read_time(value)
    except (AttributeError, ValueError):
        return None
    return str(value)


_CONVERSIONS: tuple[tuple[tuple[str, ...], Callable[[Any, str], str | None]], ...] = (
    (INTEGERS, _integer),
    (("decimal",), _decimal),
    (("float", "double"), _double),
    (("boolean",), lambda value, type_: str(value).lower() if isinstance(value, bool) else None),
    (("date",), _date),
    (("timestamp", "timestamp_ntz"), _timestamp),
)


def _example(type_: str) -> str:
    if type_.startswith("timestamp"):
        return '"2024-03-01 10:00:00", or milliseconds since 1970'
    examples = {"boolean": "true or false", "date": '"2024-03-01"', "string": '"text"'}
    if type_ in INTEGERS:
        return f"a whole number of {BITS[type_]} bits"
    return examples.get(type_, "a number")
