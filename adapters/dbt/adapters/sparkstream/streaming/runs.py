"""The table `sparkstream_runs`: one row for each micro-batch of every streaming model of a schema."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dbt.adapters.sparkstream.sql.literals import string_literal
from dbt.adapters.sparkstream.streaming.engine import Engine
from dbt.adapters.sparkstream.streaming.late import Aside
from dbt.adapters.sparkstream.streaming.progress import Batch

NAME = "sparkstream_runs"

COLUMNS = """\
  run_id STRING COMMENT 'dbt invocation',
  model STRING COMMENT 'unique id of the model',
  relation STRING COMMENT 'its table',
  batch BIGINT COMMENT 'number of the micro-batch, as in the column micro_batch of the table',
  started_at TIMESTAMP COMMENT 'when the micro-batch began',
  duration_ms BIGINT COMMENT 'how long it took, in milliseconds',
  rows_read BIGINT COMMENT 'rows that came from the sources',
  rows_appended BIGINT COMMENT 'rows that went into the table',
  windows_closed BIGINT COMMENT 'windows that these rows are of; NULL where columns do not tell',
  rows_late BIGINT COMMENT 'rows that came after their windows were closed',
  watermark TIMESTAMP COMMENT 'windows up to here are closed',
  state_rows BIGINT COMMENT 'rows kept for windows that are open',
  state_bytes BIGINT COMMENT 'memory that they take',
  rows_ahead BIGINT COMMENT 'rows left out as their time was further ahead than max_future',
  rows_without_time BIGINT COMMENT 'rows that no window has as they have no time'"""

_ADDED = ("rows_ahead", "rows_without_time")
"""Columns that a table of an earlier version doesn't have."""

_lock = threading.Lock()
"""Two threads that insert into the same table would remove each other's temporary files."""


@dataclass(frozen=True)
class Run:
    """What the rows of one run have in common."""

    id: str
    model: str
    relation: str


def record(
    engine: Engine,
    table: str,
    run: Run,
    batches: Sequence[Batch],
    appended: Mapping[int, tuple[int, int | None]],
    aside: Mapping[int, Aside],
) -> None:
    """Adds the micro-batches of a run to the table.

    Raises:
        StreamingError: what Spark says is wrong.
    """
    if not batches:
        return
    rows = []
    for batch in batches:
        written, windows = appended.get(batch.number, (0, None))
        left = aside.get(batch.number, Aside())
        values = [
            string_literal(run.id),
            string_literal(run.model),
            string_literal(run.relation),
            batch.number,
            _moment(batch.started.timestamp()),
            batch.milliseconds,
            batch.rows,
            written,
            "NULL" if windows is None else windows,
            left.late,
            "NULL" if batch.watermark is None else _moment(batch.watermark.timestamp()),
            batch.state_rows,
            batch.state_bytes,
            left.ahead,
            left.untimed,
        ]
        rows.append("(" + ", ".join(map(str, values)) + ")")
    with _lock:
        if not engine.exists(table):
            engine.sql(
                f"CREATE TABLE IF NOT EXISTS {table} (\n{COLUMNS}\n) USING parquet\n"
                "COMMENT 'the micro-batches of streaming models'"
            )
        elif missing := [name for name in _ADDED if name not in engine.columns(table)]:
            engine.sql(f"ALTER TABLE {table} ADD COLUMNS ({', '.join(f'{name} BIGINT' for name in missing)})")
        engine.sql(f"INSERT INTO {table} SELECT /*+ COALESCE(1) */ * FROM VALUES\n" + ",\n".join(rows))


def _moment(seconds: float) -> str:
    return f"timestamp_micros({round(seconds * 1_000_000)})"
