"""Overview of all streaming models of a project: `sparkstream streams`, for people and in Prometheus' text format."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dbt.adapters.sparkstream.sql.core.literals import string_literal
from dbt.adapters.sparkstream.streaming.job import table_of
from dbt.adapters.sparkstream.streaming.lease import EXPIRES
from dbt.adapters.sparkstream.streaming.ledger import Ledger
from dbt.adapters.sparkstream.streaming.model import StreamConfig
from dbt.adapters.sparkstream.streaming.reports.runs_table import COLUMNS
from dbt.adapters.sparkstream.streaming.spark.engine import Engine
from dbt.adapters.sparkstream.streaming.spark.progress import bytes_in_words, counted

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
"""Facts of the last micro-batch: name -> SQL over `sparkstream_runs`."""

Streams = Sequence[Mapping[str, Any]]
"""Result of `overview`."""

_GAUGES = {
    "ended_at": ("last_micro_batch_timestamp_seconds", "when the last micro-batch ended", 1.0),
    "duration_ms": ("last_micro_batch_duration_seconds", "how long the last micro-batch took", 1e-3),
    "rows": ("last_micro_batch_rows", "rows that the last micro-batch has read", 1.0),
    "batch": ("micro_batch", "number of the last micro-batch", 1.0),
    "watermark": ("watermark_timestamp_seconds", "windows up to here are closed", 1.0),
    "state_rows": ("state_rows", "rows kept for windows that are open", 1.0),
    "state_bytes": ("state_bytes", "memory that the rows kept take", 1.0),
}
"""Key in a model's dict of `overview` -> name, help text and factor of its metric."""

_HEAD = ("model", "status", "last micro-batch", "rows/s", "rows", "left out", "watermark", "state")

_UNITS = ((86400, "day"), (3600, "hour"), (60, "minute"), (1, "second"))


@dataclass(frozen=True)
class StreamModel:
    """A streaming model of a project."""

    id: str
    name: str
    relation: str
    runs: str
    config: StreamConfig


def overview(engine: Engine, models: Iterable[StreamModel]) -> list[dict[str, Any]]:
    """State of streaming models, a dict for each, ordered by name.

    Returns:
        For each: `model`, `relation`, `status` (`running`, `stopped`, `killed` or `not built`), `process` and `host` of
        the run, and, once it has had a micro-batch: `batch`, `ended_at` and `watermark` (seconds since the epoch),
        `duration_ms`, `rows`, `state_rows` and `state_bytes` of the last one, and the totals of `TOTALS` and `LEFT_OUT`
        over all micro-batches of the table that is there.
    """
    ledgers = {model: table_of(engine, model.relation, model.config).ledger() for model in models}
    totals: dict[str, dict[str, Any]] = {}
    for runs in {model.runs for model, ledger in ledgers.items() if ledger is not None}:
        if engine.exists(runs):
            its = {m.id: ledger.generation for m, ledger in ledgers.items() if ledger is not None and m.runs == runs}
            totals |= _totals(engine, runs, its)
    found = [_overview(model, ledger, totals.get(model.id, {})) for model, ledger in ledgers.items()]
    return sorted(found, key=lambda facts: str(facts["model"]))


def _overview(model: StreamModel, ledger: Ledger | None, totals: Mapping[str, Any]) -> dict[str, Any]:
    facts: dict[str, Any] = {"model": model.name, "relation": model.relation, "process": None, "host": None}
    if ledger is None:
        return {**facts, "status": NOT_BUILT}
    holder = ledger.holder
    if holder is None:
        return {**facts, "status": STOPPED, **totals}
    alive = holder.is_alive()
    if alive is None:  # of another machine
        alive = abs(time.time() - holder.alive) < EXPIRES
    status = RUNNING if alive else KILLED
    return {**facts, "status": status, "process": holder.pid, "host": holder.host, **totals}


def _totals(engine: Engine, runs: str, tables: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """Model id -> last micro-batch and totals of its table, from `sparkstream_runs`.

    Each table begins with micro-batch 0. Rows of earlier versions lack the id of their table.
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


def prometheus(streams: Streams) -> str:
    """The metrics in Prometheus' text format."""
    up = [int(stream["status"] == RUNNING) for stream in streams]
    lines = _metric("up", "gauge", "1 while a run of the model is on its way", streams, up)
    for key, (name, text, factor) in _GAUGES.items():
        values = [None if stream.get(key) is None else stream[key] * factor for stream in streams]
        lines += _metric(name, "gauge", text, streams, values)
    for key in TOTALS + LEFT_OUT:
        text = COLUMNS[key][1].partition(";")[0]
        lines += _metric(f"{key}_total", "counter", text, streams, [stream.get(key) for stream in streams])
    return "\n".join(lines) + "\n"


def _metric(name: str, kind: str, text: str, streams: Streams, values: Sequence[float | None]) -> list[str]:
    lines = [
        f'sparkstream_{name}{{model="{_label(stream["model"])}",relation="{_label(stream["relation"])}"}} {value:.15g}'
        for stream, value in zip(streams, values, strict=True)
        if value is not None
    ]
    return [f"# HELP sparkstream_{name} {text}", f"# TYPE sparkstream_{name} {kind}", *lines] if lines else []


def _label(text: str) -> str:
    return str(text).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def table(streams: Streams, now: float) -> list[str]:
    """Lines of a table for people; `now` is in seconds since the epoch."""
    rows = [_HEAD, *(_row(stream, now) for stream in streams)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(_HEAD))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _row(stream: Mapping[str, Any], now: float) -> tuple[str, ...]:
    status = str(stream["status"])
    if stream.get("process") is not None:
        status += f" (process {stream['process']} on {stream['host']})"
    if "batch" not in stream:
        return (str(stream["model"]), status, *["-"] * (len(_HEAD) - 2))
    seconds = stream["duration_ms"] / 1e3
    return (
        str(stream["model"]),
        status,
        f"{stream['batch']}, {_ago(now - stream['ended_at'])}",
        f"{stream['rows'] / seconds:,.0f}" if seconds else "-",
        f"{stream['rows_appended']:,}",
        f"{sum(stream[name] for name in LEFT_OUT):,}",
        "-" if stream["watermark"] is None else _ago(now - stream["watermark"]),
        f"{stream['state_rows']:,} rows, {bytes_in_words(stream['state_bytes'])}",
    )


def _ago(seconds: float) -> str:
    """A duration in its largest unit: `3 minutes ago`."""
    size, unit = next(((size, unit) for size, unit in _UNITS if abs(seconds) >= size), _UNITS[-1])
    return f"{counted(int(abs(seconds) // size), unit)} {'ago' if seconds >= 0 else 'ahead'}"
