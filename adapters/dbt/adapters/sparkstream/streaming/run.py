"""One run of a streaming model, from its query to what it says it did."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from dbt.adapters.sparkstream.sql.streaming import StreamPlan
from dbt.adapters.sparkstream.streaming import refusals
from dbt.adapters.sparkstream.streaming.fingerprint import Definition
from dbt.adapters.sparkstream.streaming.lease import Holder, Lease
from dbt.adapters.sparkstream.streaming.model import Model
from dbt.adapters.sparkstream.streaming.outdated import Leftovers
from dbt.adapters.sparkstream.streaming.query import ModelQuery
from dbt.adapters.sparkstream.streaming.refusals import REBUILD, SourceChanged, StreamingError, explained
from dbt.adapters.sparkstream.streaming.reports.late_rows import Aside, LateRows, tables_beside
from dbt.adapters.sparkstream.streaming.reports.outcome import Outcome, outcome
from dbt.adapters.sparkstream.streaming.reports.progress import Progress, told
from dbt.adapters.sparkstream.streaming.reports.watch import Watch
from dbt.adapters.sparkstream.streaming.settings import SWAP
from dbt.adapters.sparkstream.streaming.sidecars import Places
from dbt.adapters.sparkstream.streaming.sinks.chosen import sink_of
from dbt.adapters.sparkstream.streaming.sources.inputs import Sources
from dbt.adapters.sparkstream.streaming.sources.remade_topics import Topics
from dbt.adapters.sparkstream.streaming.sources.source import StreamSource
from dbt.adapters.sparkstream.streaming.spark.engine import Engine, Rows
from dbt.adapters.sparkstream.streaming.spark.started import Running
from dbt.adapters.sparkstream.streaming.standing import ENDED, Due, Standing, Wanted, definition_folder
from dbt.adapters.sparkstream.streaming.tables.kinds import table_of
from dbt.adapters.sparkstream.streaming.tables.open_windows import OpenWindows
from dbt.adapters.sparkstream.streaming.tables.rebuilding import ASIDE, OF, WHOLE

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
        settled: told, when a run that goes on has recorded what it has done, how many rows it has appended.
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
        self._sources = Sources(engine, model.config, report, warn)
        self._query = ModelQuery(model, plan, engine, self._sources)
        self._views = OpenWindows(engine, model, plan)
        self._places = Places(model, self._table)
        self._standing = Standing(engine, model, self._table, self._sources, self._places, report)
        self._leftovers = Leftovers(engine, self._table, model, self._places, self._views, report)
        self._is_new = False
        self._goes_on = False
        """Whether a staged rebuild is left running, now that it has its place."""
        self._is_caught_up = False
        """Whether the run has ended as there was nothing more to read, and not as it was told to end."""

    def __call__(self, drop: Callable[[], None], *, rebuild: bool = False, empty: bool = False) -> Outcome:
        """Processes what is new.

        Args:
            drop: drops the model's table.
            rebuild: whether to begin anew.
            empty: whether to make the table only.

        Raises:
            StreamingError: why nothing, or not all, was processed. What was processed stays, and isn't again.
        """
        config, changed = self.model.config, False
        anew = Due.of(config.on_full_refresh) if rebuild else None
        while True:
            try:
                done = self._run(drop, anew, empty)
                if not self._goes_on:
                    return done
                anew = None
            except SourceChanged as change:
                if changed or config.on_source_change not in ("rebuild", SWAP):
                    raise
                self._report(f"{str(change).splitlines()[0]}: making the table anew")
                anew, changed = Due.of(config.on_source_change), True
            except refusals.UnknownSchema as unknown:
                self._engine.streams.learn(unknown.relation, unknown.id)
                self._report(f"{unknown}: going on with it")
                anew = None  # that is done
            except refusals.EndedAfterRepeat as ended:
                self._report(f"{ended}: going on")
                anew = None

    def _run(self, drop: Callable[[], None], anew: Due | None, empty: bool) -> Outcome:
        sources = [self._query.define(source) for source in self.model.sources if source.view in self._plan.streams]
        self._is_new = self._goes_on = False
        rows, columns = self._query.understood()
        self._query.check_contract(columns)
        self._query.check_sink(columns)
        self._views.check(columns)
        definition = self._query.definition(sources, columns)
        identities = {source.view: self._sources.identity(source) for source in sources}
        wanted = Wanted(definition, sources, identities, self._plan.has_state)
        lease = Lease(self._table, Holder.mine(self._engine.java(), self._engine.session()), self._report)
        try:
            exists = self._table.found()
            known: Mapping[str, str] = self._table.properties() if exists else {}
            if exists and anew is None and not empty and self._standing.has_nothing_new(known, wanted):
                return self._nothing()
            due = Due.REBUILD
            if exists:
                known = self._taken(known, lease, anew)
                due = self._due(known, wanted, anew)
            if due is Due.NOTHING:
                return self._nothing()
            if due is Due.SWAP:
                return self._swap(known, definition, lease, anew is not None, empty)
            if due is Due.REBUILD:
                self._sources.check_beginning(sources)
                if not empty:
                    self._query.announce_sink(columns)
                if known.get(ASIDE) or known.get(WHOLE):
                    known = self._leftovers.drop_staging(known)
                before = self._leftovers.of_table(known) if exists else {}
                if exists and not self._table.replaces():
                    drop()
                known = self._create(definition, identities, lease)
                self._leftovers.clear(before, known)
            if empty:
                return Outcome("made, with no rows read", 0)
            checkpoint = self._places.checkpoint(known)
            if self._is_new or known["query"] != definition.fingerprint:
                self._record(definition, checkpoint)
            if self.model.config.flush is not None:
                self._engine.folders.prepare_flush(_flush_folder(checkpoint))
                sources = [self._query.define(source, _flush_folder(checkpoint)) for source in sources]
                rows, _ = self._query.understood()
            try:
                return self._process(rows, columns, sources, identities, checkpoint, lease)
            except StreamingError as error:
                told = explained(error, checkpoint)
                if told is error:
                    raise
                raise told from error
        finally:
            lease.release()

    def _taken(self, known: Mapping[str, str], lease: Lease, anew: Due | None) -> Mapping[str, str]:
        """Takes the right to the table that is there, and ends what an earlier run has left running.

        Args:
            known: what is recorded of the table.
            lease: the right to it.
            anew: how it is to be rebuilt in any case; None where that isn't said.

        Returns:
            What is recorded of the table then.

        Raises:
            StreamingError: another run has the table, or it is no streaming model's.
        """
        if "query" not in known:
            if anew is Due.REBUILD:
                return known
            way = REBUILD if anew is None else "drop it, or write config(on_full_refresh='rebuild')"
            raise StreamingError(f"{self.model.relation} is there already, and no streaming model has made it\n  {way}")
        before = lease.take(known)
        if before is None:
            return known
        self._report("the run before this one has ended without a word; going on where it was")
        if before.session is None:
            return known
        self._engine.end_queries(before.session)
        now = self._table.properties()
        if now.get("table") != known["table"]:  # a statement of that run's has ended only now
            lease.take(now)
        return now

    def _due(self, known: Mapping[str, str], wanted: Wanted, anew: Due | None) -> Due:
        """Says what is due, of a table that this run has.

        Args:
            known: what is recorded of the table.
            wanted: what it has to be made for.
            anew: how it is to be rebuilt in any case; None where that isn't said.

        Raises:
            StreamingError: it would have to be rebuilt, and nobody has said that it may.
        """
        if "query" not in known:
            return Due.REBUILD
        due = anew or self._standing.due(known, wanted)
        # A run that was to make the table anew, whatever for, was stopped.
        is_begun = due in (Due.MORE, Due.NOTHING) and self.model.config.swaps is not None
        return Due.SWAP if is_begun and self._leftovers.aside(known, wanted.definition) else due

    def _swap(self, known: Mapping[str, str], definition: Definition, lease: Lease, anew: bool, empty: bool) -> Outcome:
        """Fills a staging table, and gives it the table's name when it has all rows.

        Args:
            known: what is recorded of the table.
            definition: what the table is made for.
            lease: the right to the table.
            anew: whether a staging table that an earlier run has begun is of no use.
            empty: whether to make the staging table only.
        """
        model, table = self.model, self._table
        if not table.can_give_way():
            there = table.facts().provider.casefold()
            raise StreamingError(
                f"{model.relation} is a table in {there}, whose place no table in {model.config.file_format} takes\n"
                f"  run it once with --full-refresh, and without {model.config.swaps}='{SWAP}'"
            )
        rebuilt = table.rebuilt
        rebuilt.check()
        known = lease.confirm()
        table.tidy(known)
        folder = None if anew else self._leftovers.aside(known, definition)
        known = self._leftovers.tidy(known, goes_on=folder is not None)
        if folder is None:
            rebuilt.drop()  # what another table of this name had aside, which was dropped by hand
            folder = table.staging_folder(model.config, model.identifier)
            table.note(**{ASIDE: folder})
        run = Run(
            rebuilt.model(model, folder, table.staging_checkpoints(model.config, folder)),
            self._plan,
            self._engine,
            self._report,
            lambda: self._stopping() or lease.is_told_to_end,
            self._show,
            self._warn,
        )
        done = run(rebuilt.drop, empty=empty)
        if empty:
            return replace(done, message=f"{rebuilt.name} {done.message}")
        if not run._is_caught_up:
            return replace(done, message=f"{rebuilt.name} is being filled: {done.message}")
        table.give_way(known, lease.fact, self._leftovers.of_table(known), model.config)
        self._leftovers.tidy(table.properties())
        self._goes_on = model.config.interval is not None and not (self._stopping() or lease.is_told_to_end)
        return replace(done, message=f"made anew, {done.message}")

    def _record(self, definition: Definition, checkpoint: str) -> None:
        """Records what the table is made for from now on; it gets columns that it lacks.

        An earlier version has recorded less of it, or another query goes on (`on_query_change='continue'`).
        """
        self._engine.folders.write_lines(definition_folder(checkpoint), definition.recorded())
        if not self._is_new:
            self._table.add_columns(definition.columns)
            self._table.note(query=definition.fingerprint)

    def _create(self, definition: Definition, identities: Mapping[str, str], lease: Lease) -> Mapping[str, str]:
        """Makes the table, and gives what is recorded of it."""
        model, generation, columns = self.model, uuid.uuid4().hex, definition.columns
        known = {
            "table": generation,
            "kept": f"{model.identifier}-{generation}",
            "query": definition.fingerprint,
            "sources": json.dumps(identities),
            "batch": "-1",
            "files": "",
            **({OF: model.aside_of} if model.aside_of else {}),
            **lease.fact,
        }
        if not model.aside_of:
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

    def _nothing(self) -> Outcome:
        self._is_caught_up = True
        return outcome(self._engine, Progress(), 0, None, 0, Aside())

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
        begun = -1 if self._is_new else self._standing.noted.begun
        known = lease.confirm()
        last = int(known["batch"])
        if begun < last:
            raise StreamingError(
                f"the checkpoint in {checkpoint} is gone, or not the table's: nobody knows which rows it has\n"
                f"  {REBUILD}"
            )
        table.tidy(known)
        self._leftovers.tidy(known)
        table.check_foreign(known, last, begun, model.config.on_foreign_write == "accept")
        sink = sink_of(model, self._plan, table, columns, known, lease.owned, begun, checkpoint, self._views)
        late = LateRows(self._engine, self._plan, sources, checkpoint, model, self._sources.facts_of)
        watch = Watch(
            self._engine,
            model,
            self._plan.windows,
            table,
            checkpoint,
            late,
            identities,
            last,
            known["table"],
            self._report,
            self._warn,
        )
        mode = "update" if self._plan.updates else "append"
        if begun < 0:  # a run may have been killed before it made them
            self._views.make(columns)
        running = self._engine.start(rows, sink, checkpoint, model.identifier, model.config.interval, mode)
        try:
            late.create()
            watch.add_earlier(range(last + 1, begun + 1))  # of a run that ended before it counted them
            told_to_end = self._follow(running, watch, lease)
            if begun > last and not told_to_end and not all(s.kind.has_portions for s in sources):
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
        self._is_caught_up = not told_to_end
        ended = {} if told_to_end else {ENDED: str(watch.finished)}
        noted = begun == last and known["sources"] == json.dumps(identities) and table.is_recorded(known)
        newest = watch.progress.last
        is_scattered = table.is_scattered(known, model.compact_every)
        if newest is not None or not noted or is_scattered or not ended.items() <= known.items():
            watch.end(last, ended, lease)
        if newest is not None:
            Topics(self._engine, sources, checkpoint, self._sources.facts_of).note(newest.number)
            self._sources.note(sources, checkpoint)
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
