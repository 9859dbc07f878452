"""The sink of a run, by the model's query and the format of its table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dbt.adapters.sparkstream.sql.core.interval import Interval
from dbt.adapters.sparkstream.sql.streaming import StreamPlan
from dbt.adapters.sparkstream.sql.streaming.endings import (
    CLOSED,
    KEPT,
    NEW,
    SO_FAR,
    UNTIL,
    Ending,
    OnHistory,
    OnSessions,
    OnSlices,
)
from dbt.adapters.sparkstream.streaming.holder import Holder
from dbt.adapters.sparkstream.streaming.ledger import Ledger
from dbt.adapters.sparkstream.streaming.model import Model
from dbt.adapters.sparkstream.streaming.spark.checkpoint import done_folder
from dbt.adapters.sparkstream.streaming.tables.open_windows import OpenWindows
from dbt.adapters.sparkstream.streaming.tables.table import StreamTable
from dbt.adapters.sparkstream.streaming.worker.corrections import Corrections
from dbt.adapters.sparkstream.streaming.worker.sink import Done, Fence, Sink
from dbt.adapters.sparkstream.streaming.worker.state import RowStore, SliceStore, Watermark


def sink_of(
    model: Model,
    plan: StreamPlan,
    table: StreamTable,
    columns: Sequence[tuple[str, str]],
    ledger: Ledger,
    holder: Holder,
    begun: int,
    checkpoint: str,
    views: OpenWindows,
) -> Sink:
    """What a micro-batch's rows go to.

    Args:
        model: the model.
        plan: of its query.
        table: its table.
        columns: names and types of the columns that the query gives.
        ledger: what is recorded of the table.
        holder: the run that has it.
        begun: the last micro-batch that an earlier run has begun.
        checkpoint: the checkpoint.
        views: the views of the windows that are open.
    """
    config, names = model.config, table.columns()
    common: dict[str, Any] = {
        "table": model.relation,
        "columns": names,
        "closed": CLOSED,
        "query": plan.ending.query,
        "begun": begun,
        "fence": Fence(model.relation, table.owned(ledger.generation, holder)),
        "done": Done(done_folder(checkpoint)),
        "history": _history(plan.ending, checkpoint, config.lateness),
        "producer": config.topic.producer(columns, ledger.generation) if config.topic else None,
        "views": views.of(names),
        "corrections": _corrections(plan.ending, model, table),
    }
    return table.sink(ledger, config, **common)


def _corrections(ending: Ending, model: Model, table: StreamTable) -> Corrections | None:
    if not isinstance(ending, OnSlices) or ending.corrected is None or ending.end is None:
        return None
    place = table.facts().location.rstrip("/")
    return Corrections(model.relation, ending.end, ending.corrected, place, model.config.file_format)


def _history(ending: Ending, checkpoint: str, lateness: Interval | None) -> RowStore | SliceStore | None:
    folder = f"{checkpoint}_history"
    if isinstance(ending, OnHistory):
        return RowStore(folder, CLOSED, ending.kept, NEW)
    watermark = Watermark(checkpoint, UNTIL, lateness.micros // 1000 if lateness else 0)
    if isinstance(ending, OnSessions):
        return RowStore(folder, SO_FAR, ending.kept, closing=ending.closed, watermark=watermark)
    if isinstance(ending, OnSlices):
        corrects = ending.corrected is not None
        return SliceStore(folder, SO_FAR, ending.kept, NEW, KEPT, ending.closed, watermark, corrects)
    return None
