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
    """The value of a constant offset, which may be negative; None for a computed offset."""
    if isinstance(offset, exp.Neg):
        inner = _number(offset.this)
        return None if inner is None else -inner
    return float(offset.name) if isinstance(offset, exp.Literal) and offset.is_number else None


def _sign(offset: exp.Expr) -> int:
    """-1 for a negative offset such as `-1` or `INTERVAL -'1' SECOND`, 0 for 0, else 1."""
    number = _number(offset)
    if number is not None:
        return (number > 0) - (number < 0)
    length = offset.this if isinstance(offset, exp.Interval) else None
    return -1 if isinstance(length, exp.Neg) or (length is not None and length.name.strip().startswith("-")) else 1


def ends_before_start(frame: exp.WindowSpec) -> bool:
    """Whether a frame's end lies before its start, as in `CURRENT ROW AND 1 PRECEDING`."""
    (first, start), (last, end) = bound(frame, "start"), bound(frame, "end")
    if any(offset is not None and _sign(offset) < 0 for offset in (start, end)):
        from_, to = (0 if way == 0 else _number(offset) for way, offset in ((first, start), (last, end)))
        return from_ is not None and to is not None and from_ * first > to * last
    if first != last:
        return first > last
    from_, to = _number(start), _number(end)
    return abs(first) == 2 or (from_ is not None and to is not None and from_ * first > to * last)


def leaves_peers_out(frame: exp.WindowSpec) -> bool:
    """Whether a RANGE frame never holds the current row, so that it is empty in Flink where the key is NULL.

    In Spark the rows with NULL are in the frame of each other, whatever its offsets are.
    """
    (first, start), (last, end) = bound(frame, "start"), bound(frame, "end")
    if (frame.args.get("kind") or "").upper() != "RANGE" or start is None or end is None:
        return False
    return not first * _sign(start) <= 0 <= last * _sign(end)
