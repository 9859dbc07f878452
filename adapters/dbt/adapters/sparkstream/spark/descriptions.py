"""Columns and types of tables, as Spark describes them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from dbt_common.exceptions import DbtDatabaseError

Columns = dict[str, str]
"""Column -> type."""

TABLE_MARK = "__sparkstream_table"
"""Column before the columns of each table in a description of several tables."""
KEPT_SECONDS = 10.0
"""Seconds for which a description is used again: another process may change a table at any time."""
READING = ("select", "describe", "show", "explain")
"""First words of statements that change no table."""


class Descriptions:
    """Columns of tables, as Spark describes them, kept until a statement may have changed a table.

    `dbt compile` of many models on few tables then asks Spark once for each table, and not once for each model.

    Args:
        rows_of: sends a DESCRIBE to Spark and gives its rows.
        clock: seconds that never go back.
    """

    def __init__(
        self, rows_of: Callable[[str], Sequence[Sequence[Any]]], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._rows_of = rows_of
        self._clock = clock
        self._lock = threading.Lock()
        self._known: dict[str, tuple[float, Columns]] = {}
        self._changes = 0

    def of(self, names: Sequence[str]) -> dict[str, Columns]:
        """Table -> its columns, for each of the tables that exists."""
        with self._lock:
            changes, now = self._changes, self._clock()
            found = {n: known[1] for n in names if (known := self._known.get(n)) and now - known[0] < KEPT_SECONDS}
        missing = [name for name in names if name not in found]
        asked = self._described_if_there(missing) if missing else {}
        with self._lock:
            # A statement that ended meanwhile may have changed a table after it was described.
            if changes == self._changes:
                self._known |= {name: (now, columns) for name, columns in asked.items()}
        return {name: dict(columns) for name, columns in (found | asked).items()}

    def sent(self, sql: str) -> None:
        """Drops all descriptions if a statement that Spark has run, or tried to run, may have changed a table."""
        if changes_tables(sql):
            self.forget()

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Drops all descriptions after the block, which may change tables without a call of `sent`."""
        try:
            yield
        finally:
            self.forget()

    def forget(self) -> None:
        """Drops all descriptions: tables may have changed."""
        with self._lock:
            self._changes += 1
            self._known.clear()

    def _described_if_there(self, names: list[str]) -> dict[str, Columns]:
        with suppress(DbtDatabaseError):  # `dbt compile` before `dbt build`: a table isn't there yet
            return self._described(names)
        described: dict[str, Columns] = {}
        for name in names if len(names) > 1 else []:
            with suppress(DbtDatabaseError):
                described |= self._described([name])
        return described

    def _described(self, names: list[str]) -> dict[str, Columns]:
        """Columns of tables, with one statement that reads no data."""
        columns = ", ".join(f"{i} AS {TABLE_MARK}, t{i}.*" for i in range(len(names)))
        relations = " CROSS JOIN ".join(f"{name} AS t{i}" for i, name in enumerate(names))
        described: dict[str, Columns] = {}
        remaining = iter(names)
        for row in self._rows_of(f"DESCRIBE QUERY SELECT {columns} FROM {relations}"):
            if row[0] == TABLE_MARK:
                table = described.setdefault(next(remaining), {})
            else:
                table[row[0]] = row[1]
        return described


def changes_tables(sql: str) -> bool:
    """True if a statement may change a table."""
    return not after_comments(sql)[:8].lower().startswith(READING)


def asks_columns(sql: str) -> bool:
    """True if a statement is a DESCRIBE, which reads only columns and types."""
    return after_comments(sql)[:8].lower() == "describe"


def after_comments(sql: str) -> str:
    """A statement without the comments before its first word; a comment that isn't closed stays."""
    sql = sql.lstrip()
    while sql.startswith(("--", "/*")) and (end := _end_of_comment(sql)):
        sql = sql[end:].lstrip()
    return sql


def _end_of_comment(sql: str) -> int:
    """Offset behind a comment, also with nested ones; 0 for an unclosed one."""
    if sql.startswith("--"):
        return sql.find("\n") + 1
    depth, at = 1, 2
    while depth:
        close = sql.find("*/", at)
        if close < 0:
            return 0
        opened = sql.find("/*", at, close)
        depth += 1 if opened >= 0 else -1
        at = (close if opened < 0 else opened) + 2
    return at
