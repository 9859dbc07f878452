"""Run of a streaming model, from its query to its outcome such as `+100 rows`."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial

from dbt.adapters.sparkstream.sql.core.literals import backticked
from dbt.adapters.sparkstream.streaming.decide import Due, Standing, Wanted, check_replaceable, decide
from dbt.adapters.sparkstream.streaming.job import Job
from dbt.adapters.sparkstream.streaming.lease import Lease
from dbt.adapters.sparkstream.streaming.ledger import Ledger, Stage
from dbt.adapters.sparkstream.streaming.refusals import (
    REBUILD,
    EndedAfterRepeat,
    SourceChanged,
    StreamingError,
    UnknownSchema,
    explained,
)
from dbt.adapters.sparkstream.streaming.reports.late_rows import LateRows
from dbt.adapters.sparkstream.streaming.reports.watch import Outcome, Watch
from dbt.adapters.sparkstream.streaming.settings import SWAP
from dbt.adapters.sparkstream.streaming.sidecars import definition_folder
from dbt.adapters.sparkstream.streaming.sources.source import StreamSource
from dbt.adapters.sparkstream.streaming.spark.checkpoint import Portions
from dbt.adapters.sparkstream.streaming.spark.engine import Rows
from dbt.adapters.sparkstream.streaming.spark.progress import Running, batch_line

SETTLES = 30.0
"""Seconds after which a run that goes on records what it has done."""

_END = "timestamp'9999-06-01'"
"""The time of a row that closes all windows."""


@dataclass
class Run(Job):
    """A run of a model.

    Attributes:
        stopping: returns True if the run has to end when the current micro-batch has ended.
        show: takes lines about the progress of the run, again and again; None if they aren't shown.
        settled: takes the number of appended rows, when a run that goes on has recorded its work.
    """

    stopping: Callable[[], bool] = lambda: False
    show: Callable[[str], None] | None = None
    settled: Callable[[int], None] = lambda rows: None

    def __call__(self, drop: Callable[[], None], *, rebuild: bool = False, empty: bool = False) -> Outcome:
        """Processes the rows that no run has processed yet.

        Raises:
            StreamingError: not all rows were processed, or none. Processed rows stay, and aren't processed again.
        """
        config, is_rebuilt = self.model.config, False
        order = Due.of(config.on_full_refresh) if rebuild else None
        while True:
            try:
                done = self._run(drop, order, empty)
                if not done.goes_on:
                    return done
            except SourceChanged as change:
                if is_rebuilt or config.on_source_change not in ("rebuild", SWAP):
                    raise
                self.report(f"{str(change).splitlines()[0]}: rebuilding the table")
                order, is_rebuilt = Due.of(config.on_source_change), True
                continue
            except UnknownSchema as unknown:
                self.engine.streams.learn(unknown.relation, unknown.id)
                self.report(f"{unknown}: going on with it")
            except EndedAfterRepeat as ended:
                self.report(f"{ended}: going on")
            order = None  # that is done

    def _run(self, drop: Callable[[], None], order: Due | None, empty: bool) -> Outcome:
        """Loads the query, decides, takes the lease, and does the work."""
        rows, definition = self.load()
        self.check_columns(definition.columns)
        identities = {source.view: self.sources.identity(source) for source in definition.sources}
        wanted = Wanted(self.model.relation, definition, identities, self.plan.has_state, order, empty)
        lease = Lease(self.table, self.engine, self.report)
        try:
            ledger, due, begun = self._decided(wanted, lease)
            if due is Due.NOTHING:
                return Outcome("+0 rows, nothing new", 0)
            if due is Due.SWAP and ledger is not None:
                return self._swap(ledger, wanted, lease)
            if due in (Due.MAKE, Due.REBUILD) or ledger is None:
                ledger, begun = self._make(ledger, wanted, lease, drop if due is Due.REBUILD else None), -1
            if empty:
                return Outcome("made, with no rows read", 0)
            checkpoint = self.sidecars.checkpoint(ledger)
            if ledger.query != definition.fingerprint:
                # An earlier version has recorded less of it, or another query goes on (`on_query_change='continue'`).
                self.engine.folders.write_lines(definition_folder(checkpoint), definition.recorded())
                self.table.add_columns(definition.columns)
                self.table.record(query=definition.fingerprint)
            try:
                return self._process(rows, wanted, checkpoint, begun, lease)
            except StreamingError as error:
                advised = explained(error, checkpoint)
                if advised is error:
                    raise
                raise advised from error
        finally:
            lease.release()

    def _decided(self, wanted: Wanted, lease: Lease) -> tuple[Ledger | None, Due, int]:
        """Ledger of the table, or None; the run's work; and for `MORE` the last micro-batch that has begun, else -1."""
        ledger, config = self.table.restored(), self.model.config
        if ledger is None:
            if not self.engine.exists(self.table.name):
                return None, Due.MAKE, -1
            check_replaceable(wanted)
            return None, Due.REBUILD, -1
        standing = Standing(self, ledger, wanted)
        decision = decide(ledger, wanted, config, standing, has_lease=False)
        if decision.due is Due.LEASE:
            before, ledger = ledger, lease.take(self.table.ledger() or ledger)
            if ledger != before or ledger.holder is not None:  # else nobody has run it since
                standing = Standing(self, ledger, wanted)
            decision = decide(ledger, wanted, config, standing, has_lease=True)
        if decision.told:
            self.report(decision.told)
        return ledger, decision.due, standing.recorded.begun if decision.due is Due.MORE else -1

    def _swap(self, ledger: Ledger, wanted: Wanted, lease: Lease) -> Outcome:
        """Fills a staging table, and gives it the table's name when it has all rows."""
        model, table, definition = self.model, self.table, wanted.definition
        if not table.can_give_way():
            there = table.facts().provider.casefold()
            raise StreamingError(
                f"{model.relation} is a table in {there}, whose place no table in {model.config.file_format} takes\n"
                f"  run it once with --full-refresh, and without {model.config.swaps}='{SWAP}'"
            )
        rebuilt = table.rebuilt
        rebuilt.check()
        ledger = lease.confirm()
        table.tidy(ledger)
        folder = None if wanted.order else self.sidecars.staging(ledger, definition)
        ledger = self.sidecars.tidy(ledger, goes_on=folder is not None)
        if folder is None:
            rebuilt.drop()  # what another table of this name had in staging, which was dropped by hand
            folder = table.staging_folder()
            table.record(staging=folder)
        filled = rebuilt.model(model, folder, table.staging_checkpoints(folder))
        run = Run(filled, self.plan, self.engine, self.report, self.warn, lambda: self._has_to_end(lease), self.show)
        done = run(rebuilt.drop, empty=wanted.is_empty)
        if wanted.is_empty:
            return replace(done, message=f"{rebuilt.name} {done.message}")
        if not done.is_caught_up:
            return replace(done, message=f"{rebuilt.name} is being filled: {done.message}")
        table.give_way(ledger, lease.holder, self.sidecars.remains(ledger))
        if (new := table.ledger()) is not None:
            self.sidecars.tidy(new)
        goes_on = model.config.interval is not None and not self._has_to_end(lease)
        return replace(done, message=f"rebuilt, {done.message}", goes_on=goes_on)

    def _has_to_end(self, lease: Lease) -> bool:
        return self.stopping() or lease.is_told_to_end

    def _make(self, before: Ledger | None, wanted: Wanted, lease: Lease, drop: Callable[[], None] | None) -> Ledger:
        """Makes the table, in place of the existing one, and returns its ledger."""
        definition, table, model = wanted.definition, self.table, self.model
        self.sources.check_beginning(definition.sources)
        if not wanted.is_empty and model.config.topic is not None:  # the registry may refuse the schema
            model.config.topic.value_sql(definition.columns)
        if before is not None and (before.staging or before.whole.get(Stage.REBUILD)):
            before = self.sidecars.drop_staging(before)
        left = {} if before is None else self.sidecars.remains(before)
        if drop is not None and not table.replaces():
            drop()
        if not model.staging_of:
            # Late rows of a table that was there before are none of this one's.
            self.sidecars.drop_tables()
        generation = uuid.uuid4().hex
        ledger = Ledger(
            generation,
            definition.fingerprint,
            f"{model.identifier}-{generation}",
            wanted.identities,
            batch=-1,
            files="",
            holder=lease.holder,
            of={Stage.REBUILD: model.staging_of} if model.staging_of else {},
        )
        ledger = table.create(definition.columns, model.comments, ledger)
        lease.made()
        self.views.make(definition.columns)
        self.sidecars.clear(left, ledger)
        folder = definition_folder(self.sidecars.checkpoint(ledger))
        self.engine.folders.write_lines(folder, definition.recorded())
        return ledger

    def _process(self, rows: Rows, wanted: Wanted, checkpoint: str, begun: int, lease: Lease) -> Outcome:
        """Runs the query, watches it, and records its work."""
        model, table = self.model, self.table
        sources, columns = wanted.definition.sources, wanted.definition.columns
        flush = f"{checkpoint}_flush"  # of the rows that move the watermark
        if model.config.flush is not None:
            self.engine.folders.write(flush, "SELECT CAST(NULL AS TIMESTAMP) AS t WHERE FALSE", "ignore")
            rows, _ = self.load(flush)
        ledger = lease.confirm()
        last = ledger.batch
        if begun < last:
            raise StreamingError(
                f"the checkpoint in {checkpoint} is gone, or not the table's: nobody knows which rows it has\n"
                f"  {REBUILD}"
            )
        table.tidy(ledger)
        self.sidecars.tidy(ledger)
        table.check_foreign(ledger, begun)
        sink = self.sink(columns, ledger, lease.holder, begun, checkpoint)
        portions = Portions(self.engine, sources, checkpoint, self.sources.folder)
        late = LateRows(self.engine, self.plan, portions, model)
        watch = Watch(self, ledger, checkpoint, late, wanted.identities)
        mode = "update" if self.plan.updates else "append"
        if begun < 0:  # a run may have been killed before it made them
            self.views.make(columns)
        start = partial(self.engine.start, rows, sink, checkpoint, model.identifier, mode)
        running = start(model.config.interval)
        try:
            late.create()
            watch.add_earlier(range(last + 1, begun + 1))  # of a run that ended before it counted them
            told_to_end = self._follow(running, watch, lease)
            if begun > last and not told_to_end and not all(s.has_portions for s in sources):
                # Of such sources Spark ends with the micro-batch that was interrupted.
                running = start(model.config.interval)
                told_to_end = self._follow(running, watch, lease)
            if model.config.flush and not told_to_end:  # else rows that come next would be late
                self.engine.folders.write(flush, _closing_row(sources), "append")
                running = start(None)
                self._follow(running, watch, lease)
        except Exception:
            running.stop()
            raise
        except BaseException:
            running.stop(patience=0)
            raise
        ended = {} if told_to_end else {"ended": watch.finished}
        is_recorded = begun == last and ledger.sources == wanted.identities and table.is_recorded(ledger)
        newest = watch.progress.last
        is_scattered = table.is_scattered(ledger, model.compact_every)
        if newest is not None or not is_recorded or is_scattered or not (told_to_end or ledger.ended == watch.finished):
            watch.end(last, ended, lease)
        if newest is not None:
            portions.record_topics(newest.number)
            self.sources.record(sources, checkpoint)
        return watch.outcome(is_caught_up=not told_to_end)

    def _follow(self, running: Running, watch: Watch, lease: Lease) -> bool:
        """Watches a query until it has ended; returns True if it was told to end."""
        settled, told_to_end = time.monotonic(), False
        for reported in running.batches():
            new = [batch.closing(self.model.config.lateness) for batch in reported]
            for batch in new:
                self.report(batch_line(batch, self.plan.state))
                watch.add(batch)
            if self.show is not None:
                self.show(watch.progress.line(running.doing(), self.plan.state))
            if self._has_to_end(lease):
                told_to_end = True
                running.stop()
            if new and not told_to_end and time.monotonic() - settled > SETTLES:
                watch.settle()
                self.settled(watch.rows)
                settled = time.monotonic()
        return told_to_end


def _closing_row(sources: Iterable[StreamSource]) -> str:
    """Query for a row whose event times are later than all others, which closes all windows."""
    times = dict.fromkeys(source.event_time for source in sources if source.event_time)
    return "SELECT " + ", ".join(f"{_END} AS {backticked(name)}" for name in times)
