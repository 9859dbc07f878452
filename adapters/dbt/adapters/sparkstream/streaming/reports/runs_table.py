"""The table `sparkstream_runs`: one row for each micro-batch of every streaming model of a schema."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence

from dbt.adapters.sparkstream.sql.core.literals import string_literal
from dbt.adapters.sparkstream.streaming.model import Model
from dbt.adapters.sparkstream.streaming.refusals import StreamingError, ignored
from dbt.adapters.sparkstream.streaming.spark.engine import Engine
from dbt.adapters.sparkstream.streaming.spark.folders import path_of
from dbt.adapters.sparkstream.streaming.spark.progress import LeftOut, MicroBatch
from dbt.adapters.sparkstream.streaming.tables.catalog import Appended, is_in_catalog, left_in

NAME = "sparkstream_runs"

COLUMNS = {
    "run_id": ("STRING", "dbt invocation"),
    "relation": ("STRING", "table of the model"),
    "batch": ("BIGINT", "number of the micro-batch, as in the column micro_batch of the table"),
    "started_at": ("TIMESTAMP", "when the micro-batch began"),
    "duration_ms": ("BIGINT", "how long it took, in milliseconds"),
    "rows_read": ("BIGINT", "rows that came from the sources"),
    "rows_appended": ("BIGINT", "rows that went into the table"),
    "windows_closed": ("BIGINT", "windows that are in the table with these rows; NULL where columns do not tell"),
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
    "made": ("STRING", "tells the table from earlier ones of the model, which a rebuild replaces"),
}
"""Name -> type and comment. The table is partitioned by one more: the model's unique id."""

MERGED = 50
"""Number of a model's micro-batches after which their rows are put into one file."""

_NO_PARTITIONS = "_LEGACY_ERROR_TEMP_1251"
"""Condition of Spark's error about a partition of a table that has none."""

_lock = threading.Lock()
"""Lock to make or change the table: threads that do so at the same time would fail."""


class RunsTable:
    """The rows of one model in the table; `made` tells the model's table from earlier ones of the model."""

    def __init__(self, engine: Engine, model: Model, made: str) -> None:
        self._engine = engine
        self._model = model
        self._made = made
        self._partition = f"PARTITION (model = {string_literal(model.unique_id)})"

    def record(
        self,
        batches: Sequence[MicroBatch],
        appended: Appended,
        corrected: Mapping[int, int],
        left_out: Mapping[int, LeftOut],
    ) -> None:
        """Adds micro-batches of a run, with the closed windows that each has corrected; for none, makes the table."""
        if not batches:
            self._described()
            return
        found = []
        for batch in batches:
            written, windows = appended.get(batch.number, (0, None))
            left = left_out.get(batch.number, LeftOut())
            values = {
                "batch": batch.number,
                "started_at": _moment(batch.started.timestamp()),
                "duration_ms": batch.milliseconds,
                "rows_read": batch.rows,
                "rows_appended": written,
                "windows_closed": windows,
                "windows_corrected": corrected.get(batch.number, 0),
                "rows_late": left.late,
                "watermark": None if batch.watermark is None else _moment(batch.watermark.timestamp()),
                "state_rows": batch.state_rows,
                "state_bytes": batch.state_bytes,
                "rows_ahead": left.ahead,
                "rows_without_time": left.untimed,
                "rows_unreadable": left.unreadable,
            }
            found.append(values)
        self._add(found, batches[0].number // MERGED < (batches[-1].number + 1) // MERGED)

    def record_backfill(
        self, range_: str, added: int, removed: int, windows: int | None, batch: int, started: float
    ) -> None:
        """Adds a backfill that began at `started`, in seconds since the epoch; its rows have the number `batch`."""
        values = {
            "batch": batch,
            "started_at": _moment(started),
            "duration_ms": round((time.time() - started) * 1000),
            "rows_appended": added,
            "windows_closed": windows,
            "backfilled": string_literal(range_),
            "rows_removed": removed,
        }
        self._add([values], merges=False)

    def _add(self, found: Sequence[Mapping[str, object]], merges: bool) -> None:
        """Adds rows: column -> SQL. Where it is due, all rows of the model are put into one file then."""
        engine, model, table = self._engine, self._model, self._model.runs
        common = {
            "run_id": string_literal(model.run_id),
            "relation": string_literal(model.staging_of or model.relation),
            "aside": str(bool(model.staging_of)).lower(),
            "made": string_literal(self._made),
        }
        rows = [{**dict.fromkeys(COLUMNS), **values, **common}.values() for values in found]
        listed = ["(" + ", ".join("NULL" if value is None else str(value) for value in row) + ")" for row in rows]
        typed = ", ".join(f"CAST({name} AS {type_}) AS {name}" for name, (type_, _) in COLUMNS.items())
        new = f"SELECT {typed} FROM VALUES\n" + ",\n".join(listed) + f"\nAS v ({', '.join(COLUMNS)})"
        facts, folder = self._described()
        if is_in_catalog(table) or "# Partition Information" not in facts:
            # The latter is a table of version 0.1.0, which a schema keeps whatever becomes of its models.
            named = f"{string_literal(model.unique_id)} AS model"
            engine.sql(f"INSERT INTO {table} BY NAME SELECT *, {named} FROM ({new})")
            return
        # Each model writes to its own folder: two processes that insert into one folder at the same time remove each
        # other's temporary files, and rows are lost.
        first = f"{facts['Location'].rstrip('/')}/model={model.unique_id}"
        engine.folders.write(folder or first, new, "append")
        if folder is None:
            engine.sql(f"ALTER TABLE {table} ADD IF NOT EXISTS {self._partition} LOCATION {string_literal(first)}")
        elif merges:
            self._merge(first, folder)

    def _merge(self, first: str, folder: str) -> None:
        """Puts the rows of the model into one file, from the folder that they are in; `first` is their first folder.

        It is written in another folder. The catalog then names that folder in one step, so a reader has the files from
        before or the new one, and a run that is killed leaves either. The files from before stay until the next time: a
        query may be reading them. Nobody else writes rows of the model meanwhile, as one run at a time has it.
        """
        engine, model, table = self._engine, self._model.unique_id, self._model.runs
        root = first.rpartition("/")[0]
        # Names with an underscore are no partitions to RECOVER PARTITIONS.
        folders = [f"{root}/_merged_{n}/model={model}" for n in range(2)]
        other = next(name for name in folders if path_of(name) != path_of(folder))
        rows = f"SELECT {', '.join(COLUMNS)} FROM {table} WHERE model = {string_literal(model)}"
        engine.sql(f"REFRESH TABLE {table}")  # this session may have its files from an earlier merge
        engine.folders.write(other, f"{rows} ORDER BY started_at, batch")
        engine.sql(f"ALTER TABLE {table} {self._partition} SET LOCATION {string_literal(other)}")
        if path_of(folder) in map(path_of, folders):
            engine.folders.clear(first)

    def _described(self) -> tuple[dict[str, str], str | None]:
        """Makes the table, or adds missing columns to it.

        Returns:
            Its description in the catalog, and the folder with the rows of the model; None if it has none yet.
        """
        engine, table = self._engine, self._model.runs
        describe, rows = f"DESCRIBE TABLE EXTENDED {table}", []
        with _lock:
            with ignored("PARTITIONS_NOT_FOUND", "TABLE_OR_VIEW_NOT_FOUND", _NO_PARTITIONS):
                rows = [] if is_in_catalog(table) else engine.sql(f"{describe} {self._partition}")
            with ignored("TABLE_OR_VIEW_NOT_FOUND"):
                rows = rows or engine.sql(describe)
            if not rows:
                self._make()
                rows = engine.sql(describe)
            facts = {str(row[0]): str(row[1]) for row in rows}
            if missing := [f"{name} {type_}" for name, (type_, _) in COLUMNS.items() if name not in facts]:
                engine.sql(f"ALTER TABLE {table} ADD COLUMNS ({', '.join(missing)})")
        # A partition's folder comes before the table's.
        locations = [str(row[1]).rstrip("/") for row in rows if row[0] == "Location"]
        return facts, locations[0] if len(locations) > 1 else None

    def _make(self) -> None:
        """Makes the table; over its files, if they are there and the catalog was lost."""
        engine, table = self._engine, self._model.runs
        columns = [f"{name} {type_} COMMENT {string_literal(text)}" for name, (type_, text) in COLUMNS.items()]
        columns.append("model STRING COMMENT 'unique id of the model'")
        file_format = self._model.config.file_format if is_in_catalog(table) else "parquet"
        statement = (
            f"CREATE TABLE IF NOT EXISTS {table} (\n  " + ",\n  ".join(columns) + f"\n) USING {file_format}\n"
            "PARTITIONED BY (model)\nCOMMENT 'the micro-batches of streaming models'"
        )
        try:
            engine.sql(statement)
        except StreamingError as error:
            place = left_in(engine, table, error)
            engine.sql(f"{statement}\nLOCATION {string_literal(place)}")
            engine.sql(f"ALTER TABLE {table} RECOVER PARTITIONS")


def _moment(seconds: float) -> str:
    return f"timestamp_micros({round(seconds * 1_000_000)})"
