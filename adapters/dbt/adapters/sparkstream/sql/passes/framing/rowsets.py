"""A frame as frames that Spark has.

Every row gets a number, its order: `key * 2K + (1, 2, ... among rows of the same key)`, K bigger than any group of
equal keys. It is unique, so RANGE over it ends exactly at a row, and it keeps distances, so RANGE reaches back
exactly to a key:

    rows of key >= k - a          start at order - (a * 2K + K - 1)
    rows of key <= k - b, b > 0   end at order - (b * 2K - K)
    rows of key < k               end at order - K
    rows before this one          end at order - 1
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dbt.adapters.sparkstream.sql.core.frames import Frame, Kind

PEERS = 2**20
"""K: the most rows of a partition that may have the same key."""

Literal = Callable[[int], str]
"""Writes a distance between orders as a literal of their type."""


@dataclass(frozen=True)
class Framed:
    """The rows of a Spark frame over the stream, of UNION tables only if `unions_only`."""

    frame: str
    unions_only: bool = False


@dataclass(frozen=True)
class Attached:
    """The rows of a ROWS frame of the newest row within `reach`; all of UNION tables if `unions_only`."""

    frame: str
    reach: str
    unions_only: bool = False


@dataclass(frozen=True)
class Limited:
    """The rows of `all`; where there are more than `limit`, the rows of `newest`."""

    limit: int
    all: Framed
    newest: Framed | Attached


@dataclass(frozen=True)
class Remaining:
    """The rows of `come` without the rows of `gone`, which goes by the key: for aggregates that can be subtracted."""

    come: str
    gone: str


Past = Framed | Attached | Limited | Remaining | None


@dataclass(frozen=True)
class RowSet:
    """The rows of a frame.

    Attributes:
        past: the rows as Spark has them; None if there are none.
        add_current: True if the current row has to be added to them.
    """

    past: Past
    add_current: bool = False


def reach_back(start: int | None, literal: Literal) -> str:
    """The start of a frame over orders that reaches back to a key."""
    return "UNBOUNDED PRECEDING" if start is None else f"{literal(start * 2 * PEERS + PEERS - 1)} PRECEDING"


def reach_end(frame: Frame, literal: Literal) -> str:
    """The end of a frame over orders: the newest row that isn't the current one."""
    if frame.kind is Kind.ROWS_RANGE and frame.end:
        return f"{literal(frame.end * 2 * PEERS - PEERS)} PRECEDING"
    return f"{literal(PEERS if frame.exclude_time else 1)} PRECEDING"


def needs_order(frame: Frame) -> bool:
    """True if a frame needs orders: ROWS can't express it, nor RANGE by key if it ends before the current row."""
    if frame.kind is Kind.ROWS_RANGE and frame.end:
        return frame.maxsize is not None or frame.instance_not_in_window
    reaches_back = frame.kind is Kind.ROWS_RANGE and frame.start is not None
    return reaches_back or frame.exclude_time or frame.instance_not_in_window


def can_run(frame: Frame) -> bool:
    """True if running aggregates may give a frame's: it has all rows up to the current one but for too old keys."""
    flags = frame.maxsize is not None or frame.exclude_time or frame.instance_not_in_window
    return frame.kind is Kind.ROWS_RANGE and frame.start is not None and frame.end == 0 and not flags


def by_key(frame: Frame) -> bool:
    """True if a frame is SQL's RANGE over the key."""
    return frame.kind is Kind.ROWS_RANGE and frame.end > 0 and not needs_order(frame)


def rows_between(start: int | None, end: int) -> str:
    """Spark frame of so many rows; a start of 2^31 or more is unbounded."""
    first = "CURRENT ROW" if start == 0 else f"{start} PRECEDING"
    if start is None or start >= 2**31:
        first = "UNBOUNDED PRECEDING"
    return f"ROWS BETWEEN {first} AND {'CURRENT ROW' if end == 0 else f'{end} PRECEDING'}"


def row_set(frame: Frame, *, unions: bool, literal: Literal, keyed: bool = False, running: bool = False) -> RowSet:
    """The rows of a frame.

    Args:
        unions: True if the window has UNION tables.
        literal: writes distances between orders.
        keyed: True if the stream is ordered by the key itself, for a frame that is SQL's RANGE (`by_key`).
        running: True if its aggregates can be subtracted, for a frame that `can_run`.
    """
    if running and frame.start is not None:
        gone = f"RANGE BETWEEN UNBOUNDED PRECEDING AND {frame.start + 1} PRECEDING"
        return RowSet(Remaining(rows_between(None, 0 if frame.with_current else 1), gone))
    if keyed:
        start = "UNBOUNDED PRECEDING" if frame.start is None else f"{frame.start} PRECEDING"
        return RowSet(Framed(f"RANGE BETWEEN {start} AND {frame.end} PRECEDING"))
    if frame.exclude_time or frame.instance_not_in_window:
        return _flagged(frame, unions, literal)
    if frame.kind is Kind.ROWS:
        end = frame.end or int(frame.exclude_row)
        return RowSet(None if frame.start is not None and frame.start < end else Framed(rows_between(frame.start, end)))
    return _plain_range(frame, literal)


def _plain_range(frame: Frame, literal: Literal) -> RowSet:
    first = 0 if frame.with_current else 1
    newest = None if frame.maxsize is None else rows_between(first + frame.maxsize - 1, first)
    if frame.end == 0 and frame.start is None:
        return RowSet(Framed(newest or rows_between(None, first)))
    end = "CURRENT ROW" if frame.with_current else reach_end(frame, literal)
    everything = Framed(f"RANGE BETWEEN {reach_back(frame.start, literal)} AND {end}")
    if frame.maxsize is None:
        return RowSet(everything)
    if frame.end == 0:
        return RowSet(Limited(frame.maxsize, everything, Framed(newest or "")))
    attached = Attached(rows_between(frame.maxsize - 1, 0), reach_end(frame, literal))
    return RowSet(attached if frame.start is None else Limited(frame.maxsize, everything, attached))


def _flagged(frame: Frame, unions: bool, literal: Literal) -> RowSet:
    """With EXCLUDE CURRENT_TIME or INSTANCE_NOT_IN_WINDOW: earlier rows and the current row."""
    add = frame.with_current
    only = frame.instance_not_in_window
    reach = reach_end(frame, literal)
    if only and not unions:
        return RowSet(None, add)
    if frame.kind is Kind.ROWS_RANGE and frame.exclude_time and frame.start == 0:
        return RowSet(None, add)
    if frame.kind is Kind.ROWS:
        skipped = max(frame.end, 1) - 1
        taken = None if frame.start is None else frame.start - skipped
        if taken is not None and taken <= 0:
            return RowSet(None, add)
        if taken is None and not skipped:
            return RowSet(Framed(f"RANGE BETWEEN UNBOUNDED PRECEDING AND {reach}", only), add)
        return RowSet(Attached(rows_between(None if taken is None else skipped + taken - 1, skipped), reach, only), add)
    everything = Framed(f"RANGE BETWEEN {reach_back(frame.start, literal)} AND {reach}", only)
    if frame.maxsize is None:
        return RowSet(everything, add)
    most = frame.maxsize - int(add)
    if most == 0:
        return RowSet(None, add)
    attached = Attached(rows_between(most - 1, 0), reach, only)
    return RowSet(attached if frame.start is None else Limited(most, everything, attached), add)
