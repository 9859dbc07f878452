"""Formats of tables and folders: a record for each, with all facts that a run needs of it.

A new format is a record here, a class in `job._TABLES`, and a sink in `worker`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dbt.adapters.sparkstream.streaming.ledger import PREFIX
from dbt.adapters.sparkstream.streaming.refusals import StreamingError

Ask = Callable[[str], Sequence[Any]]
"""Function that runs a statement of SQL, and returns its rows."""


BATCH = "micro_batch"
"""Column, and partition, with the number of the micro-batch that has appended a row."""


@dataclass(frozen=True)
class Format:
    """Storage format of a table, and its features.

    Attributes:
        name: as SQL has it, after USING.
        is_files: True if a table is the files in a folder, with no list of their own.
        has_log: True if a table has a log of its commits.
        numbers_rows: True if a column has the number of the micro-batch that has appended a row.
        compacts: True if `compact_every` puts rows into few files.
        clusters: True if a table can be clustered by `liquid_clustered_by`.
        passes_changes: options with which a stream skips commits that have changed rows of a table.
        identity: returns a text that differs for a new table of the same name, by its creation in the catalog.
        check_beginning: refuses a table if a stream that begins now would not get all its rows, unless it accepts
            changed rows.
    """

    name: str
    is_files: bool = False
    has_log: bool = False
    numbers_rows: bool = True
    compacts: bool = False
    clusters: bool = False
    passes_changes: Mapping[str, str] = field(default_factory=dict)
    identity: Callable[[Ask, str, str], str] = lambda ask, table, created: created
    check_beginning: Callable[[Ask, str, bool], None] = lambda ask, table, accepts: None


def _generation(ask: Ask, table: str, created: str) -> str:
    """Generation of a streaming model's table; empty for any other table."""
    return next((str(value) for name, value in ask(f"SHOW TBLPROPERTIES {table}") if name == f"{PREFIX}table"), "")


def _check_snapshots(ask: Ask, table: str, accepts: bool) -> None:
    snapshots = ask(
        f"SELECT s.parent_id, s.operation FROM {table}.history AS h JOIN {table}.snapshots AS s "
        "ON s.snapshot_id = h.snapshot_id WHERE h.is_current_ancestor ORDER BY h.made_current_at"
    )
    expired = bool(snapshots) and snapshots[0][0] is not None
    changed = any(operation not in ("append", "replace") for _, operation in snapshots)
    if not expired and (not changed or accepts):
        return
    what = "its first snapshots have expired" if expired else "rows of it were changed or deleted"
    accepting = "\n  or, if what was changed may be left out, write config(on_source_change='accept')"
    raise StreamingError(
        f"a stream that begins now would not get all rows of {table}, as {what}: Iceberg streams what each "
        "snapshot has added\n"
        "  copy the table with CREATE TABLE ... USING iceberg AS SELECT, and read the copy with stream()"
        + ("" if expired else accepting)
    )


DELTA = Format(
    "delta",
    has_log=True,
    numbers_rows=False,
    compacts=True,
    clusters=True,
    passes_changes={"skipChangeCommits": "true"},
    identity=lambda ask, table, created: str(ask(f"DESCRIBE DETAIL {table}")[0]["id"]),
)

ICEBERG = Format(
    "iceberg",
    has_log=True,
    passes_changes={"streaming-skip-overwrite-snapshots": "true", "streaming-skip-delete-snapshots": "true"},
    identity=_generation,
    check_beginning=_check_snapshots,
)

FILES = tuple(Format(name, is_files=True, compacts=True) for name in ("parquet", "orc", "csv", "json", "avro", "text"))
"""Formats of plain files."""

_FORMATS = {format_.name: format_ for format_ in (DELTA, ICEBERG, *FILES)}

FILE_FORMATS = tuple(format_.name for format_ in FILES)

LOGGED_FORMATS = tuple(name for name, format_ in _FORMATS.items() if format_.has_log)

IN_FOLDERS = (*FILE_FORMATS, "xml", "binaryfile")
"""Formats of which a stream reads the files in a folder, each once."""


def format_of(name: str) -> Format:
    """The format of a name; a record that promises nothing for a format that isn't known."""
    return _FORMATS.get(name.casefold()) or Format(name)
