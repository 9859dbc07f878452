"""Overview of all streaming models of a project, for `sparkstream streams`."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dbt.adapters.sparkstream.sql.core.literals import string_literal
from dbt.adapters.sparkstream.streaming.holder import Holder
from dbt.adapters.sparkstream.streaming.lease import EXPIRES
from dbt.adapters.sparkstream.streaming.ledger import Ledger
from dbt.adapters.sparkstream.streaming.spark.engine import Engine
from dbt.adapters.sparkstream.streaming.tables.kinds import table_of

RUNNING, STOPPED, KILLED, NOT_BUILT = "running", "stopped", "killed", "not built"

TOTALS = ("rows_read", "rows_appended", "windows_closed", "windows_corrected")
LEFT_OUT = ("rows_late", "rows_ahead", "rows_without_time", "rows_unreadable")
"""Columns of `sparkstream_runs` that are added up over all micro-batches."""

_LAST = {
    "batch": "batch",
    "began": "unix_micros(started_at)",
    "duration_ms": "duration_ms",
    "rows": "rows_read",
    "watermark": "unix_micros(watermark)",
    "state_rows": "state_rows",
    "state_bytes": "state_bytes",
}
"""What is told of the last micro-batch, as SQL over `sparkstream_runs`."""


@dataclass(frozen=True)
class StreamModel:
    """A streaming model of a project.

    Attributes:
        id: its unique id.
        name: its name.
        relation: its table, as SQL names it.
        runs: the table `sparkstream_runs` of its schema.
        file_format: what its table is stored as.
    """

    id: str
    name: str
    relation: str
    runs: str
    file_format: str = "parquet"


def overview(engine: Engine, models: Iterable[StreamModel]) -> list[dict[str, Any]]:
    """What is known of streaming models, a dict for each.

    Args:
        engine: a session of its own.
        models: the models.

    Returns:
        For each: `model`, `relation`, `status` (`running`, `stopped`, `killed` or `not built`), `process` and `host` of
        the run, and, once it has had a micro-batch: `batch`, `ended_at` and `watermark` (seconds since the epoch),
        `duration_ms`, `rows`, `state_rows` and `state_bytes` of the last one, and the totals of `TOTALS` and `LEFT_OUT`
        over all micro-batches of the table that is there.

    Raises:
        StreamingError: what Spark says is wrong.
    """
    of_runs: dict[str, dict[StreamModel, Ledger | None]] = defaultdict(dict)
    for model in models:
        exists = engine.exists(model.relation)
        table = table_of(engine, model.relation, model.file_format)
        of_runs[model.runs][model] = table.ledger() if exists else None
    found = []
    for runs, of_schema in of_runs.items():
        tables = {model.id: ledger.generation for model, ledger in of_schema.items() if ledger is not None}
        totals = _totals(engine, runs, tables) if tables and engine.exists(runs) else {}
        found += [_told(model, ledger, totals.get(model.id, {})) for model, ledger in of_schema.items()]
    return sorted(found, key=lambda told: str(told["model"]))


def _told(model: StreamModel, ledger: Ledger | None, totals: Mapping[str, Any]) -> dict[str, Any]:
    told: dict[str, Any] = {"model": model.name, "relation": model.relation, "process": None, "host": None}
    if ledger is None:
        return {**told, "status": NOT_BUILT}
    holder = ledger.holder
    if holder is None:
        return {**told, "status": STOPPED, **totals}
    status = RUNNING if _is_alive(holder) else KILLED
    return {**told, "status": status, "process": holder.pid, "host": holder.host, **totals}


def _is_alive(holder: Holder) -> bool:
    """Whether a run is on its way; one of another machine by its last sign of life."""
    alive = holder.is_alive()
    return abs(time.time() - holder.alive) < EXPIRES if alive is None else alive


def _totals(engine: Engine, runs: str, tables: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """Model id -> what `sparkstream_runs` has of its table.

    Each table begins with micro-batch 0. Rows of earlier versions don't say which table they are of.

    Args:
        engine: a session.
        runs: the table of micro-batches.
        tables: model id -> what tells its table from earlier ones.
    """
    columns = {name.casefold() for name in engine.columns(runs)}
    last = ", ".join(f"{sql} AS {name}" for name, sql in _LAST.items())
    # A table of an earlier version lacks some of the columns until the next run.
    sums = [name for name in TOTALS + LEFT_OUT if name in columns]
    added = "".join(f", coalesce(sum({name}), 0) AS {name}" for name in sums)
    of_table = " AND coalesce(r.made, t.made) = t.made" if "made" in columns else ""
    values = ", ".join(f"({string_literal(id_)}, {string_literal(made)})" for id_, made in tables.items())
    only = "WHERE backfilled IS NULL" if "backfilled" in columns else ""
    rows = engine.sql(
        f"SELECT model, max_by(struct({last}), struct(started_at, batch)) AS last{added} FROM (\n"
        "  SELECT r.*, max(CASE WHEN r.batch = 0 THEN r.started_at END) OVER (PARTITION BY r.model) AS __begun\n"
        f"  FROM {runs} AS r JOIN VALUES {values} AS t (model, made)\n"
        f"  ON r.model = t.model{of_table}\n  {only}\n"
        ") WHERE __begun IS NULL OR started_at >= __begun GROUP BY model"
    )
    return {row["model"]: _facts(row.asDict(recursive=True), sums) for row in rows}


def _facts(row: Mapping[str, Any], sums: Sequence[str]) -> dict[str, Any]:
    last = dict(row["last"])
    ended = last.pop("began") / 1e6 + last["duration_ms"] / 1e3
    watermark = None if last["watermark"] is None else last["watermark"] / 1e6
    totals = {name: row[name] if name in sums else 0 for name in TOTALS + LEFT_OUT}
    return {**last, "ended_at": round(ended, 3), "watermark": watermark, **totals}
