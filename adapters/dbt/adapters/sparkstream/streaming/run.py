"""One run of a streaming model, from its query to what it says it did."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from dbt.adapters.sparkstream.sql.streaming import StreamPlan
from dbt.adapters.sparkstream.streaming import errors, runs
from dbt.adapters.sparkstream.streaming.engine import Engine, Rows
from dbt.adapters.sparkstream.streaming.errors import REBUILD, SourceChanged, StreamingError, explained
from dbt.adapters.sparkstream.streaming.fingerprint import fingerprint
from dbt.adapters.sparkstream.streaming.late import Aside, LateRows, tables_beside, warnings
from dbt.adapters.sparkstream.streaming.lease import Holder, Lease
from dbt.adapters.sparkstream.streaming.model import Model
from dbt.adapters.sparkstream.streaming.offsets import last_begun, last_done
from dbt.adapters.sparkstream.streaming.openwindows import OpenWindows
from dbt.adapters.sparkstream.streaming.outcome import Outcome, outcome
from dbt.adapters.sparkstream.streaming.paths import beside, path_of
from dbt.adapters.sparkstream.streaming.progress import Batch, so_far, told
from dbt.adapters.sparkstream.streaming.query import ModelQuery
from dbt.adapters.sparkstream.streaming.running import Running
from dbt.adapters.sparkstream.streaming.sinks import sink_of
from dbt.adapters.sparkstream.streaming.source import StreamSource
from dbt.adapters.sparkstream.streaming.sources import Sources
from dbt.adapters.sparkstream.streaming.tables import table_of
from dbt.adapters.sparkstream.streaming.topics import Topics

OWNER = "table"
"""The file beside a checkpoint that says where the table lies."""

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
        self._table = table_of(engine, model.relation, model.config.file_format)
        self._sources = Sources(engine, model.config, report)
        self._query = ModelQuery(model, plan, engine, self._sources)
        self._views = OpenWindows(engine, model, plan)
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
        self._views.check(columns)
        flushes = self.model.config.flush is not None
        zone = self._engine.zone()
        lateness = self.model.config.lateness
        keeps = (*self._plan.keeps, *([] if lateness is None else [str(lateness.micros)]))
        query = fingerprint(self.model.sql, self.model.dialect, sources, columns, flushes, zone, keeps=keeps)
        identities = {source.view: self._sources.identity(source) for source in sources}
        lease = Lease(self._table, Holder.mine(self._engine.java(), self._engine.session()), self._report)
        try:
            exists = self._table.found()
            known: Mapping[str, str] = self._table.properties() if exists else {}
            must_make = not exists or self._is_taken(known, lease, rebuild)
            if not must_make:
                is_outdated = self._is_outdated(known, query, sources, identities)
                if is_outdated is None:
                    return outcome(self._engine, [], {}, {})
                must_make = is_outdated
            if must_make:
                self._sources.check_beginning(sources)
                before = [self._folder(known)] if "kept" in known else []
                before += self._table.remains(known) if exists else []
                if exists and not self._table.replaces():
                    drop()
                known = self._create(columns, query, identities, lease)
                self._clear(before, known)
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
        self._views.drop()
        comments = model.comments
        self._table.create(columns, model.config, known, comments, model.identifier, comments.get(""))
        lease.made(known)
        self._views.make(columns)
        self._is_new = True
        return known

    def _clear(self, folders: Sequence[str], known: Mapping[str, str]) -> None:
        """Removes what tables that were made before this one have left.

        Args:
            folders: their folders, as far as they are known.
            known: what is noted of this one.
        """
        # Of a table that was dropped by hand, only a file beside its checkpoint tells whose that was.
        kept, location = known["kept"], path_of(self._table.facts().location)
        root = beside(self._folder(known))
        self._engine.folders.write_lines(f"{root}/{kept}/{OWNER}", [location])
        others = self._engine.folders.named_lines(f"{root}/{self.model.identifier}-*/{OWNER}")
        left = [beside(beside(file)) for file, line in others if line == location]
        for folder in {path_of(folder) for folder in [*folders, *left]}:
            if folder != location and not folder.endswith(f"/{kept}"):
                self._engine.folders.clear(folder)

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
        table.tidy(known)
        table.check_foreign(known, last, begun, model.config.on_foreign_write == "accept")
        sink = sink_of(model, self._plan, table, columns, known, lease.owned, begun, checkpoint, self._views)
        late = LateRows(self._engine, self._plan, sources, checkpoint, model, self._sources.facts_of)
        watch = _Watch(settled=last)
        mode = "update" if self._plan.updates else "append"
        if begun < 0:  # a run may have been killed before it made them
            self._views.make(columns)
        running = self._engine.start(rows, sink, checkpoint, model.identifier, model.config.interval, mode)
        try:
            late.create()
            for number in range(last + 1, begun + 1):  # of a run that ended before it counted them
                watch.aside[number] = late.of_earlier(number)
            told_to_end = self._follow(running, watch, late, identities, lease)
            if model.config.flush and not told_to_end:  # else rows that come next would be late
                self._engine.folders.flush(_flush_folder(checkpoint), [s.event_time for s in sources if s.event_time])
                running = self._engine.start(rows, sink, checkpoint, model.identifier, None, mode)
                self._follow(running, watch, late, identities, lease)
        except Exception:
            running.stop()
            raise
        except BaseException:
            running.stop(patience=0)
            raise
        noted = begun == last and known["sources"] == json.dumps(identities) and table.is_noted(known)
        if watch.batches or not noted:
            self._end(watch, max(begun, last), last, identities, checkpoint, lease)
        if watch.batches:
            Topics(self._engine, sources, checkpoint, self._sources.facts_of).note(watch.batches[-1].number)
        return outcome(self._engine, watch.batches, watch.appended, watch.aside)

    def _end(
        self, watch: _Watch, begun: int, last: int, identities: Mapping[str, str], checkpoint: str, lease: Lease
    ) -> None:
        """Notes what was done, and that the table is free; puts its rows into few files before, if that is due."""
        every = self.model.config.compact_every
        if every is None:
            self._settle(watch, begun, identities, lease)
            return
        self._settle(watch, begun, identities)
        files = None
        # A micro-batch that Ctrl-C has interrupted may have left some of its rows.
        if last_begun(self._engine, checkpoint) == last_done(self._engine, checkpoint):
            try:
                files = self._table.compact(every, last, watch.settled, self.model.config.partition_by)
            except StreamingError as error:
                self._warn(f"{self.model.unique_id}: the table can't be compacted: {error}")
        self._table.note(**({} if files is None else {"files": files}), **lease.end())

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
            runs.record(self._engine, model.runs, run, new, appended, watch.aside, model.config.file_format)
        except StreamingError as error:
            self._report(f"can't write to {model.runs}: {error}")

    def _warn_of_rows(self, left: Aside, watch: _Watch) -> None:
        config = self.model.config
        watermark = next((batch.watermark for batch in reversed(watch.batches) if batch.watermark), None)
        late, broken = tables_beside(self.model)
        late_table, broken_table = late if config.keep_late else None, broken if config.keep_unreadable else None
        for text in warnings(left, watermark, config.max_future, late_table, broken_table):
            self._warn(f"{self.model.unique_id}: {text}")

    def _follow(
        self, running: Running, watch: _Watch, late: LateRows, identities: Mapping[str, str], lease: Lease
    ) -> bool:
        """Watches a query until it has ended; whether it was told to end."""
        settled, told_to_end = time.monotonic(), False
        for reported in running.batches():
            new = [batch.closing(self.model.config.lateness) for batch in reported]
            watch.batches += new
            for batch in new:
                self._report(told(batch, self._plan.state))
                watch.aside[batch.number] = late.of(batch)
            if self._show is not None:
                self._show(so_far(watch.batches, running.doing(), self._plan.state))
            if self._stopping() or lease.is_told_to_end:
                told_to_end = True
                running.stop()
            if new and time.monotonic() - settled > SETTLES:
                self._settle(watch, watch.settled, identities)
                settled = time.monotonic()
        return told_to_end


def _flush_folder(checkpoint: str) -> str:
    """The folder of the rows that move the watermark when a run flushes."""
    return f"{checkpoint}_flush"
