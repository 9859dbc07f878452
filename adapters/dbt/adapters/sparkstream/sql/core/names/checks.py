"""Checks of names against the columns that are known, and of time columns: one message for all dialects."""

from __future__ import annotations

from typing import NoReturn

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.names.scope import Columns
from dbt.adapters.sparkstream.sql.core.source import Source
from dbt.adapters.sparkstream.sql.core.types import INTEGERS, TIMES
from dbt.adapters.sparkstream.sql.core.windows import BOUNDS


def check_column(source: Source, column: exp.Expr, known: Columns, of: str) -> None:
    """Refuses a name that is no column of a relation whose columns are all known.

    Args:
        of: the relation, in words: `the input of TUMBLE`.
    """
    if known.complete and known.find(column.name) is None:
        refuse_column(source, column, column.name, known, of)


def refuse_column(source: Source, place: exp.Expr, name: str, known: Columns, of: str) -> NoReturn:
    """Refuses a name that is no column of a relation."""
    columns = ", ".join(column.name for column in known.items)
    raise source.error(place, f"{of} has no column {name}", f"it has {columns}" if columns else None)


def as_time(name: str, type_: str | None, *, flink: bool) -> str:
    """Expression for the time in a column: a whole number counts milliseconds, as most systems write them."""
    if type_ in INTEGERS:
        return f"TO_TIMESTAMP_LTZ({name}, 3)" if flink else f"timestamp_millis({name})"
    return f"CAST({name} AS TIMESTAMP)"


def check_time(
    source: Source, place: exp.Expr, name: str, type_: str | None, origin: str | None, *, flink: bool
) -> None:
    """Refuses a column that no window can go by.

    `window_start` and `window_end` are regular columns (Flink: Cascading Window Aggregation).
    """
    if origin in BOUNDS:
        raise source.error(
            place,
            f"{name} is a window's {origin}, and no time to window by: a bound falls into the next window",
            "group by window_time as well, and use it as the time column",
        )
    if origin == "proctime":
        raise source.error(
            place,
            f"{name} is PROCTIME(), which has no meaning in batch",
            "use a column that holds when the event happened",
        )
    if type_ is not None and type_ not in TIMES:
        raise source.error(
            place,
            f"the time column {name} is of type {type_}, not a timestamp",
            f"make a time of it in a subquery: (SELECT *, {as_time(name, type_, flink=flink)} AS event_time FROM ...)",
        )
