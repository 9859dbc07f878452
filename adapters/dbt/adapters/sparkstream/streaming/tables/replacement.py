"""Rows of a streaming table that others take the place of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


class Condition(Protocol):
    """Says as SQL which rows of a table go, where their columns have a prefix such as `t.`."""

    def __call__(self, prefix: str = "") -> str: ...


@dataclass(frozen=True)
class Replacement:
    """Rows that others take the place of.

    Attributes:
        goes: which rows of the table go.
        rows: a view of the rows that come in their place, with the columns of the table but the micro-batch's number.
        key: the column with the time by which rows go: all that go have one.
        batch: the number that the new rows get: the number of a micro-batch that is done.
        removed: how many rows go.
        added: how many come.
    """

    goes: Condition
    rows: str
    key: str
    batch: int
    removed: int
    added: int
