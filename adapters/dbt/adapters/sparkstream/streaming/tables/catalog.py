"""Tables in the catalog: descriptions, names, and CREATE over the files of a killed run.

The catalog forgets a table before its files go. Delta writes the first entry of a table's log before the catalog knows
the table. A run that is killed between leaves a folder in which Spark makes no table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from sqlglot import exp

from dbt.adapters.sparkstream.spark.left_files import is_at, occupied
from dbt.adapters.sparkstream.sql.core.literals import string_literal
from dbt.adapters.sparkstream.streaming.ledger import PREFIX, Ledger
from dbt.adapters.sparkstream.streaming.refusals import StreamingError, ignored
from dbt.adapters.sparkstream.streaming.spark.engine import Engine
from dbt.adapters.sparkstream.streaming.tables.formats import BATCH, format_of

Appended = dict[int, tuple[int, int | None]]
"""Micro-batch -> rows that it has appended to a model's table, and windows where columns tell them."""


@dataclass(frozen=True)
class Facts:
    """Description of a table in the catalog.

    Attributes:
        may_have_ledger: False if the text of its properties has none of ours: no statement has to ask for them.
        kind: `MANAGED`, `EXTERNAL` or `VIEW`.
        created: time of its creation, as the catalog writes it; in Delta and Iceberg an id, which a new table hasn't.
    """

    may_have_ledger: bool
    kind: str
    location: str
    created: str
    query: str = ""
    namespace: str = ""
    provider: str = ""
    comment: str = ""

    @classmethod
    def of(cls, engine: Engine, table: str) -> Facts:
        found: dict[str, str] = {}
        details = False
        for row in engine.sql(f"DESCRIBE TABLE EXTENDED {table}"):
            details = details or str(row[0]).startswith("# Detailed Table")
            if details and row[0]:
                found.setdefault(str(row[0]), str(row[1]))
        identity = format_of(found.get("Provider", "")).identity
        found["Created Time"] = identity(engine.sql, table, found.get("Created Time", ""))
        names = ("Type", "Location", "Created Time", "View Text", "View Catalog and Namespace", "Provider", "Comment")
        return cls(PREFIX in found.get("Table Properties", ""), *(found.get(name, "") for name in names))


def properties_of(engine: Engine, table: str) -> dict[str, str] | None:
    """Properties that are recorded of a table, by keys without `PREFIX`; None for no table of this name."""
    with ignored("TABLE_OR_VIEW_NOT_FOUND", "SCHEMA_NOT_FOUND"):
        rows = engine.sql(f"SHOW TBLPROPERTIES {table}")
        return {str(r[0])[len(PREFIX) :]: str(r[1]) for r in rows if str(r[0]).startswith(PREFIX)}
    return None


def ledger_of(engine: Engine, table: str) -> Ledger | None:
    """Ledger in the properties of a table; None for no table, or one that no streaming model has made."""
    return Ledger.read(properties_of(engine, table) or {})


def suffixed(table: str, suffix: str) -> str:
    """A table's name with a suffix, as SQL has it."""
    return f"{table[:-1]}{suffix}`" if table.endswith("`") else f"{table}{suffix}"


def _parsed(table: str) -> exp.Table:
    """A table's name as SQL has it, in parts; a StreamingError for a text that is no name."""
    try:
        return exp.to_table(table, dialect="spark")
    except ValueError as error:  # sqlglot splits what it can't parse at its dots
        raise StreamingError(
            f"alias: {table} is no name of a table\n  write a name of letters, digits and underscores"
        ) from error


def schema_folder(engine: Engine, table: str) -> str:
    """The folder of a table's schema, without a slash at its end; by the table's name as SQL has it."""
    schema = ".".join(part.sql(dialect="spark") for part in _parsed(table).parts[:-1])
    rows = engine.sql(f"DESCRIBE SCHEMA {schema or 'default'}")
    return next((str(row[1]) for row in rows if row[0] == "Location"), "").rstrip("/")


def is_in_catalog(table: str) -> bool:
    """True if a table is in a catalog other than spark_catalog, by its name as SQL has it."""
    catalog = _parsed(table).catalog
    return bool(catalog) and catalog.casefold() != "spark_catalog"


def pairs(facts: Mapping[str, str]) -> str:
    """Facts as properties of a table, as SQL."""
    return given({PREFIX + name: value for name, value in facts.items()})


def given(properties: Mapping[str, str]) -> str:
    """Properties of a table, as SQL."""
    return ", ".join(f"{string_literal(name)} = {string_literal(value)}" for name, value in properties.items())


def batch_of(file: str) -> int | None:
    """The micro-batch that a data file belongs to, by the folder it is in."""
    for part in reversed(file.split("/")):
        name, equals, value = part.partition("=")
        if equals and name.casefold() == BATCH:
            return int(value) if value.lstrip("-").isdigit() else None
    return None


def up_to(files: Iterable[str], last: int) -> list[str]:
    """Data files that micro-batches up to and with `last` have written."""
    return [name for name in files if (batch := batch_of(name)) is not None and batch <= last]


def make(
    engine: Engine, table: str, statement: str, clear: Callable[[str], None] | None = None, place: str | None = None
) -> None:
    """Makes a table, also where files lie in its folder and the catalog has no such table.

    Args:
        clear: empties the folder, or raises if it isn't the table's; by default it is emptied, as the name
            is one that only the adapter gives.
        place: the folder that the statement names; None for the catalog's choice.
    """
    try:
        engine.sql(statement)
    except StreamingError as error:
        (clear or engine.folders.clear)(left_in(engine, table, error, place))
        engine.sql(statement)


def left_in(engine: Engine, table: str, error: StreamingError, place: str | None = None) -> str:
    """The folder of a table that Spark can't make, as files lie in it (`place`: see `make`); raises any other error."""
    folder = occupied(error.fault)
    if folder is None or not is_at(folder, place or f"{schema_folder(engine, table)}/{_parsed(table).name.lower()}"):
        raise error
    return folder
