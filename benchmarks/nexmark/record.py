"""Computes the queries in DuckDB, with other SQL than the models', and records the results for the tests.

    python -m benchmarks.nexmark.record --events 20000 100000

Needs duckdb. The events themselves are added up in Python, so that the tests also notice a file read wrongly.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from dataclasses import astuple, fields
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.nexmark import generator
from benchmarks.nexmark.results import Result, record, result

if TYPE_CHECKING:
    import duckdb

SQL = Path(__file__).parent / "duckdb"
SHARED = ("winners", "ranked")
"""Temporary tables that several queries read."""
QUERIES = [f"q{number}" for number in range(23) if number != 12]
COLUMN_TYPES = {"int": "bigint", "str": "varchar", "datetime": "timestamp"}


def generated(events: int) -> dict[str, Result]:
    """The results of reading the generator's tables whole."""
    rows: dict[type, list[tuple[Any, ...]]] = {row_type: [] for row_type in generator.TABLES.values()}
    for event in islice(generator.Generator(), events):
        rows[type(event)].append(astuple(event))
    rows[generator.SideInput] = [astuple(row) for row in generator.side_input()]
    return {
        name: result([field.name for field in fields(row_type)], rows[row_type])
        for name, row_type in generator.TABLES.items()
    }


def computed(events: int) -> Iterator[tuple[str, Result]]:
    """The results of the queries in DuckDB."""
    import duckdb

    with tempfile.TemporaryDirectory() as folder, duckdb.connect() as connection:
        generator.write(Path(folder), events)
        for name, row_type in generator.TABLES.items():
            _load(connection, name, row_type, Path(folder) / f"{name}.csv")
        for name in SHARED:
            connection.execute(sql(name))
        for name in QUERIES:
            cursor = connection.execute(sql(name))
            assert cursor.description is not None
            yield name, result([column[0] for column in cursor.description], cursor.fetchall())


def _load(connection: duckdb.DuckDBPyConnection, name: str, row_type: type, file: Path) -> None:
    columns = {field.name: COLUMN_TYPES[str(field.type)] for field in fields(row_type)}
    connection.execute(f"create table {name} as from read_csv(?, header = true, columns = {columns!r})", [str(file)])


def sql(name: str) -> str:
    """A query's text in DuckDB's SQL."""
    return (SQL / f"{name}.sql").read_text(encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.nexmark.record", description=__doc__.splitlines()[0])
    parser.add_argument("--events", type=int, nargs="+", default=[generator.EVENTS], help="(%(default)s)")
    for events in parser.parse_args().events:
        print(record(events, {**generated(events), **dict(computed(events))}))


if __name__ == "__main__":
    main()
