"""Check of a window's time column."""

from __future__ import annotations

from dbt.adapters.sparkstream.sql.core.source import Source, Span
from dbt.adapters.sparkstream.sql.core.types import INTEGERS, TIMES
from dbt.adapters.sparkstream.sql.core.windows import BOUNDS


def as_time(name: str, type_: str | None, *, flink: bool) -> str:
    """Expression for the time in a column: a whole number counts milliseconds, as most systems write them."""
    if type_ in INTEGERS:
        return f"TO_TIMESTAMP_LTZ({name}, 3)" if flink else f"timestamp_millis({name})"
    return f"CAST({name} AS TIMESTAMP)"


def check_time(source: Source, span: Span, name: str, type_: str | None, origin: str | None, *, flink: bool) -> None:
    """Refuses a column that no window can go by.

    `window_start` and `window_end` are regular columns (Flink: Cascading Window Aggregation).
    """
    if origin in BOUNDS:
        raise source.error(
            span,
            f"{name} is a window's {origin}, and no time to window by: a bound falls into the next window",
            "group by window_time as well, and use it as the time column",
        )
    if origin == "proctime":
        raise source.error(
            span,
            f"{name} is PROCTIME(), which has no meaning in batch",
            "use a column that holds when the event happened",
        )
    if type_ is not None and type_ not in TIMES:
        raise source.error(
            span,
            f"the time column {name} is of type {type_}, not a timestamp",
            f"make a time of it in a subquery: (SELECT *, {as_time(name, type_, flink=flink)} AS event_time FROM ...)",
        )
