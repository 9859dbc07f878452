"""Frames as values: which rows a window function sees for a row, whatever dialect says so.

The candidates for a row are the rows before it in its partition, ordered by key, then rows of UNION tables before
rows of the main table, then arrival. A frame counts them (`ROWS`) or goes by their key (`ROWS_RANGE`).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from dbt.adapters.sparkstream.sql.core.errors import PartError


class Kind(str, Enum):
    """Measure of a frame's bounds: a number of rows, or a distance of keys."""

    ROWS = "ROWS"
    ROWS_RANGE = "ROWS_RANGE"


@dataclass(frozen=True)
class Bound:
    """A bound as written.

    Attributes:
        offset: how far before the current row, in rows or in units of the key (milliseconds of a timestamp);
            None is UNBOUNDED, 0 the current row.
        open: True if the bound itself is out (`OPEN PRECEDING`).
        timed: True if the offset is written with a unit of time.
    """

    offset: int | None
    open: bool = False
    timed: bool = False


CURRENT_ROW = Bound(0)
UNBOUNDED = Bound(None)


@dataclass(frozen=True)
class Frame:
    """The rows that a window function sees.

    Attributes:
        kind: whether bounds count rows or go by the key.
        start: distance of the oldest row, inclusive; None is unbounded.
        end: distance of the newest row, inclusive; 0 is the current row.
        maxsize: at most so many rows, the newest ones; None is no limit.
        exclude_time: without the other rows that have the current row's key.
        exclude_row: without the current row.
        instance_not_in_window: without the other rows of the main table.
        unitless: True if its bounds are numbers in a dialect that writes lengths of time as intervals.
    """

    kind: Kind
    start: int | None
    end: int
    maxsize: int | None = None
    exclude_time: bool = False
    exclude_row: bool = False
    instance_not_in_window: bool = False
    unitless: bool = False

    @classmethod
    def of(
        cls,
        kind: Kind,
        start: Bound,
        end: Bound,
        *,
        maxsize: int | None = None,
        **flags: bool,
    ) -> Frame:
        """A frame from its bounds as written: OPEN is folded into the bounds, one row or one unit inward.

        Args:
            flags: `exclude_time`, `exclude_row`, `instance_not_in_window` and `unitless`.

        Raises:
            PartError: the bounds or MAXSIZE make no frame.
        """
        for part, bound in (("start", start), ("end", end)):
            if kind is Kind.ROWS and bound.timed:
                raise PartError(
                    part,
                    "a frame of ROWS counts rows, and this is a length of time",
                    "write a number of rows, or ROWS_RANGE for a length of time",
                )
        if end.offset is None:
            raise PartError("end", "a frame can't end at UNBOUNDED PRECEDING", "write AND CURRENT ROW")
        oldest = start.offset if start.offset is None else start.offset - start.open
        newest = end.offset + end.open
        if oldest is not None and oldest < max(newest, 0):
            raise PartError(
                "start",
                "this frame starts after it ends",
                "write the bound that lies farther back first: BETWEEN 3 PRECEDING AND 1 PRECEDING",
            )
        if maxsize is not None and kind is Kind.ROWS:
            raise PartError(
                "maxsize",
                "MAXSIZE is for ROWS_RANGE: a frame of ROWS has its size in its bounds",
                "write the number of rows as the start of the frame",
            )
        if maxsize is not None and maxsize < 1:
            raise PartError("maxsize", "MAXSIZE must be at least 1", "write MAXSIZE 1 or more, or leave it out")
        return cls(kind, oldest, max(newest, 0), maxsize, **flags)

    @property
    def with_current(self) -> bool:
        """True if the current row is in the frame."""
        return self.end == 0 and not self.exclude_row

    def words(self) -> str:
        """The frame in words, for a comment."""
        unit = "" if self.kind is Kind.ROWS else " (in the key's unit, milliseconds of a timestamp)"
        start = "unbounded" if self.start is None else f"{self.start}"
        end = "the current row" if self.end == 0 else f"{self.end}"
        parts = [f"{self.kind.value} from {start} back to {end}{unit if self.start or self.end else ''}"]
        if self.maxsize is not None:
            parts.append(f"the newest {self.maxsize}")
        if self.exclude_time:
            parts.append("without others of the same time")
        if self.exclude_row:
            parts.append("without the current row")
        if self.instance_not_in_window:
            parts.append("without other rows of the main table")
        return ", ".join(parts)
