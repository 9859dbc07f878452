"""Offsets of the bounds of Spark's frames, in the unit of what rows are ordered by."""

from __future__ import annotations

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.errors import NoRule
from dbt.adapters.sparkstream.sql.core.interval import MICROS, IntervalError
from dbt.adapters.sparkstream.sql.core.names.columns import Resolver
from dbt.adapters.sparkstream.sql.core.over import bound
from dbt.adapters.sparkstream.sql.core.source import Source
from dbt.adapters.sparkstream.sql.core.types import TIMES
from dbt.adapters.sparkstream.sql.grammar.intervals import read_interval

_COUNTED = ("unix_micros", "unix_millis", "unix_seconds")
"""Functions of a time whose values are far from the ends of BIGINT, so that an offset more never overflows."""


def offset(source: Source, frame: exp.WindowSpec, side: str, measure: str) -> int | None:
    """Distance of a bound behind the current row in rows, numbers or microseconds; None for an unbounded one.

    Args:
        side: `start` or `end`.
        measure: what offsets are added to: `rows`, `number`, or the type of a time.

    Raises:
        NoRule: it is no constant.
    """
    way, value = bound(frame, side)
    if isinstance(value, exp.Neg):
        way, value = -way, value.this
    if abs(way) == 2:
        return None
    if value is None:
        return 0
    if measure in ("rows", "number"):
        if isinstance(value, exp.Literal) and not value.is_string and value.name.isdecimal():
            return way * int(value.name)
        raise NoRule("its bounds are no constant whole numbers")
    try:
        micros = read_interval(source.tokens_in(source.span(value))).micros
    except IntervalError:
        raise NoRule("its bounds are no intervals of a fixed length") from None
    if measure == "date" and micros % MICROS["DAY"]:
        raise NoRule("its bounds are no whole days")
    return way * micros


def measure_of(key: exp.Expr, select: exp.Select, resolver: Resolver) -> str:
    """Value that the offsets of a RANGE are added to."""
    if isinstance(key, exp.Anonymous) and key.name.lower() in _COUNTED:
        return "number"
    type_ = resolver.type(key, select)
    if type_ in (*TIMES, "date"):
        return type_
    raise NoRule(f"its frame goes by {'a type that nobody knows' if type_ is None else f'a key of type {type_}'}")
