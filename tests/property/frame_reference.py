"""Reference for frames, worked out row by row from OpenMLDB's rules: slow, and easy to check by eye.

For a row c with key k(c): take the rows of its partition that come before it in the stream, which is ordered by key,
then rows of UNION tables before rows of the main table, later-listed tables before earlier-listed ones, then arrival.
Drop what INSTANCE_NOT_IN_WINDOW and EXCLUDE CURRENT_TIME drop; put c in front; cut the frame; drop c for EXCLUDE
CURRENT_ROW; keep the newest MAXSIZE rows.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Row:
    """A row of the main table (source 0) or of a UNION table (1, 2, ... as the window lists them)."""

    id: int
    source: int
    arrival: int
    partition: Any
    key: int
    value: int | None
    category: str | None


@dataclass(frozen=True)
class Frame:
    """A frame with OPEN folded in; start None is unbounded."""

    rows: bool
    start: int | None
    end: int
    maxsize: int | None = None
    exclude_time: bool = False
    exclude_row: bool = False
    instance_not_in_window: bool = False


def stream_order(row: Row) -> tuple[int, int, int]:
    return row.key, -row.source, row.arrival


def candidates(current: Row, rows: list[Row], frame: Frame) -> list[Row]:
    """The list that positions count in: the current row, then what comes before it, newest first."""
    before = [
        r
        for r in rows
        if r is not current and r.partition == current.partition and stream_order(r) < stream_order(current)
    ]
    if frame.instance_not_in_window:
        before = [r for r in before if r.source > 0]
    if frame.exclude_time:
        before = [r for r in before if r.key != current.key]
    return [current, *sorted(before, key=stream_order, reverse=True)]


def frame_of(current: Row, rows: list[Row], frame: Frame) -> list[Row]:
    """The rows of a frame, newest first."""
    listed = candidates(current, rows, frame)
    if frame.rows:
        kept = listed[frame.end : None if frame.start is None else frame.start + 1]
    else:
        latest = current.key - frame.end
        oldest = None if frame.start is None else current.key - frame.start
        # With an end of 0 the current row and earlier rows of its key are in; otherwise it is a matter of keys.
        kept = [r for r in listed if r.key <= latest and (oldest is None or r.key >= oldest)]
    if frame.end == 0 and frame.exclude_row:
        kept = kept[1:]
    if frame.maxsize is not None:
        kept = kept[: frame.maxsize]
    return kept


def int32(total: int) -> int:
    """A sum of ints, which wraps."""
    return (total + 2**31) % 2**32 - 2**31


def _values(rows: list[Row]) -> list[int]:
    return [r.value for r in rows if r.value is not None]


def _groups(rows: list[Row]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for row in rows:
        if row.value is not None and row.category is not None:
            found.setdefault(row.category, []).append(row.value)
    return found


def evaluate(function: str, current: Row, rows: list[Row], frame: Frame) -> Any:
    """What a function gives for a row."""
    inside = frame_of(current, rows, frame)
    values = _values(inside)
    if function == "ids":
        return [r.id for r in reversed(inside)]
    if function == "sum":
        return int32(sum(values)) if values else None
    if function == "count":
        return len(values)
    if function == "count_all":
        return len(inside)
    if function == "min":
        return min(values, default=None)
    if function == "max":
        return max(values, default=None)
    if function == "avg":
        return sum(values) / len(values) if values else None
    if function == "first_value":
        return inside[-1].value if inside else None
    if function == "last_value":
        return inside[0].value if inside else None
    if function == "first_known":
        return values[-1] if values else None
    if function == "distinct_count":
        return len({r.value or 0 for r in inside})
    if function == "count_where":
        return sum(r.value is not None and r.category == "a" for r in inside)
    if function == "sum_where":
        chosen = _values([r for r in inside if r.category == "a"])
        return int32(sum(chosen)) if chosen else None
    if function == "sum_cate":
        return ",".join(f"{k}:{int32(sum(v))}" for k, v in sorted(_groups(inside).items()))
    if function == "top":
        return ",".join(str(v) for v in sorted(values, reverse=True)[:2])
    if function == "topn_frequency":
        counts = sorted(Counter(values).items(), key=lambda item: (-item[1], item[0]))
        return ",".join([str(v) for v, _ in counts[:2]] + ["NULL"] * (2 - len(counts))) if inside else ""
    if function.startswith("lag_"):  # lag_2: of all candidates; lag_in_2: within the frame
        *_, back = function.split("_")
        listed = inside if "_in_" in function else candidates(current, rows, frame)
        return listed[int(back)].value if int(back) < len(listed) else None
    if function == "nested":  # sum(v - count(v))
        return sum(v - len(values) for v in values) if values else None  # a bigint
    raise AssertionError(function)
