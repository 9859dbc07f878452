"""Windows of OVER in sqlglot's tree: partition, order and frame, also through `OVER w2` and `w2 AS (w ROWS ...)`.

The offsets of a frame's bounds are numbers in the unit of what rows are ordered by.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp
from sqlglot.tokens import TokenType

from dbt.adapters.sparkstream.sql.core.errors import NoRule
from dbt.adapters.sparkstream.sql.core.interval import MICROS, IntervalError, read_interval
from dbt.adapters.sparkstream.sql.core.names.columns import Resolver
from dbt.adapters.sparkstream.sql.core.nodes import enclosing, once
from dbt.adapters.sparkstream.sql.core.source import Source
from dbt.adapters.sparkstream.sql.core.types import TIMES

_SIDES = {"PRECEDING": -1, "FOLLOWING": 1}


@dataclass(frozen=True)
class WindowParts:
    """PARTITION BY, ORDER BY and frame of a window of OVER, together with the named window that it begins with."""

    partition_by: list[exp.Expr]
    order: exp.Order | None
    frame: exp.WindowSpec | None


def named(window: exp.Window) -> exp.Window | None:
    """The entry of the WINDOW clause that a window names: w of `OVER w` and of `OVER (w ORDER BY n)`."""
    name = window.args.get("alias")
    select = enclosing(window, exp.Select)
    if not isinstance(name, exp.Identifier) or select is None:
        return None
    return next((w for w in _entries(select).get(name.name.casefold(), ()) if w is not window), None)


@once
def _entries(select: exp.Select) -> dict[str, list[exp.Window]]:
    """Name -> the entries of the WINDOW clause that have it."""
    found: dict[str, list[exp.Window]] = {}
    for entry in select.args.get("windows") or []:
        found.setdefault(entry.name.casefold(), []).append(entry)
    return found


def parts_of(window: exp.Window) -> WindowParts:
    """The PARTITION BY, ORDER BY and frame of a window, its own or taken from the window that it names."""
    base = named(window)
    below = parts_of(base) if base is not None else WindowParts([], None, None)
    return WindowParts(
        window.args.get("partition_by") or below.partition_by,
        window.args.get("order") or below.order,
        window.args.get("spec") or below.frame,
    )


def bound(frame: exp.WindowSpec, side: str) -> tuple[int, exp.Expr | None]:
    """Place of a bound: -2, -1, 0, 1 or 2, from UNBOUNDED PRECEDING to UNBOUNDED FOLLOWING; and its offset or None.

    Args:
        side: `start` or `end`.
    """
    value = frame.args.get(side)
    way = _SIDES.get(str(frame.args.get(f"{side}_side") or "").upper(), 0)
    if isinstance(value, exp.Expr):
        return way, value
    return (2 * way if str(value).upper() == "UNBOUNDED" else 0), None


def subtracted_from(source: Source, end: int) -> bool:
    """True if a minus follows a place: of `sum(x) OVER w - a`, Spark reads `w - a` as one name."""
    behind = source.tokens.at(end - 1) + 1
    return behind < len(source.tokens) and source.tokens[behind].token_type is TokenType.DASH


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
