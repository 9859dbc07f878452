"""Moments to kill at: a chosen time, a new file of a model's table, or just before a statement."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

CHECKPOINTS = "_sparkstream"
"""The folder beside the tables that has the checkpoints."""
STATE = ("state", "sources")
"""Folders of a checkpoint in which there is nothing to see."""
DEEPEST = 6


@dataclass(frozen=True)
class Moment:
    """A moment to aim at.

    Attributes:
        name: for the report.
        seen: True if a path within the folder of the tables says that the moment has come, when it appears or goes;
            None for a moment by the clock, or before a statement.
        statement: a part of the statement that names the table: dbt waits before it, to be killed; empty for no
            statement.
    """

    name: str
    seen: Callable[[str], bool] | None = None
    statement: str = ""


def _in(folder: str) -> Callable[[str], bool]:
    """A file with a number for its name, in a folder of a checkpoint."""

    def seen(path: str) -> bool:
        above, _, name = path.rpartition("/")
        return above.rpartition("/")[2] == folder and name.isdigit()

    return seen


STARTING = Moment("starting")
"""Before the first model starts."""
WHENEVER = Moment("whenever")
"""At any time while models run."""
OFFSETS = Moment("offsets", _in("offsets"))
"""A micro-batch has begun."""
RECORDED = Moment("recorded", lambda path: "_done/" in path)
"""The rows are in the table, and a note of it is being made: where the table itself doesn't tell all."""
COMMITS = Moment("commits", _in("commits"))
"""A micro-batch is over."""
STAGING = Moment("staging", lambda path: "/.spark-staging" in path or "/_temporary" in path)
"""Data files are being written aside."""
MOVED = Moment("moved", lambda path: "=" in path.rpartition("/")[2] and "/." not in path and "/_" not in path)
"""The first folder of a partition is in the table's folder, and not in the catalog yet."""
CORRECTED = Moment("corrected", lambda path: "/_corrected/" in path)
"""A partition of a table of files is being written anew, with windows that late rows have corrected."""
SWAPPED = Moment("swapped", lambda path: "/" not in path)
"""A folder of the table, or of one that is built beside it, has appeared or gone."""

DROPPING = Moment("dropping", statement="DROP TABLE")
"""A table aside has all rows, and the table whose place it takes is there still; or the table aside is given up."""
BETWEEN = Moment("between", statement="RENAME TO")
"""The catalog has forgotten a table, and the one that takes its place hasn't its name yet."""

REPLACING = Moment("replacing", statement="CREATE OR REPLACE TABLE")
"""A table aside has all rows, and the commit that puts them into the table in Delta or Iceberg isn't there yet."""

COMMITTED = Moment("committed", lambda path: "/_delta_log/" in path or "/metadata/" in path)
"""Delta or Iceberg commits what a statement has done to the table."""

STREAM = (WHENEVER, OFFSETS, STAGING, MOVED, MOVED, COMMITS)
BATCH = (WHENEVER, STAGING, MOVED, SWAPPED, SWAPPED)


def paths(warehouse: Path, table: str) -> set[str]:
    """What lies in the folders of a table, of its checkpoint, and of tables named like it with `__` and more."""
    found: set[str] = set()
    for entry in _entries(warehouse / CHECKPOINTS):
        if entry.name.startswith((f"{table}-", f"{table}__")):
            found.update(_below(Path(entry.path), f"{CHECKPOINTS}/{entry.name}", 1))
    for entry in _entries(warehouse):
        if entry.name == table or entry.name.startswith(f"{table}__"):
            found.add(entry.name)
            found.update(_below(Path(entry.path), entry.name, 1))
    return found


def _below(folder: Path, prefix: str, depth: int) -> Iterator[str]:
    for entry in _entries(folder):
        path = f"{prefix}/{entry.name}"
        yield path
        if depth < DEEPEST and entry.name not in STATE and entry.is_dir(follow_symlinks=False):
            yield from _below(Path(entry.path), path, depth + 1)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:  # it has gone meanwhile
        return []
