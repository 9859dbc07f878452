"""Blocks of time, by which the rows of one key are split for several tasks.

A frame reaches from a row a length of time back or ahead. Time is cut into blocks many times as long, and each row is
in its own block, and as a copy in the block of any row whose frame may reach it:

    frames of the last 20 minutes, blocks of 320 minutes
    a row at 05:10 is in the block from 00:00, and as a copy in that from 05:20

So a window by key and block has each row's whole frame, and copies are left out behind it. A block may have rows that
no frame reaches: a day more on each side covers what a clock skips.
"""

from __future__ import annotations

from dataclasses import dataclass

from dbt.adapters.sparkstream.sql.core.interval import MICROS, Interval
from dbt.adapters.sparkstream.sql.core.writing import Query, Select
from dbt.adapters.sparkstream.sql.passes.optimize.clock import multiple

FRAMES_IN_BLOCK = 16
"""Frames in a block. One in so many rows is in two blocks."""
AT, BLOCK = "__at", "__block"
"""The columns with a row's time, and with the time at which the block begins."""


@dataclass(frozen=True)
class TimeBlocks:
    """Blocks for frames of some lengths.

    Attributes:
        time: a row's time as a BIGINT, an expression.
        first: the time of the earliest row whose frame reaches a row, less that row's time; 0 or less.
        last: the same of the latest row; 0 or more.
        unit: microseconds in a unit of the time; None of numbers that aren't known to be times.
    """

    time: str
    first: int
    last: int
    unit: int | None

    @property
    def length(self) -> int:
        """Length of a block: frames of less than a second count as a second."""
        return FRAMES_IN_BLOCK * max(self.last - self.first, MICROS["SECOND"] // self.unit if self.unit else 1)

    @property
    def comment(self) -> str:
        """Comment in the query, for people."""
        length = Interval(self.length * self.unit).words() if self.unit else self.length
        return f"skewed: the rows of a key in blocks of {length}, with copies of rows that frames of others reach"

    @property
    def column(self) -> str:
        """The item of the rows' SELECT list that `copied` needs."""
        return f"{self.time} AS {AT}"

    def copied(self, rows: Query, alias: str) -> Select:
        """Rows with their time, each in its block and in those that need a copy; without a time, in the block NULL."""
        times = (f"{AT} {'-' if by < 0 else '+'} {abs(by)}" if by else AT for by in (self.first, self.last))
        first, last = (multiple(time, self.length) for time in times)
        return Select(["*"], rows, alias, views=[f"OUTER explode(sequence({first}, {last}, {self.length})) AS {BLOCK}"])

    @property
    def is_own(self) -> str:
        """Condition that a row is no copy."""
        return f"{multiple(AT, self.length)} <=> {BLOCK}"
