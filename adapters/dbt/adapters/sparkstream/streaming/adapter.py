"""Streaming models of a dbt project: called by the adapter's macros to plan, run and backfill them."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext
from copy import deepcopy
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from dbt.adapters.events.logging import AdapterLogger
from dbt.adapters.events.types import AdapterEventWarning
from dbt_common.events.functions import warn_or_error
from dbt_common.exceptions import CompilationError, DbtRuntimeError

from dbt.adapters.sparkstream.compiling import dbtflags
from dbt.adapters.sparkstream.compiling.requests import find_model
from dbt.adapters.sparkstream.messages.faults import PYTHON_TRACE, without_spot
from dbt.adapters.sparkstream.messages.mistakes import PlacedError, placed_stream
from dbt.adapters.sparkstream.messages.places import described, shown
from dbt.adapters.sparkstream.messages.readable import readable
from dbt.adapters.sparkstream.spark.environments import SESSION
from dbt.adapters.sparkstream.sql import TranslationError, TranslationWarning
from dbt.adapters.sparkstream.sql.core.errors import Finding, Warn
from dbt.adapters.sparkstream.sql.streaming import StreamPlan
from dbt.adapters.sparkstream.streaming import MATERIALIZATION, nodes
from dbt.adapters.sparkstream.streaming.model import Model, StreamConfig
from dbt.adapters.sparkstream.streaming.operations import stopping
from dbt.adapters.sparkstream.streaming.operations.backfill import Backfill, Range
from dbt.adapters.sparkstream.streaming.operations.stopping import Announced, OnServer, stopped
from dbt.adapters.sparkstream.streaming.refusals import StreamingError, spark_errors
from dbt.adapters.sparkstream.streaming.reports import lineage
from dbt.adapters.sparkstream.streaming.reports.overview import StreamModel, overview
from dbt.adapters.sparkstream.streaming.reports.runs_table import NAME as RUNS
from dbt.adapters.sparkstream.streaming.reports.terminal import ProgressLine
from dbt.adapters.sparkstream.streaming.run import Run
from dbt.adapters.sparkstream.streaming.sources.source import StreamSource
from dbt.adapters.sparkstream.streaming.spark.engine import Engine

if TYPE_CHECKING:
    from openlineage.client import OpenLineageClient

    from dbt.adapters.sparkstream.compiling.host import Host

logger = AdapterLogger("SparkStream")


class Registry:
    """Names for the streams of each model."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._streams: dict[str, dict[str, StreamSource]] = {}

    def add(self, model: str, source: StreamSource) -> str:
        """Records a stream of a model; returns its name in the SQL: its view, numbered if another stream has that."""
        with self._lock:
            streams = self._streams.setdefault(model, {})
            base = re.sub(r"\W", "_", source.view)
            name, number = base, 1
            while name in streams and streams[name] != replace(source, view=name):
                number += 1
                name = f"{base}_{number}"
            streams[name] = replace(source, view=name)
            return name

    def of(self, model: str) -> Mapping[str, StreamSource]:
        """The streams of a model, by name."""
        with self._lock:
            return dict(self._streams.get(model, {}))


class StreamingModels:
    """The streaming models of a dbt project."""

    def __init__(self, adapter: Host) -> None:
        self._adapter = adapter
        self._registry = Registry()
        self._plans: dict[tuple[str, str, bool], StreamPlan] = {}
        """Id of a model that is compiled and has not run yet, its SQL, and whether in UTC -> plan."""
        self._cancelled = threading.Event()
        self._line = ProgressLine()

    @cached_property
    def _openlineage(self) -> OpenLineageClient | None:
        """OpenLineage's client, made when the first model runs; None if it isn't configured or can't be made."""
        return lineage.client(logger.warning)  # `--warn-error` makes no error of this warning

    def cancel(self) -> None:
        """Ends all runs, each when its micro-batch has ended."""
        self._cancelled.set()

    @contextmanager
    def _announced(self, model: str) -> Iterator[Callable[[], bool]]:
        """Announces a run to other processes; yields a function that returns True if the run has to end."""
        environment = self._adapter.connections.environment
        is_here = environment.python == SESSION
        with Announced(environment.project, model) if is_here else nullcontext() as run:
            yield lambda: self._cancelled.is_set() or stopping.is_stopping() or (run is not None and run.is_told())

    def streams(self, node: Any) -> bool:
        """True if the SQL of a node reads streams: for a streaming model, unless it is only shown."""
        return nodes.is_streaming(node.resource_type, node.config.materialized) and not self._shown

    def stream(self, model: Mapping[str, Any], relation: Any, watermark: str | None, event_time: str | None) -> str:
        """Text in FROM for a relation in `stream()`: the name of a stream, or the relation where a batch reads it."""
        if not relation or (str(relation).strip().startswith("(") and not getattr(relation, "identifier", None)):
            raise CompilationError(f"stream() takes a relation, not {relation}\n  write stream(ref('...'))")
        # `--empty` renders a query around the name.
        name = relation.render() if hasattr(relation, "render") else str(relation)
        if getattr(relation, "limit", None) is not None:
            name = relation.replace(limit=None).render()
        node = nodes.node_named(self._adapter.get_macro_resolver(), name)
        if str(model["resource_type"]) != "model" or self._shown:
            return nodes.as_batch(str(relation), node)
        with self.as_dbt_errors():
            environment = self._adapter.connections.environment
            source = nodes.stream_of(model, name, node, watermark, event_time, environment)
        return self._registry.add(model["unique_id"], source)

    @property
    def _shown(self) -> bool:
        """True if models are shown and not run: in `dbt show`, a request, and while this thread records nodes' SQL."""
        connections = self._adapter.connections
        return dbtflags.which() == "show" or connections.notes is not None or connections.request is not None

    def compiled(self, node: Any, sql: str) -> str:
        """Compiled SQL of a streaming model that can stream; its plan in `dbt compile` and `dbt docs generate`."""
        plan = self.planned(node, sql)
        return plan.describe() if dbtflags.which() in ("compile", "generate") else sql

    def planned(self, node: Any, sql: str) -> StreamPlan:
        """The plan of a streaming model."""
        connections = self._adapter.connections
        with self.as_dbt_errors():
            config = StreamConfig.read(node.config.to_dict(omit_none=True), connections.project)
        utc = connections.shows_utc()
        dialect = node.config.get("sql_dialect") or "spark"

        def warn(warning: TranslationWarning) -> None:
            connections.warn(warning, "the compiled SQL", sql)

        plan = self._plans[node.unique_id, sql, utc] = self._plan(node.unique_id, sql, dialect, config, utc, warn)
        return plan

    def _plan(
        self,
        model: str,
        sql: str,
        dialect: str,
        config: StreamConfig,
        utc: bool,
        warn: Warn = lambda _: None,
        slices: bool = True,
    ) -> StreamPlan:
        connections = self._adapter.connections
        streams = self._registry.of(model)
        schema = self._schema(model, config)
        try:
            options = connections.options
            with options.limits():
                return nodes.planned(
                    sql,
                    dialect,
                    streams,
                    schema,
                    config,
                    utc=utc,
                    optimize=slices and options.optimizes,
                    arrival=options.arrival,
                    warn=warn,
                )
        except TranslationError as error:
            rendered = connections.texts.rendered(sql)
            message = described(error, connections.node, connections.project, "the compiled SQL", rendered)
            raise CompilationError(message, connections.node) from error

    def _schema(self, model: str, config: StreamConfig) -> dict[str, dict[str, str]]:
        """Stream -> its columns, for those streams of a model whose tables Spark has."""
        schema = {}
        for view, source in self._registry.of(model).items():
            columns = {} if source.reader else self._adapter.connections.schema_of(source.relation)
            if columns:
                schema[view] = nodes.streamed(source, config, columns)
        return schema

    def run(
        self, node: Mapping[str, Any], sql: str, relation: Any, rebuild: bool = False, run_id: str = ""
    ) -> dict[str, Any]:
        """Runs a streaming model; returns its message, number of rows, plan, and whether it was interrupted."""
        adapter = self._adapter
        model = self._read(node, sql, relation, run_id)
        interval = (model.config.interval or stopping.DEFAULT_INTERVAL) if stopping.is_on() else None
        model = replace(model, config=replace(model.config, interval=interval))

        def report(line: str) -> None:
            (logger.info if stopping.is_on() else logger.debug)(f"{model.identifier}: {line}")

        with self._session() as engine:
            utc = engine.is_utc()
            plan = self._plans.pop((model.unique_id, sql, utc), None)
            if plan is None:  # a hook has set another time zone, for example
                plan = self._plan(model.unique_id, sql, model.dialect, model.config, utc)
            if plan.by_instant and nodes.changes_clock(zone := engine.zone()):
                self._warn(
                    f"{model.identifier}: where the clock of {zone} changes, sessions of a stream aren't the sessions "
                    "of batch: a gap is elapsed time on a stream, and a difference of times on the wall clock in batch"
                    "\n  set spark.sql.session.timeZone to UTC where that matters"
                )
            with (
                self._line.of(model.identifier, not dbtflags.is_quiet()) as show,
                self._announced(model.unique_id) as stops,
            ):
                reporter = self._lineage(model, node, engine)
                settled = reporter.goes_on if reporter else lambda rows: None
                drop = partial(adapter.drop_relation, relation)
                run = Run(model, plan, engine, report, self._warn, stops, show, settled)
                process = partial(run, drop, rebuild=rebuild, empty=dbtflags.is_empty())
                outcome = reporter.of_run(process) if reporter else process()
        interrupted = self._cancelled.is_set()
        message = outcome.message + (", interrupted: the next run goes on" if interrupted else "")
        return {"message": message, "rows": outcome.rows, "sql": plan.describe(), "interrupted": interrupted}

    def _read(self, node: Mapping[str, Any], sql: str, relation: Any, run_id: str) -> Model:
        runs = relation.incorporate(path={"identifier": RUNS})
        streams, project = self._registry.of(node["unique_id"]), self._adapter.connections.project
        with self.as_dbt_errors():
            return nodes.read_model(node, sql, str(relation), str(runs), streams, run_id, project)

    def backfill(self, name: str, range_: Range, removes: bool, run_id: str = "") -> str:
        """Replaces a range of time in the table of a model (`name` or `package.name`); `removes` as for `Backfill`."""
        from dbt.compilation import Compiler

        adapter = self._adapter
        manifest: Any = adapter.get_macro_resolver()
        [chosen] = self._chosen([name])
        compiled = Compiler(adapter.config).compile_node(deepcopy(manifest.nodes[chosen.id]), manifest, write=False)
        relation = adapter.Relation.create_from(adapter.config, compiled)
        sql = str(compiled.compiled_code)
        model = self._read(compiled.to_dict(omit_none=True), sql, relation, run_id)
        with self._session() as engine:
            utc = engine.is_utc()
            plan = self._plan(model.unique_id, sql, model.dialect, model.config, utc)
            # The same query for batch: plain windows instead of slices, no early results, no corrections.
            config = replace(model.config, lateness=None, shows_open=False)
            batch = self._plan(model.unique_id, sql, model.dialect, config, utc, slices=False)
            return Backfill(model, plan, engine, logger.info, batch=batch)(range_, removes=removes)

    def _lineage(self, model: Model, node: Mapping[str, Any], engine: Engine) -> lineage.Lineage | None:
        """Reporter of a run to OpenLineage; None if that isn't configured, or can't be made."""
        try:
            if (client := self._openlineage) is None:
                return None
            manifest: Any = self._adapter.get_macro_resolver()
            others = [manifest.nodes.get(id_) or manifest.sources.get(id_) for id_ in node["depends_on"]["nodes"]]
            tables = [name for other in others if (name := getattr(other, "relation_name", None))]
            credentials = self._adapter.connections.environment.credentials
            return lineage.Lineage.of(client, model, engine, credentials, tables, logger.info)
        except Exception as failure:  # the run is right without it
            logger.warning(f"{model.identifier}: OpenLineage can't be told of the run: {failure}")
            return None

    def overview(self, names: Sequence[str]) -> list[dict[str, Any]]:
        """State of streaming models, a dict for each: of those named (`name` or `package.name`), or of all."""
        chosen = self._chosen(names)
        with self._session() as engine:
            return overview(engine, chosen)

    def stop(self, names: Sequence[str], patience: float) -> dict[str, str]:
        """Ends the runs of streaming models, each when its micro-batch has ended."""
        chosen, environment = dict(zip(names, self._chosen(names), strict=True)), self._adapter.connections.environment
        if environment.python == SESSION:
            return stopped({name: Announced(environment.project, model.id) for name, model in chosen.items()}, patience)
        with self._session() as engine:
            return stopped({name: OnServer(engine, model) for name, model in chosen.items()}, patience)

    def _chosen(self, names: Sequence[str]) -> list[StreamModel]:
        """Streaming models of the project, by name; all for no names."""
        manifest: Any = self._adapter.get_macro_resolver()
        found = {}
        for node in manifest.nodes.values():
            if nodes.is_streaming(node.resource_type, node.config.materialized):
                relation = self._adapter.Relation.create_from(self._adapter.config, node)
                runs = relation.incorporate(path={"identifier": RUNS})
                config = StreamConfig(file_format=str(node.config.get("file_format") or "parquet").lower())
                found[node.unique_id] = StreamModel(node.unique_id, node.name, str(relation), str(runs), config)
        ids = [find_model(manifest, name, "this takes").unique_id for name in names]
        if strange := [name for name, id_ in zip(names, ids, strict=True) if id_ not in found]:
            raise DbtRuntimeError(
                f"{strange[0]} is no streaming model\n  write config(materialized='{MATERIALIZATION}') in it"
            )
        return [found[id_] for id_ in ids] or list(found.values())

    def _warn(self, text: str) -> None:
        warn_or_error(AdapterEventWarning(name=logger.name, base_msg=text), node=self._adapter.connections.node)

    @contextmanager
    def _session(self) -> Iterator[Engine]:
        """Engine with a session of its own, closed at the end; errors are dbt's."""
        with self.as_dbt_errors(), closing(Engine.open(self._adapter.connections.environment)) as engine:
            yield engine

    @contextmanager
    def as_dbt_errors(self) -> Iterator[None]:
        """Turns a StreamingError into dbt's, with the place in the model's file that Spark's error comes from."""
        connections = self._adapter.connections
        try:
            with spark_errors():
                yield
        except StreamingError as error:
            root = error.fault.root
            told = readable(root) if PYTHON_TRACE in str(error) else str(error)
            place = connections.texts.found(root, connections.node, connections.project)
            if place is not None:
                of_spark = readable(root, place) if told == readable(root) else None
                raise PlacedError(of_spark or shown(Finding(without_spot(told)), place)) from error
            wrong, node = PlacedError(told), connections.node
            if getattr(node, "raw_code", None):
                placed_stream(wrong, node, connections.project)
            raise wrong from error
