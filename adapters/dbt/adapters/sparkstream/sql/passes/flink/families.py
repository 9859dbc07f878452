"""Kinds of types: Flink combines types of one kind, and few of different ones."""

from __future__ import annotations

from dbt.adapters.sparkstream.sql.core import types
from dbt.adapters.sparkstream.sql.core.nested import entry, fields, is_array

MONTHS = "interval year to month"
"""The type of a length of whole months; others are of days and less."""


def length_type(unit: str) -> str:
    """The type of a length of time that is said in a unit, such as MONTH or HOURS."""
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
