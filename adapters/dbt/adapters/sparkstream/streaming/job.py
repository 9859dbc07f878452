"""Job on a streaming model: a run or a backfill, with the model's table, sources, query, sink and sidecar folders."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dbt.adapters.sparkstream.sql.core.interval import Interval
from dbt.adapters.sparkstream.sql.core.literals import backticked
from dbt.adapters.sparkstream.sql.streaming import StreamPlan, endings
from dbt.adapters.sparkstream.streaming.fingerprint import Definition
from dbt.adapters.sparkstream.streaming.ledger import Holder, Ledger
from dbt.adapters.sparkstream.streaming.model import Model, StreamConfig
from dbt.adapters.sparkstream.streaming.refusals import StreamingError
from dbt.adapters.sparkstream.streaming.sidecars import OpenWindows, Sidecars
from dbt.adapters.sparkstream.streaming.sources.inputs import Sources
from dbt.adapters.sparkstream.streaming.sources.source import StreamSource
from dbt.adapters.sparkstream.streaming.spark.checkpoint import done_folder
from dbt.adapters.sparkstream.streaming.spark.engine import Engine, Rows
from dbt.adapters.sparkstream.streaming.spark.streams import limit
from dbt.adapters.sparkstream.streaming.tables.delta import DeltaTable
from dbt.adapters.sparkstream.streaming.tables.formats import DELTA, FILE_FORMATS, ICEBERG
from dbt.adapters.sparkstream.streaming.tables.iceberg import IcebergTable
from dbt.adapters.sparkstream.streaming.tables.plain_files import FileTable
from dbt.adapters.sparkstream.streaming.tables.table import StreamTable
from dbt.adapters.sparkstream.streaming.worker.corrections import Corrections
from dbt.adapters.sparkstream.streaming.worker.sink import Done, Sink
from dbt.adapters.sparkstream.streaming.worker.state import RowStore, SliceStore, Watermark

_TABLES = {**dict.fromkeys(FILE_FORMATS, FileTable), DELTA.name: DeltaTable, ICEBERG.name: IcebergTable}
"""Format -> the class of its tables."""


def table_of(engine: Engine, name: str, config: StreamConfig, identifier: str = "") -> StreamTable:
    """The table of a streaming model, of the class for its format; arguments as for `StreamTable`."""
    return _TABLES.get(config.file_format, StreamTable)(engine, name, config, identifier)


@dataclass
class Job:
    """A run or a backfill of a model, in a session of its own; `report` takes lines about its progress."""

    model: Model
    plan: StreamPlan
    engine: Engine
    report: Callable[[str], None] = lambda line: None
    warn: Callable[[str], None] = lambda text: None

    def __post_init__(self) -> None:
        self.table = table_of(self.engine, self.model.relation, self.model.config, self.model.identifier)
        self.sources = Sources(self.engine, self.model.config, self.warn)
        self.views = OpenWindows(self.engine, self.model, self.plan)
        self.sidecars = Sidecars(self.engine, self.table, self.model, self.views, self.report)

    # -- the query ---------------------------------------------------------------------------------
    def load(self, flush: str | None = None) -> tuple[Rows, Definition]:
        """The query, once Spark has its streams and stages, and its table's definition; flush: see `Streams.define`."""
        model, plan = self.model, self.plan
        sources = tuple(self._define(source, flush) for source in model.sources if source.view in plan.streams)
        for stage in plan.stages:
            self.engine.add_stage(stage)
        rows = self.engine.query(plan)
        flushes, zone, lateness = model.config.flush is not None, self.engine.zone(), model.config.lateness
        return rows, Definition(model.sql, model.dialect, sources, rows.columns, flushes, zone, plan.keeps, lateness)

    def _define(self, source: StreamSource, flush: str | None) -> StreamSource:
        """Defines a stream in Spark, with the model's event time and watermark if it has none; returns it with both."""
        config = self.model.config
        options = {"maxFileAge": "36500d"}  # else a file with an old date, copied in late, would be passed over
        if config.max_files_per_trigger is not None:
            options["maxFilesPerTrigger"] = str(config.max_files_per_trigger)
        source = self.sources.seen(source)
        options |= self.sources.options(source)
        self.engine.check_brokers(source.brokers, f"the options of {source.relation}, in meta: stream:")
        stream = self.engine.streams.of(source, options)
        names = {name.casefold(): name for name in stream.columns}
        watermark = config.watermark if source.watermark is None else source.watermark
        if watermark is not None and config.lateness is not None:
            # What Spark calls late is what is later than closed windows can be corrected.
            watermark = Interval(watermark.micros + config.lateness.micros)
        event_time = source.event_time or config.event_time
        if watermark is not None and event_time is None:
            raise StreamingError("a watermark needs to know the event time\n  write config(event_time='...'): a column")
        if event_time is not None and event_time.casefold() not in names:
            raise StreamingError(
                f"{source.relation} has no column {event_time} for the event time\n  it has {', '.join(names.values())}"
            )
        until = limit(config.max_future) if self.plan.waits else None
        observed = not (self.plan.read_once and self.sources.can_be_read_again(source))
        source = replace(source, event_time=event_time, watermark=watermark)
        self.engine.streams.define(source, stream, flush, until, observed)
        return source

    def check_columns(self, columns: Sequence[tuple[str, str]]) -> None:
        """Checks that contract, topic and views of open windows take the columns, before any row is in the table."""
        contract = {name.casefold(): self.engine.type_name(t) for name, t in self.model.contract.items()}
        actual = {name.casefold(): type_ for name, type_ in columns}
        faults = [
            f"  {name}: {contract.get(name, 'missing in contract')} in the contract, "
            f"{actual.get(name, 'missing')} in the query"
            for name in dict.fromkeys([*contract, *actual])
            if contract and contract.get(name) != actual.get(name)
        ]
        if faults:
            raise StreamingError("the query doesn't keep the model's contract\n" + "\n".join(faults))
        topic = self.model.config.topic
        if topic is not None:
            self.engine.check_brokers(topic.servers, "the options of sink")
            self.engine.check_topic(topic, columns)
        self.views.check(columns)

    # -- the sink ----------------------------------------------------------------------------------
    def sink(
        self, columns: Sequence[tuple[str, str]], ledger: Ledger, holder: Holder, begun: int, checkpoint: str
    ) -> Sink:
        """Sink for the rows of each micro-batch; `begun` is the last one that an earlier run has begun."""
        config, table = self.model.config, self.table
        names = self.engine.columns(table.name)  # the micro-batch's number is the last
        common: dict[str, Any] = {
            "table": self.model.relation,
            "columns": names,
            "closed": endings.CLOSED,
            "query": self.plan.ending.query,
            "begun": begun,
            "owned": table.owned(ledger.generation, holder),
            "done": Done(done_folder(checkpoint)),
            "history": self._history(checkpoint),
            "producer": config.topic.producer(columns, ledger.generation) if config.topic else None,
            "views": self.views.of(names),
            "corrections": self._corrections(),
        }
        return table.sink(ledger, **common)

    def _corrections(self) -> Corrections | None:
        ending, model = self.plan.ending, self.model
        if not isinstance(ending, endings.OnSlices) or ending.corrected is None or ending.end is None:
            return None
        place = self.table.facts().location.rstrip("/")
        return Corrections(model.relation, backticked(ending.end), ending.corrected, place, model.config.file_format)

    def _history(self, checkpoint: str) -> RowStore | SliceStore | None:
        ending, lateness, folder = self.plan.ending, self.model.config.lateness, f"{checkpoint}_history"
        if isinstance(ending, endings.OnHistory):
            return RowStore(folder=folder, name=endings.CLOSED, query=ending.kept, flag=endings.NEW)
        if not isinstance(ending, endings.OnSessions | endings.OnSlices):
            return None
        common: dict[str, Any] = {
            "folder": folder,
            "name": endings.SO_FAR,
            "query": ending.kept,
            "closing": ending.closed,
            "watermark": Watermark(checkpoint, endings.UNTIL, lateness.micros // 1000 if lateness else 0),
        }
        if isinstance(ending, endings.OnSessions):
            return RowStore(**common)
        return SliceStore(flag=endings.NEW, kept=endings.KEPT, corrects=ending.corrected is not None, **common)
