"""One run of a streaming model, from its query to what it says it did."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dbt.adapters.sparkstream.sql.streaming import StreamPlan
from dbt.adapters.sparkstream.sql.streaming.endings import (
    CLOSED,
    KEPT,
    NEW,
    SO_FAR,
    UNTIL,
    OnHistory,
    OnSessions,
    OnSlices,
)
from dbt.adapters.sparkstream.streaming import errors, runs
from dbt.adapters.sparkstream.streaming.deltatable import DeltaTable
from dbt.adapters.sparkstream.streaming.engine import Engine, Rows
from dbt.adapters.sparkstream.streaming.errors import REBUILD, SourceChanged, StreamingError, explained
from dbt.adapters.sparkstream.streaming.filetable import FileTable
from dbt.adapters.sparkstream.streaming.fingerprint import fingerprint
from dbt.adapters.sparkstream.streaming.kept import RowStore, SliceStore, Watermark
from dbt.adapters.sparkstream.streaming.late import Aside, LateRows, tables_beside, warnings
from dbt.adapters.sparkstream.streaming.lease import Holder, Lease
from dbt.adapters.sparkstream.streaming.model import Model
from dbt.adapters.sparkstream.streaming.offsets import done_folder, last_begun
from dbt.adapters.sparkstream.streaming.outcome import Outcome, outcome
from dbt.adapters.sparkstream.streaming.paths import beside
from dbt.adapters.sparkstream.streaming.progress import Batch, so_far, told
from dbt.adapters.sparkstream.streaming.query import ModelQuery
from dbt.adapters.sparkstream.streaming.running import Running
from dbt.adapters.sparkstream.streaming.sink import Append, DeltaAppend, Done, Fence, IcebergAppend, Sink
from dbt.adapters.sparkstream.streaming.source import StreamSource
from dbt.adapters.sparkstream.streaming.sources import Sources
from dbt.adapters.sparkstream.streaming.table import DELTA, FILE_FORMATS, ICEBERG, StreamTable
from dbt.adapters.sparkstream.streaming.topics import Topics

_KINDS = {**dict.fromkeys(FILE_FORMATS, FileTable), DELTA: DeltaTable}

SETTLES = 30.0
"""Seconds after which a run that goes on notes what it has done."""


@dataclass
class _Watch:
    """What is seen of a query while it runs; micro-batches up to `settled` are noted in the table's properties."""

    batches: list[Batch] = field(default_factory=list)
    aside: dict[int, Aside] = field(default_factory=dict)
    appended: dict[int, tuple[int, int | None]] = field(default_factory=dict)
    settled: int = -1


class Run:
    """A run of a model.

    Args:
        model: the model.
        plan: of its query.
        engine: a session of its own.
        report: told, in a line, what is worth telling while the run goes on.
        stopping: whether to end when the micro-batch that runs has ended.
        show: told, again and again, how far the run is; None where nobody looks.
        warn: told what a person has to know, and do.
    """

    def __init__(
        self,
        model: Model,
        plan: StreamPlan,
        engine: Engine,
        report: Callable[[str], None] = lambda line: None,
        stopping: Callable[[], bool] = lambda: False,
        show: Callable[[str], None] | None = None,
        warn: Callable[[str], None] = lambda text: None,
    ) -> None:
        self.model = model
        self._plan = plan
        self._engine = engine
        self._report = report
        self._show = show
        self._warn = warn
        self._stopping = stopping
        self._table = _KINDS.get(model.config.file_format, StreamTable)(engine, model.relation)
        self._sources = Sources(engine, model.config, report)
        self._query = ModelQuery(model, plan, engine, self._sources)
        self._is_new = False

    def __call__(self, drop: Callable[[], None], *, rebuild: bool = False, empty: bool = False) -> Outcome:
        """Processes what is new.

        Args:
            drop: drops the model's table.
            rebuild: whether to begin anew.
            empty: whether to make the table only.

        Raises:
            StreamingError: why nothing, or not all, was processed. What was processed stays, and isn't again.
        """
        rebuilt = False
        while True:
            try:
                return self._run(drop, rebuild, empty)
            except SourceChanged as change:
                if rebuilt or self.model.config.on_source_change != "rebuild":
                    raise
                self._report(f"{str(change).splitlines()[0]}: making the table anew")
                rebuild = rebuilt = True
            except errors.UnknownSchema as unknown:
                self._engine.streams.learn(unknown.relation, unknown.id)
                self._report(f"{unknown}: going on with it")
                rebuild = False  # that is done
            except errors.EndedAfterRepeat as ended:
                self._report(f"{ended}: going on")
                rebuild = False

    def _run(self, drop: Callable[[], None], rebuild: bool, empty: bool) -> Outcome:
        sources = [self._query.define(source) for source in self.model.sources if source.view in self._plan.streams]
        self._is_new = False
        rows, columns = self._query.understood()
        self._query.check_contract(columns)
        self._query.check_sink(columns)
        flushes = self.model.config.flush is not None
        zone = self._engine.zone()
        query = fingerprint(
            self.model.sql, self.model.dialect, sources, columns, flushes, zone, slices=self._plan.slices
        )
        identities = {source.view: self._sources.identity(source) for source in sources}
        lease = Lease(self._table, Holder.mine(self._engine.java(), self._engine.session()), self._report)
        try:
            exists = self._engine.exists(self.model.relation)
            known: Mapping[str, str] = self._table.properties() if exists else {}
            must_make = not exists or self._is_taken(known, lease, rebuild)
            if not must_make:
                is_outdated = self._is_outdated(known, query, sources, identities)
                if is_outdated is None:
                    return outcome(self._engine, [], {}, {})
                must_make = is_outdated
            if must_make:
                self._sources.check_beginning(sources)
                before = self._folder(known) if "kept" in known else None
                if exists and not self._table.replaces():
                    drop()
                known = self._create(columns, query, identities, lease)
                if before is not None:
                    self._engine.folders.clear(before)
            if empty:
                return Outcome("made, with no rows read", 0)
            checkpoint = self._checkpoint(known)
            if flushes:
                self._engine.folders.prepare_flush(_flush_folder(checkpoint))
                sources = [self._query.define(source, _flush_folder(checkpoint)) for source in sources]
                rows, _ = self._query.understood()
            try:
                return self._process(rows, columns, sources, identities, checkpoint, lease)
            except StreamingError as error:
                raise explained(error, checkpoint) from error
        finally:
            lease.release()

    def _create(
        self, columns: Sequence[tuple[str, str]], query: str, identities: Mapping[str, str], lease: Lease
    ) -> Mapping[str, str]:
        """Makes the table, and gives what is noted of it."""
        model, generation = self.model, uuid.uuid4().hex
        known = {
            "table": generation,
            "kept": f"{model.identifier}-{generation}",
            "query": query,
            "sources": json.dumps(identities),
            "batch": "-1",
            "files": "",
            **lease.fact,
        }
        # Late rows of a table that was there before are none of this one's.
        for table in tables_beside(model):
            self._engine.sql(f"DROP TABLE IF EXISTS {table}")
        self._table.create(
            columns,
            model.config,
            known,
            model.comments,
            model.identifier,
            model.comments.get(""),
        )
        lease.made(known)
        self._is_new = True
        return known

    def _is_taken(self, known: Mapping[str, str], lease: Lease, rebuild: bool) -> bool:
        """Takes the right to the table that is there, and ends what an earlier run has left running.

        Returns:
            Whether the table is to be made anew in any case.

        Raises:
            StreamingError: another run has the table, or it is no streaming model's.
        """
        is_ours = "query" in known
        before = lease.take(known) if is_ours else None
        if before is not None:
            self._report("the run before this one has ended without a word; going on where it was")
            if before.session is not None:
                self._engine.end_queries(before.session)
        if not is_ours and not rebuild:
            raise StreamingError(
                f"{self.model.relation} is there already, and no streaming model has made it\n  {REBUILD}"
            )
        return rebuild

    def _is_outdated(
        self,
        known: Mapping[str, str],
        query: str,
        sources: Sequence[StreamSource],
        identities: Mapping[str, str],
    ) -> bool | None:
        """Whether the table has to be made anew, going by what is noted of it; None if there is nothing to read.

        Raises:
            StreamingError: it would have to be, and nobody has said that it may.
        """
        config = self.model.config
        if known["query"] != query:
            if config.on_query_change == "rebuild":
                self._report("the query has changed: making the table anew")
                return True
            raise StreamingError(
                "the query, its columns, its sources, its watermark or the time zone have changed since the table was "
                "made, and windows half done by the old query can't be ended by the new one\n"
                f"  {REBUILD}, or write config(on_query_change='rebuild')"
            )
        before = json.loads(known.get("sources") or "{}")
        for source in self.model.sources:
            if before.get(source.view) != identities.get(source.view, before.get(source.view)):
                what = "is not the table that it was: it has been made anew, and its rows would be processed again"
                return self._sources.must_rebuild(source.relation, what)
        return self._sources.follow(sources, self._checkpoint(known))

    def _folder(self, known: Mapping[str, str]) -> str:
        """The folder of all that is kept of a table beside its rows: another one each time that the table is made.

        It isn't in the table's own folder, which Spark deletes when somebody overwrites the whole table.
        """
        root = self.model.config.checkpoint_location or f"{beside(self._table.facts().location)}/_sparkstream"
        return f"{root.rstrip('/')}/{known['kept']}"

    def _checkpoint(self, known: Mapping[str, str]) -> str:
        """The folder with a table's offsets and state."""
        if "kept" in known:
            return f"{self._folder(known)}/checkpoint"
        # A table of version 0.1.0.
        root = self.model.config.checkpoint_location
        if root is None:
            return f"{self._table.facts().location}/_checkpoint"
        return f"{root.rstrip('/')}/{self.model.identifier}-{known['table']}"

    def _process(
        self,
        rows: Rows,
        columns: Sequence[tuple[str, str]],
        sources: Sequence[StreamSource],
        identities: Mapping[str, str],
        checkpoint: str,
        lease: Lease,
    ) -> Outcome:
        model, table = self.model, self._table
        begun = -1 if self._is_new else last_begun(self._engine, checkpoint)
        known = lease.confirm()
        last = int(known["batch"])
        if begun < last:
            raise StreamingError(
                f"the checkpoint in {checkpoint} is gone, or not the table's: nobody knows which rows it has\n"
                f"  {REBUILD}"
            )
        table.check_foreign(known, last, begun, model.config.on_foreign_write == "accept")
        sink = self._sink(known, columns, lease, begun, checkpoint)
        late = LateRows(self._engine, self._plan, sources, checkpoint, model, self._sources.facts_of)
        watch = _Watch(settled=last)
        mode = "update" if self._plan.slices else "append"
        running = self._engine.start(rows, sink, checkpoint, model.identifier, model.config.interval, mode)
        try:
            late.create()
            for number in range(last + 1, begun + 1):  # of a run that ended before it counted them
                watch.aside[number] = late.of_earlier(number)
            self._follow(running, watch, late, identities)
            if model.config.flush:
                self._engine.folders.flush(_flush_folder(checkpoint), [s.event_time for s in sources if s.event_time])
                running = self._engine.start(rows, sink, checkpoint, model.identifier, None, mode)
                self._follow(running, watch, late, identities)
        except Exception:
            running.stop()
            raise
        except BaseException:
            running.stop(patience=0)
            raise
        noted = begun == last and known["sources"] == json.dumps(identities) and table.is_noted(known)
        if watch.batches or not noted:
            self._settle(watch, max(begun, last), identities, lease)
        if watch.batches:
            Topics(self._engine, sources, checkpoint, self._sources.facts_of).note(watch.batches[-1].number)
        return outcome(self._engine, watch.batches, watch.appended, watch.aside)

    def _sink(
        self,
        known: Mapping[str, str],
        columns: Sequence[tuple[str, str]],
        lease: Lease,
        begun: int,
        checkpoint: str,
    ) -> Sink:
        config, table = self.model.config, self._table
        common: dict[str, Any] = {
            "table": self.model.relation,
            "columns": table.columns(),
            "closed": CLOSED,
            "query": self._plan.ending.query,
            "begun": begun,
            "fence": Fence(self.model.relation, table.owned(known, lease.owned)),
            "done": Done(done_folder(checkpoint)),
            "history": self._history(checkpoint),
            "producer": config.topic.producer(columns, known["table"]) if config.topic else None,
        }
        if config.file_format == DELTA:
            return DeltaAppend(generation=known["table"], **common)
        kind = IcebergAppend if config.file_format == ICEBERG else Append
        return kind(
            partitions=len(config.partition_by) + 1,
            by_files=config.file_format in FILE_FORMATS,
            is_managed=table.facts().kind == "MANAGED",
            **common,
        )

    def _history(self, checkpoint: str) -> RowStore | SliceStore | None:
        ending, folder = self._plan.ending, f"{checkpoint}_history"
        if isinstance(ending, OnHistory):
            return RowStore(folder, CLOSED, ending.kept, NEW)
        watermark = Watermark(checkpoint, UNTIL)
        if isinstance(ending, OnSessions):
            return RowStore(folder, SO_FAR, ending.kept, closing=ending.closed, watermark=watermark)
        if isinstance(ending, OnSlices):
            return SliceStore(folder, SO_FAR, ending.kept, NEW, KEPT, ending.closed, watermark)
        return None

    def _settle(self, watch: _Watch, begun: int, identities: Mapping[str, str], ending: Lease | None = None) -> None:
        """Notes what was done since the last time, and at the end that the table is free."""
        model, table = self.model, self._table
        finished = max([begun, *(batch.number for batch in watch.batches)])
        # The sink has a session of its own. This one may know files of an interrupted micro-batch, which are gone.
        table.refresh()
        appended, noted = table.settled(watch.settled, finished, self._plan.windows)
        free = ending.end() if ending else {}
        table.note(batch=str(finished), files=noted, sources=json.dumps(identities), **free)
        watch.appended |= appended
        new = [batch for batch in watch.batches if batch.number > watch.settled]
        self._warn_of_rows(Aside.total(one for number, one in watch.aside.items() if number > watch.settled), watch)
        watch.settled = finished
        try:
            run = runs.RunRecord(model.run_id, model.unique_id, model.relation)
            runs.record(self._engine, model.runs, run, new, appended, watch.aside)
        except StreamingError as error:
            self._report(f"can't write to {model.runs}: {error}")

    def _warn_of_rows(self, left: Aside, watch: _Watch) -> None:
        config = self.model.config
        watermark = next((batch.watermark for batch in reversed(watch.batches) if batch.watermark), None)
        late, broken = tables_beside(self.model)
        late_table, broken_table = late if config.keep_late else None, broken if config.keep_unreadable else None
        for text in warnings(left, watermark, config.max_future, late_table, broken_table):
            self._warn(f"{self.model.unique_id}: {text}")

    def _follow(self, running: Running, watch: _Watch, late: LateRows, identities: Mapping[str, str]) -> None:
        settled = time.monotonic()
        for new in running.batches():
            watch.batches += new
            for batch in new:
                self._report(told(batch, self._plan.state))
                watch.aside[batch.number] = late.of(batch)
            if self._show is not None:
                self._show(so_far(watch.batches, running.doing(), self._plan.state))
            if self._stopping():
                running.stop()
            if new and time.monotonic() - settled > SETTLES:
                self._settle(watch, watch.settled, identities)
                settled = time.monotonic()


def _flush_folder(checkpoint: str) -> str:
    """The folder of the rows that move the watermark when a run flushes."""
    return f"{checkpoint}_flush"
