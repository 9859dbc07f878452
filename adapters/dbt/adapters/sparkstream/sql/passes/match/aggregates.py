"""Aggregates over the rows of a pattern variable, as Spark SQL over an array."""

from __future__ import annotations

from collections.abc import Callable

from dbt.adapters.sparkstream.sql.core import types
from dbt.adapters.sparkstream.sql.core.errors import RefusedError
from dbt.adapters.sparkstream.sql.passes.flink.aggregates import average_type, sum_type
from dbt.adapters.sparkstream.sql.passes.flink.rewriter import UntypedError, cast
from dbt.adapters.sparkstream.sql.passes.match.names import EVENT


def _values(events: str, value: str) -> str:
    return f"filter(transform({events}, {EVENT} -> {value}), x -> x IS NOT NULL)"


def _total(events: str, value: str, type_: str) -> str:
    """The sum of the values that aren't NULL; NULL without any."""
    more = cast(f"s + {value}", type_)
    return (
        f"aggregate({events}, CAST(NULL AS {type_.upper()}), (s, {EVENT}) -> coalesce({more}, s, {cast(value, type_)}))"
    )


def _number(type_: str | None) -> str:
    if type_ is None:
        raise UntypedError
    if not types.is_numeric(type_):
        raise RefusedError(f"this takes numbers, and not a {type_}")
    return type_


def _sum(events: str, value: str, type_: str | None) -> str:
    known = _number(type_)
    return _total(events, value, sum_type(known))


def _avg(events: str, value: str, type_: str | None) -> str:
    known = _number(type_)
    count = f"size({_values(events, value)})"
    if known in types.INTEGERS:
        return cast(f"{_total(events, value, 'bigint')} DIV {count}", known)
    if types.is_decimal(known):
        total = _total(events, value, sum_type(known))
        return cast(f"{total} / {cast(count, 'decimal(20,0)')}", average_type(known))
    return cast(f"{_total(events, value, 'double')} / {count}", known)


def _count(events: str, value: str, type_: str | None) -> str:
    counted = f"size({events})" if value == "*" else f"size({_values(events, value)})"
    return f"CAST(greatest({counted}, 0) AS BIGINT)"


def _extreme(function: str) -> Aggregate:
    return lambda events, value, type_: f"{function}(transform({events}, {EVENT} -> {value}))"


def _listagg(events: str, value: str, type_: str | None) -> str:
    values = _values(events, value)
    return f"CASE WHEN size({values}) > 0 THEN array_join({values}, ',') END"


Aggregate = Callable[[str, str, str | None], str]
"""From the array of a variable's events, the argument as an expression of EVENT, and its type, to Spark SQL."""

AGGREGATES: dict[str, Aggregate] = {
    "SUM": _sum,
    "AVG": _avg,
    "COUNT": _count,
    "MIN": _extreme("array_min"),
    "MAX": _extreme("array_max"),
    "LISTAGG": _listagg,
}
