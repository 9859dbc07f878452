"""The query of a streaming model, made known to Spark with its streams."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dbt.adapters.sparkstream.sql.core.interval import Interval
from dbt.adapters.sparkstream.sql.streaming import StreamPlan
from dbt.adapters.sparkstream.streaming.fingerprint import Definition
from dbt.adapters.sparkstream.streaming.model import Model
from dbt.adapters.sparkstream.streaming.refusals import StreamingError
from dbt.adapters.sparkstream.streaming.sources.inputs import Sources
from dbt.adapters.sparkstream.streaming.sources.source import StreamSource
from dbt.adapters.sparkstream.streaming.sources.views import seen
from dbt.adapters.sparkstream.streaming.spark.engine import Engine, Rows
from dbt.adapters.sparkstream.streaming.spark.eventtimes import limit
from dbt.adapters.sparkstream.streaming.tables.table import BATCH


class ModelQuery:
    """The query of a model in a run.

    Args:
        model: the model.
        plan: of its query.
        engine: the run's session.
        sources: what is known of the model's sources.
    """

    def __init__(self, model: Model, plan: StreamPlan, engine: Engine, sources: Sources) -> None:
        self._model = model
        self._plan = plan
        self._engine = engine
        self._sources = sources

    def define(self, source: StreamSource, flush: str | None = None) -> StreamSource:
        """Makes a stream known to Spark; the model's own event time and watermark where it has none."""
        config = self._model.config
        options = {"maxFileAge": "36500d"}  # else a file with an old date, copied in late, would be passed over
        if config.max_files_per_trigger is not None:
            options["maxFilesPerTrigger"] = str(config.max_files_per_trigger)
        if not source.reader:
            source = seen(self._engine, source, self._sources.facts_of)
        self._sources.check_streams(source)
        options |= self._sources.options(source)
        self._engine.check_brokers(source.kind.brokers, f"the options of {source.relation}, in meta: stream:")
        stream = self._engine.streams.of(source, options)
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
        drop = (BATCH,) if BATCH in names else ()
        until = limit(config.max_future) if self._plan.waits else None
        observed = not (self._plan.read_once and self._sources.can_be_read_again(source))
        self._engine.streams.define(source.view, stream, event_time, watermark, drop, flush, until, observed)
        return replace(source, event_time=event_time, watermark=watermark)

    def understood(self) -> tuple[Rows, tuple[tuple[str, str], ...]]:
        """The streaming query, and the columns that the table gets."""
        plan = self._plan
        for stage in plan.stages:
            self._engine.add_stage(stage)
        rows = self._engine.query(plan)
        if not rows.streams:
            raise StreamingError(
                "this query reads no stream\n  write {{ stream(ref('...')) }} where it reads what grows"
            )
        return rows, self._engine.table_columns(plan.ending, rows)

    def definition(self, sources: Sequence[StreamSource], columns: Sequence[tuple[str, str]]) -> Definition:
        """The query, with all that its table depends on.

        Args:
            sources: the streams, as `define` gives them.
            columns: names and types of the table's columns.
        """
        model = self._model
        flushes, zone, late = model.config.flush is not None, self._engine.zone(), model.config.lateness
        keeps, streams, given = self._plan.keeps, tuple(sources), tuple(columns)
        return Definition(model.sql, model.dialect, streams, given, flushes, zone, keeps, late)

    def check_contract(self, columns: Sequence[tuple[str, str]]) -> None:
        contract = {name.casefold(): self._engine.type_name(t) for name, t in self._model.contract.items()}
        if not contract:
            return
        actual = {name.casefold(): type_ for name, type_ in columns}
        faults = [
            f"  {name}: {contract.get(name, 'missing in contract')} in the contract, "
            f"{actual.get(name, 'missing')} in the query"
            for name in dict.fromkeys([*contract, *actual])
            if contract.get(name) != actual.get(name)
        ]
        if faults:
            raise StreamingError("the query doesn't keep the model's contract\n" + "\n".join(faults))

    def check_sink(self, columns: Sequence[tuple[str, str]]) -> None:
        """Looks whether the rows can be sent to the model's topic, before any is in the table."""
        topic = self._model.config.topic
        if topic is not None:
            self._engine.check_brokers(topic.servers, "the options of sink")
            self._engine.check_topic(topic, topic.checked_value(columns), columns)

    def announce_sink(self, columns: Sequence[tuple[str, str]]) -> None:
        """Gives the schema of the rows to the topic's registry, which may refuse it, before the table goes."""
        if self._model.config.topic is not None:
            self._model.config.topic.announce(columns)
