"""Frames of OVER in Flink SQL."""

from __future__ import annotations

from sqlglot import exp

_SIDES = {"PRECEDING": -1, "FOLLOWING": 1}


def _bound(frame: exp.WindowSpec, side: str) -> tuple[int, exp.Expr | None]:
    """Where a bound lies: -2, -1, 0, 1 or 2, from UNBOUNDED PRECEDING to UNBOUNDED FOLLOWING; and its offset."""
    value = frame.args.get(side)
    way = _SIDES.get(str(frame.args.get(f"{side}_side") or "").upper(), 0)
    if isinstance(value, exp.Expr):
        return way, value
    return (2 * way if str(value).upper() == "UNBOUNDED" else 0), None


def _number(offset: exp.Expr | None) -> float | None:
    """The value of a constant offset; None for another one."""
    return float(offset.name) if isinstance(offset, exp.Literal) and offset.is_number else None


def ends_before_start(frame: exp.WindowSpec) -> bool:
    """Whether a frame's end lies before its start, as in `CURRENT ROW AND 1 PRECEDING`."""
    (first, start), (last, end) = _bound(frame, "start"), _bound(frame, "end")
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
    (first, start), (last, end) = _bound(frame, "start"), _bound(frame, "end")
    nearest = end if last < 0 else start
    return first == last and start is not None and end is not None and _number(nearest) != 0
