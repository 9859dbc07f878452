"""One run of a streaming model, from its query to what it says it did."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable, Mapping, Sequence

from dbt.adapters.sparkstream.sql.streaming import StreamPlan
from dbt.adapters.sparkstream.streaming import errors
from dbt.adapters.sparkstream.streaming.engine import Engine, Rows
from dbt.adapters.sparkstream.streaming.errors import REBUILD, SourceChanged, StreamingError, explained
from dbt.adapters.sparkstream.streaming.fingerprint import fingerprint
from dbt.adapters.sparkstream.streaming.late import Aside, LateRows, tables_beside
from dbt.adapters.sparkstream.streaming.lease import KEY, Holder, Lease
from dbt.adapters.sparkstream.streaming.model import Model
from dbt.adapters.sparkstream.streaming.offsets import NOTHING_YET, Noted
from dbt.adapters.sparkstream.streaming.openwindows import OpenWindows
from dbt.adapters.sparkstream.streaming.outcome import Outcome, outcome
from dbt.adapters.sparkstream.streaming.paths import beside, path_of
from dbt.adapters.sparkstream.streaming.progress import Progress, told
from dbt.adapters.sparkstream.streaming.query import ModelQuery
from dbt.adapters.sparkstream.streaming.reader import is_other
from dbt.adapters.sparkstream.streaming.running import Running
from dbt.adapters.sparkstream.streaming.sinks import sink_of
from dbt.adapters.sparkstream.streaming.source import StreamSource
from dbt.adapters.sparkstream.streaming.sources import Sources
from dbt.adapters.sparkstream.streaming.tables import table_of
from dbt.adapters.sparkstream.streaming.topics import Topics
from dbt.adapters.sparkstream.streaming.watch import Watch

OWNER = "table"
"""The file beside a checkpoint that says where the table lies."""

ENDED = "ended"
"""The property with the last micro-batch of a run that has ended by itself, so that none is due until rows come."""

SETTLES = 30.0
"""Seconds after which a run that goes on notes what it has done."""


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
        settled: told, when a run that goes on has noted what it has done, how many rows it has appended.
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
        settled: Callable[[int], None] = lambda rows: None,
    ) -> None:
        self.model = model
        self._plan = plan
        self._engine = engine
        self._report = report
        self._show = show
        self._warn = warn
        self._settled = settled
        self._stopping = stopping
        self._table = table_of(engine, model.relation, model.config.file_format)
        self._sources = Sources(engine, model.config, report)
        self._query = ModelQuery(model, plan, engine, self._sources)
        self._views = OpenWindows(engine, model, plan)
        self._is_new = False
        self._noted = Noted(-1, -1, NOTHING_YET, ())
        """What the checkpoint said when the run took the table that is there."""

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
            if exists and not rebuild and not empty and self._has_nothing_new(known, query, sources, identities):
                return self._nothing()
            must_make = not exists or self._is_taken(known, lease, rebuild)
            if not must_make:
                is_outdated = self._is_outdated(known, query, sources, identities)
                if is_outdated is None:
                    return self._nothing()
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
        checkpoint = self._checkpoint(known)
        self._noted = Noted.of(self._engine, checkpoint, int(known["batch"]))
        return self._sources.follow(sources, checkpoint, self._noted)

    def _nothing(self) -> Outcome:
        return outcome(self._engine, Progress(), 0, None, 0, Aside())

    def _has_nothing_new(
        self,
        known: Mapping[str, str],
        query: str,
        sources: Sequence[StreamSource],
        identities: Mapping[str, str],
    ) -> bool:
        """Whether it is certain that a run would find nothing to do, without taking the right to the table.

        It is where the run before has ended by itself, nothing has changed since, and all sources are files, which are
        those that were read. Then no rows are to be read, and no window waits for a micro-batch that closes or
        corrects it.
        """
        config, table, last = self.model.config, self._table, known.get("batch", "-1")
        if config.interval is not None or config.flush is not None or known.get(KEY) or known.get(ENDED) != last:
            return False
        if known["query"] != query or json.loads(known["sources"]) != identities or not table.is_tidy(known):
            return False
        noted = Noted.of(self._engine, self._checkpoint(known), int(last))
        if not noted.begun == noted.done == int(last) or not self._sources.are_as_read(sources, noted):
            return False
        if config.keep_late and not self._engine.exists(tables_beside(self.model)[0]):
            return False
        try:
            table.check_foreign(known, int(last), noted.begun, config.on_foreign_write == "accept")
        except StreamingError:
            return False  # a run that has the table to itself will tell, unless one that began meanwhile has written
        return table.is_noted(known) and not table.is_scattered(known, config.compact_every)

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
        begun = -1 if self._is_new else self._noted.begun
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
        watch = Watch(
            self._engine, model, self._plan.windows, table, checkpoint, late, identities, last, self._report, self._warn
        )
        mode = "update" if self._plan.updates else "append"
        if begun < 0:  # a run may have been killed before it made them
            self._views.make(columns)
        running = self._engine.start(rows, sink, checkpoint, model.identifier, model.config.interval, mode)
        try:
            late.create()
            watch.add_earlier(range(last + 1, begun + 1))  # of a run that ended before it counted them
            told_to_end = self._follow(running, watch, lease)
            if begun > last and not told_to_end and any(is_other(source.reader) for source in sources):
                # Of such sources Spark ends with the micro-batch that was interrupted.
                running = self._engine.start(rows, sink, checkpoint, model.identifier, model.config.interval, mode)
                told_to_end = self._follow(running, watch, lease)
            if model.config.flush and not told_to_end:  # else rows that come next would be late
                self._engine.folders.flush(_flush_folder(checkpoint), [s.event_time for s in sources if s.event_time])
                running = self._engine.start(rows, sink, checkpoint, model.identifier, None, mode)
                self._follow(running, watch, lease)
        except Exception:
            running.stop()
            raise
        except BaseException:
            running.stop(patience=0)
            raise
        ended = {} if told_to_end else {ENDED: str(watch.finished)}
        noted = begun == last and known["sources"] == json.dumps(identities) and table.is_noted(known)
        newest = watch.progress.last
        is_scattered = table.is_scattered(known, model.config.compact_every)
        if newest is not None or not noted or is_scattered or not ended.items() <= known.items():
            watch.end(last, ended, lease)
        if newest is not None:
            Topics(self._engine, sources, checkpoint, self._sources.facts_of).note(newest.number)
        return outcome(self._engine, watch.progress, watch.rows, watch.windows, watch.corrected, watch.left)

    def _follow(self, running: Running, watch: Watch, lease: Lease) -> bool:
        """Watches a query until it has ended; whether it was told to end."""
        settled, told_to_end = time.monotonic(), False
        for reported in running.batches():
            new = [batch.closing(self.model.config.lateness) for batch in reported]
            for batch in new:
                self._report(told(batch, self._plan.state))
                watch.add(batch)
            if self._show is not None:
                self._show(watch.progress.told(running.doing(), self._plan.state))
            if self._stopping() or lease.is_told_to_end:
                told_to_end = True
                running.stop()
            if new and time.monotonic() - settled > SETTLES:
                watch.settle()
                self._settled(watch.rows)
                settled = time.monotonic()
        return told_to_end


def _flush_folder(checkpoint: str) -> str:
    """The folder of the rows that move the watermark when a run flushes."""
    return f"{checkpoint}_flush"
