"""The rows of a table against those that it should have."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Difference:
    """What a table lacks, and what it has too much of.

    Attributes:
        rows: how many it should have.
        lost: rows that it should have and hasn't, as often as they are missing.
        doubled: rows that it should have and has more often, as often as that.
        strange: rows that it shouldn't have at all, such as a window with another sum.
    """

    rows: int
    lost: Counter[str]
    doubled: Counter[str]
    strange: Counter[str]

    def __bool__(self) -> bool:
        return bool(self.lost or self.doubled or self.strange)

    def lines(self, most: int = 20) -> list[str]:
        """The rows that differ, the first of each sort."""
        sorts = (("lost", self.lost), ("doubled", self.doubled), ("strange", self.strange))
        told = []
        for name, rows in sorts:
            told += [f"{name}: {row} ({count} times)" for row, count in sorted(rows.items())[:most]]
            told += [f"{name}: and {len(rows) - most} other rows"] if len(rows) > most else []
        return told


def compare(table: Iterable[Mapping[str, Any]], batch: Iterable[Mapping[str, Any]]) -> Difference:
    """Compares rows as multisets: by the names of their columns, in any order."""
    has = Counter(json.dumps(row, sort_keys=True) for row in table)
    wanted = Counter(json.dumps(row, sort_keys=True) for row in batch)
    more = has - wanted
    return Difference(
        rows=wanted.total(),
        lost=wanted - has,
        doubled=Counter({row: count for row, count in more.items() if row in wanted}),
        strange=Counter({row: count for row, count in more.items() if row not in wanted}),
    )


def is_complete(rows: str, least: int | None, complete: Sequence[int], swaps: bool = False) -> bool:
    """Whether a table was found whole: with the rows of some moment, none older than before.

    Args:
        rows: how many rows of its source it has, or another word where there is no table.
        least: how many it had the last time; None where it was not there.
        complete: how many rows the source had after each file that came.
        swaps: True if a kill may leave no table for the time until the next run.
    """
    if not rows.isdigit():
        return least is None or swaps
    return int(rows) in complete and int(rows) >= (least or 0)
