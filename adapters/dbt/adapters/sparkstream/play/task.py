"""Task of the page: tables with rows, and a query on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dbt.adapters.sparkstream.sql.dialects import DIALECTS

MOST_TABLES = 8
MOST_COLUMNS = 40
MOST_ROWS = 500
"""Most rows of one table."""
MOST_SQL = 20_000
"""Most characters of a query."""


class PlayError(ValueError):
    """Error of a query or table that the playground doesn't run; the message says why."""


@dataclass(frozen=True)
class Table:
    """A table of the page.

    Attributes:
        name: its name.
        columns: name and type of each column.
        rows: its rows, whose values are texts; None is NULL.
    """

    name: str
    columns: tuple[tuple[str, str], ...]
    rows: tuple[tuple[str | None, ...], ...]


@dataclass(frozen=True)
class Task:
    """A query and its tables.

    Attributes:
        arrival: the column that numbers rows in order of arrival, or None.
    """

    sql: str
    dialect: str
    tables: tuple[Table, ...]
    arrival: str | None = None

    @classmethod
    def read(cls, data: Any) -> Task:
        """The task that the page has sent.

        Raises:
            PlayError: it is no task, or more than the playground takes.
        """
        _check(isinstance(data, dict), "the request is no JSON object")
        sql, dialect, arrival = data.get("sql"), data.get("dialect"), data.get("arrival") or None
        _check(isinstance(sql, str) and bool(sql.strip()), "there is no SQL; write a query")
        _check(len(sql) <= MOST_SQL, f"the SQL has {len(sql):,} characters, and {MOST_SQL:,} is the most")
        _check(dialect in DIALECTS, f"the dialect is not one of {', '.join(DIALECTS)}")
        _check(arrival is None or isinstance(arrival, str), "arrival is a column's name")
        tables = data.get("tables")
        _check(isinstance(tables, list), "tables is no list")
        _check(len(tables) <= MOST_TABLES, f"there are {len(tables)} tables, and {MOST_TABLES} is the most")
        read = tuple(_table(table) for table in tables)
        names = [table.name.casefold() for table in read]
        twice = next((t.name for t in read if names.count(t.name.casefold()) > 1), None)
        _check(twice is None, f"two tables are called {twice}")
        return cls(sql, dialect, read, arrival)


def _table(data: Any) -> Table:
    _check(isinstance(data, Mapping), "a table is no JSON object")
    name, columns, rows = data.get("name"), data.get("columns"), data.get("rows")
    _check(isinstance(name, str) and bool(name.strip()), "a table has no name")
    _check(_is_grid(columns, 2, nullable=False), f"{name}: a column is no pair of a name and a type")
    _check(0 < len(columns) <= MOST_COLUMNS, f"{name} has {len(columns)} columns; a table has 1 to {MOST_COLUMNS}")
    for column, type_ in columns:
        _check(bool(column.strip()), f"{name}: a column has no name")
        _check(bool(type_.strip()), f"{name}: column {column} has no type")
    _check(_is_grid(rows, len(columns), nullable=True), f"{name}: a row hasn't a text or null for each column")
    _check(len(rows) <= MOST_ROWS, f"{name} has {len(rows):,} rows, and {MOST_ROWS} is the most")
    return Table(name.strip(), tuple((c.strip(), t.strip()) for c, t in columns), tuple(tuple(row) for row in rows))


def _is_grid(data: Any, width: int, *, nullable: bool) -> bool:
    """True if the data is a list of rows of `width` texts, or of None, too, where `nullable`."""

    def is_line(line: Any) -> bool:
        return (
            isinstance(line, Sequence)
            and not isinstance(line, str)
            and len(line) == width
            and all(isinstance(value, str) or (nullable and value is None) for value in line)
        )

    return isinstance(data, list) and all(is_line(line) for line in data)


def _check(holds: bool, message: str) -> None:
    if not holds:
        raise PlayError(message)
