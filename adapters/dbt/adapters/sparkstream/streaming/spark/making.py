"""Tables made where a killed run may have left files that no table has.

The catalog forgets a table before its files go. Delta writes the first entry of a table's log before the catalog knows
the table. A run that is killed between leaves a folder in which Spark makes no table.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from dbt.adapters.sparkstream.spark.left_files import is_at, occupied
from dbt.adapters.sparkstream.streaming.refusals import StreamingError
from dbt.adapters.sparkstream.streaming.spark.engine import Engine


def make(
    engine: Engine, table: str, statement: str, clear: Callable[[str], None] | None = None, place: str | None = None
) -> None:
    """Makes a table, also where files lie in its folder and the catalog has no such table.

    Args:
        engine: the Spark that makes it.
        table: its name, as SQL has it.
        statement: makes it.
        clear: removes what is in the folder, or raises if it is somebody else's; by default it is removed, as the name
            is one that only the adapter gives.
        place: the folder that the statement names; None for the catalog's choice.

    Raises:
        StreamingError: what Spark says is wrong.
    """
    try:
        engine.sql(statement)
    except StreamingError as error:
        folder = occupied(error.fault)
        if folder is None or not is_at(folder, place or _managed(engine, table)):
            raise
        (clear or engine.folders.clear)(folder)
        engine.sql(statement)


def _managed(engine: Engine, table: str) -> str:
    """The folder that the catalog chooses for a table."""
    named = exp.to_table(table, dialect="spark")
    schema = ".".join(part.sql(dialect="spark") for part in named.parts[:-1])
    rows = engine.sql(f"DESCRIBE SCHEMA {schema}" if schema else "DESCRIBE SCHEMA default")
    root = next((str(row[1]) for row in rows if row[0] == "Location"), "")
    return f"{root.rstrip('/')}/{named.name.lower()}"
