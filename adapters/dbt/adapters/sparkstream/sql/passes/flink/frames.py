"""Frames of OVER in Flink SQL."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.over import WindowParts, bound, named, parts_of


def is_unheeded(window: exp.Window) -> bool:
    """Whether a window adds a frame to a named window, `OVER (w ROWS 1 PRECEDING)`: Flink ignores this frame."""
    return window.args.get("spec") is not None and named(window) is not None


def heeded(window: exp.Window) -> WindowParts:
    """What a window says, as far as Flink takes notice of it."""
    parts, base = parts_of(window), named(window)
    if base is None:
        return parts
    return replace(parts, frame=None if is_unheeded(window) else heeded(base).frame)


def _number(offset: exp.Expr | None) -> float | None:
    """The value of a constant offset; None for a computed offset."""
    return float(offset.name) if isinstance(offset, exp.Literal) and offset.is_number else None


def ends_before_start(frame: exp.WindowSpec) -> bool:
    """Whether a frame's end lies before its start, as in `CURRENT ROW AND 1 PRECEDING`."""
    (first, start), (last, end) = bound(frame, "start"), bound(frame, "end")
    if first != last:
        return first > last
    from_, to = _number(start), _number(end)
    return abs(first) == 2 or (from_ is not None and to is not None and from_ * first > to * last)


def leaves_peers_out(frame: exp.WindowSpec) -> bool:
    """Whether a RANGE frame never holds the current row, so that it is empty in Flink where the key is NULL.

    In Spark the rows with NULL are in the frame of each other, whatever its offsets are.
    """
    if (frame.args.get("kind") or "").upper() != "RANGE":
        return False
    (first, start), (last, end) = bound(frame, "start"), bound(frame, "end")
    nearest = end if last < 0 else start
    return first == last and start is not None and end is not None and _number(nearest) != 0
