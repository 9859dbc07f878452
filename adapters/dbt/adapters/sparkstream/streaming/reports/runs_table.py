"""The table `sparkstream_runs`: one row for each micro-batch of every streaming model of a schema."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dbt.adapters.sparkstream.sql.core.literals import string_literal
from dbt.adapters.sparkstream.streaming.refusals import StreamingError
from dbt.adapters.sparkstream.streaming.reports.late_rows import LeftOut
from dbt.adapters.sparkstream.streaming.spark.engine import Engine
from dbt.adapters.sparkstream.streaming.spark.folders import path_of
from dbt.adapters.sparkstream.streaming.spark.progress import MicroBatch
from dbt.adapters.sparkstream.streaming.tables.catalog import is_in_catalog

NAME = "sparkstream_runs"

COLUMNS = {
    "run_id": ("STRING", "dbt invocation"),
    "relation": ("STRING", "table of the model"),
    "batch": ("BIGINT", "number of the micro-batch, as in the column micro_batch of the table"),
    "started_at": ("TIMESTAMP", "when the micro-batch began"),
    "duration_ms": ("BIGINT", "how long it took, in milliseconds"),
    "rows_read": ("BIGINT", "rows that came from the sources"),
    "rows_appended": ("BIGINT", "rows that went into the table"),
    "windows_closed": ("BIGINT", "windows that these rows are of; NULL where columns do not tell"),
    "rows_late": ("BIGINT", "rows that came after their windows were closed"),
    "watermark": ("TIMESTAMP", "windows up to here are closed"),
    "state_rows": ("BIGINT", "rows kept for windows that are open"),
    "state_bytes": ("BIGINT", "memory that they take"),
    "rows_ahead": ("BIGINT", "rows left out as their time was further ahead than max_future"),
    "rows_without_time": ("BIGINT", "rows that no window has as they have no time"),
    "rows_unreadable": ("BIGINT", "rows left out as their values can not be read"),
    "windows_corrected": ("BIGINT", "windows that were closed before and have got late rows, with late_rows: update"),
    "aside": ("BOOLEAN", "whether the rows went to a table that is rebuilt in staging, to take the place of the other"),
    "backfilled": ("STRING", "the range of a backfill, which put rows_appended in the place of others; else NULL"),
    "rows_removed": ("BIGINT", "rows that a backfill has taken out of the table"),
    "made": ("STRING", "tells the table from earlier ones of the model, as it is made anew"),
}
"""Name -> type and comment. The table is partitioned by one more: the model's unique id."""

MERGED = 50
"""After so many micro-batches of a model, their rows are put into one file."""

_lock = threading.Lock()
"""Threads that make or change the table at the same time would fail."""


@dataclass(frozen=True)
class RunRecord:
    """What the rows of one run have in common."""

    id: str
    model: str
    relation: str
    made: str
    """Tells the table from earlier ones of the model."""
    in_staging: bool = False
    """Whether its rows went to a staged rebuild."""


@dataclass(frozen=True)
class Backfilled:
    """What a backfill has done.

    Attributes:
        range: the range that it was given, in words.
        added: rows that it has put in.
        removed: rows that it has taken out.
        windows: windows that the rows put in are of; None where columns don't tell.
    """

    range: str
    added: int
    removed: int
    windows: int | None


@dataclass(frozen=True)
class Counts:
    """What micro-batches have done, as far as Spark doesn't report it; each by the number of the micro-batch.

    Attributes:
        appended: rows that went into the table, and windows that these are of, where columns tell them.
        corrected: closed windows that late rows have corrected; none where it isn't named.
        left_out: rows that were left out.
    """

    appended: Mapping[int, tuple[int, int | None]]
    corrected: Mapping[int, int]
    left_out: Mapping[int, LeftOut]


def record(
    engine: Engine, table: str, run: RunRecord, batches: Sequence[MicroBatch], counts: Counts, file_format: str
) -> None:
    """Adds the micro-batches of a run to the table; a run without any makes the table, as tests of the model read it.

    Args:
        file_format: of the model's table, and of this one where that is in a catalog of its own.
    """
    if not batches:
        if not engine.exists(table):
            _described(engine, table, file_format)
        return
    found = []
    for batch in batches:
        written, windows = counts.appended.get(batch.number, (0, None))
        left = counts.left_out.get(batch.number, LeftOut())
        values = {
            "run_id": string_literal(run.id),
            "relation": string_literal(run.relation),
            "batch": batch.number,
            "started_at": _moment(batch.started.timestamp()),
            "duration_ms": batch.milliseconds,
            "rows_read": batch.rows,
            "rows_appended": written,
            "windows_closed": "NULL" if windows is None else windows,
            "windows_corrected": counts.corrected.get(batch.number, 0),
            "rows_late": left.late,
            "watermark": "NULL" if batch.watermark is None else _moment(batch.watermark.timestamp()),
            "state_rows": batch.state_rows,
            "state_bytes": batch.state_bytes,
            "rows_ahead": left.ahead,
            "rows_without_time": left.untimed,
            "rows_unreadable": left.unreadable,
            "aside": str(run.in_staging).lower(),
            "made": string_literal(run.made),
        }
        found.append(values)
    _add(engine, table, run, found, file_format, batches[0].number // MERGED < (batches[-1].number + 1) // MERGED)


def record_backfill(
    engine: Engine, table: str, run: RunRecord, done: Backfilled, batch: int, started: float, file_format: str
) -> None:
    """Adds a backfill to the table.

    Args:
        batch: the number of the last micro-batch, which the rows have got.
        started: when it began, in seconds since the epoch.
    """
    values = {
        "run_id": string_literal(run.id),
        "relation": string_literal(run.relation),
        "batch": batch,
        "started_at": _moment(started),
        "duration_ms": round((time.time() - started) * 1000),
        "rows_appended": done.added,
        "windows_closed": "NULL" if done.windows is None else done.windows,
        "aside": "false",
        "backfilled": string_literal(done.range),
        "rows_removed": done.removed,
        "made": string_literal(run.made),
    }
    _add(engine, table, run, [values], file_format, merges=False)


def _add(
    engine: Engine, table: str, run: RunRecord, found: Sequence[Mapping[str, object]], file_format: str, merges: bool
) -> None:
    """Adds rows: column -> SQL. Where it is due, all rows of the model are put into one file then."""
    rows = ["(" + ", ".join(str(values.get(name, "NULL")) for name in COLUMNS) + ")" for values in found]
    typed = ", ".join(f"CAST({name} AS {type_}) AS {name}" for name, (type_, _) in COLUMNS.items())
    new = f"SELECT {typed} FROM VALUES\n" + ",\n".join(rows) + f"\nAS v ({', '.join(COLUMNS)})"
    facts = _described(engine, table, file_format)
    if is_in_catalog(table) or "# Partition Information" not in facts:
        # The latter is a table of version 0.1.0.
        engine.sql(f"INSERT INTO {table} BY NAME SELECT *, {string_literal(run.model)} AS model FROM ({new})")
        return
    # Each model writes to its own folder: two processes that insert into one folder at the same time remove each
    # other's temporary files, and rows are lost.
    first = f"{facts['Location'].rstrip('/')}/model={run.model}"
    partition = f"PARTITION (model = {string_literal(run.model)})"
    folder = _folder_of(engine, table, partition)
    engine.folders.append(folder or first, new)
    if folder is None:
        engine.sql(f"ALTER TABLE {table} ADD IF NOT EXISTS {partition} LOCATION {string_literal(first)}")
    if folder is not None and merges:
        _merge(engine, table, run.model, partition, first, folder)


def _folder_of(engine: Engine, table: str, partition: str) -> str | None:
    """Where the rows of a model are; None where it has none yet."""
    try:
        rows = engine.sql(f"DESCRIBE TABLE EXTENDED {table} {partition}")
    except StreamingError as error:
        if error.fault.condition == "PARTITIONS_NOT_FOUND":
            return None
        raise
    names = [str(row[0]) for row in rows]
    # Below that comes the table's own location.
    return str(rows[names.index("Location", names.index("# Detailed Partition Information"))][1]).rstrip("/")


def _merge(engine: Engine, table: str, model: str, partition: str, first: str, folder: str) -> None:
    """Puts the rows of a model into one file.

    It is written in another folder. The catalog then names that folder in one step, so a reader has the files from
    before or the new one, and a run that is killed leaves either. The files from before stay until the next time: a
    query may be reading them. Nobody else writes rows of the model meanwhile, as one run at a time has it.
    """
    root = first.rpartition("/")[0]
    # Names with an underscore are no partitions to RECOVER PARTITIONS.
    folders = [f"{root}/_merged_{n}/model={model}" for n in range(2)]
    other = next(name for name in folders if path_of(name) != path_of(folder))
    columns = ", ".join(COLUMNS)
    engine.sql(f"REFRESH TABLE {table}")  # this session may have its files from an earlier merge
    engine.folders.rewrite(
        other, f"SELECT {columns} FROM {table} WHERE model = {string_literal(model)} ORDER BY started_at, batch"
    )
    engine.sql(f"ALTER TABLE {table} {partition} SET LOCATION {string_literal(other)}")
    if path_of(folder) in map(path_of, folders):
        engine.folders.clear(first)


def _described(engine: Engine, table: str, file_format: str) -> dict[str, str]:
    """Makes the table where it isn't there, and returns what the catalog says of it."""
    with _lock:
        return _made(engine, table, file_format if is_in_catalog(table) else "parquet")


def _made(engine: Engine, table: str, file_format: str) -> dict[str, str]:
    """Makes the table, or adds columns that a table of an earlier version lacks, and says what the catalog says."""
    if not engine.exists(table):
        columns = [f"{name} {type_} COMMENT {string_literal(text)}" for name, (type_, text) in COLUMNS.items()]
        columns.append("model STRING COMMENT 'unique id of the model'")
        engine.sql(
            f"CREATE TABLE IF NOT EXISTS {table} (\n  " + ",\n  ".join(columns) + f"\n) USING {file_format}\n"
            "PARTITIONED BY (model)\nCOMMENT 'the micro-batches of streaming models'"
        )
    facts = {str(row[0]): str(row[1]) for row in engine.sql(f"DESCRIBE TABLE EXTENDED {table}")}
    if missing := [f"{name} {type_}" for name, (type_, _) in COLUMNS.items() if name not in facts]:
        engine.sql(f"ALTER TABLE {table} ADD COLUMNS ({', '.join(missing)})")
    return facts


def _moment(seconds: float) -> str:
    return f"timestamp_micros({round(seconds * 1_000_000)})"
