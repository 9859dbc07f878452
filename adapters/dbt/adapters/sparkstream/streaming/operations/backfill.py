"""Backfill: rebuilds the rows of a range of time in a streaming model's table from its sources.

The query of the stream runs once, in batch, over all rows of the sources. What it gives for the range takes the place
of what the table has, in one step. Offsets and state stay as they are, so only what the stream has closed is replaced:
it writes the rest itself.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dbt.adapters.sparkstream.sql.core.literals import backticked
from dbt.adapters.sparkstream.sql.streaming import StreamPlan
from dbt.adapters.sparkstream.sql.streaming.endings import CLOSED, Direct, OnClosed
from dbt.adapters.sparkstream.streaming.lease import Lease
from dbt.adapters.sparkstream.streaming.model import Model
from dbt.adapters.sparkstream.streaming.operations.backfill_range import Goes, OfRows, OfWindows, Range, sessions
from dbt.adapters.sparkstream.streaming.parts import Parts
from dbt.adapters.sparkstream.streaming.refusals import StreamingError
from dbt.adapters.sparkstream.streaming.reports.runs_table import RunsTable
from dbt.adapters.sparkstream.streaming.sources.source import StreamSource
from dbt.adapters.sparkstream.streaming.spark.checkpoint import Offsets, Recorded
from dbt.adapters.sparkstream.streaming.spark.engine import Engine
from dbt.adapters.sparkstream.streaming.spark.progress import counted
from dbt.adapters.sparkstream.streaming.spark.streams import limit
from dbt.adapters.sparkstream.streaming.tables.staging import Replacement

_STAGED = "__rows_of_backfill"
_TIMES = ("timestamp", "timestamp_ntz")


@dataclass
class Backfill:
    """A backfill of a model.

    Attributes:
        batch: of the same query, with windows and no slices: what runs in batch.
    """

    model: Model
    plan: StreamPlan
    batch: StreamPlan
    engine: Engine
    report: Callable[[str], None] = lambda line: None

    def __post_init__(self) -> None:
        self._parts = Parts(self.model, self.plan, self.engine, self.report)

    def __call__(self, range_: Range, *, removes: bool = False) -> str:
        """Replaces the rows of a range.

        Args:
            removes: whether rows go where the sources have none for the range any more.
        """
        if range_.since >= range_.until:
            raise StreamingError(f"the range {range_} is empty\n  --to is the first time that isn't in it")
        self._check_plan()
        sources = self._parts.defined()
        _, columns = self._parts.understood()
        for source in sources:
            source.check_backfill()
        if not self.plan.waits:
            self._time(columns, sources)
        definition, table = self._parts.definition(sources, columns), self._parts.table
        ledger = table.ledger() if table.found() else None
        if ledger is None:
            raise StreamingError(
                f"{self.model.relation}: there is no table that a run of this model has made\n"
                "  run the model, with --full-refresh if it is there"
            )
        if not definition.is_of(ledger.query):
            raise StreamingError(
                "the query, its columns, its sources, its watermark or the time zone have changed since the table was "
                "made\n  run the model first: it says what to do"
            )
        started = time.time()
        lease = Lease(table, self.engine, self.report)
        try:
            lease.take(ledger)
            return self._run(range_, sources, columns, lease, removes, started)
        finally:
            lease.release()

    def _run(
        self,
        range_: Range,
        sources: Sequence[StreamSource],
        columns: Sequence[tuple[str, str]],
        lease: Lease,
        removes: bool,
        started: float,
    ) -> str:
        model, table, engine = self.model, self._parts.table, self.engine
        ledger = lease.confirm()
        last, checkpoint = ledger.batch, self._parts.sidecars.checkpoint(ledger)
        recorded = Recorded.of(engine, checkpoint, last)
        if ledger.staging:
            raise StreamingError(
                "its table is being rebuilt in staging\n  run the model first, until that has its place"
            )
        if not recorded.begun == recorded.done == last:
            raise StreamingError("its last run was interrupted\n  run the model first, then give this again")
        table.tidy(ledger)
        ledger = self._parts.sidecars.tidy(table.ledger() or ledger)
        table.check_foreign(ledger, last, model.config.on_foreign_write == "accept")
        offsets = Offsets.of(engine, checkpoint, last) if last >= 0 else None
        if offsets is None:
            return "nothing to do: no micro-batch has ended yet"
        # What the stream doesn't hold back, it appends later, also for a time that is over.
        files = None if self.batch.held else self._parts.sources.all_read(sources, recorded)
        self._stage(sources, columns, checkpoint)
        if files is not None and files != self._parts.sources.all_read(sources, recorded):
            raise StreamingError("files of its sources have changed meanwhile\n  give this again")
        goes = self._goes(range_, columns, sources, offsets.watermark)
        replaced = self._replacement(goes, last)
        waiting = self._waiting(goes)
        if not replaced.added and not replaced.removed:
            return f"nothing to do: neither the table nor the sources have rows for what is closed of {range_}{waiting}"
        if not replaced.added and not removes:
            raise StreamingError(
                f"the sources have no rows for {range_} any more, and the table has {replaced.removed:,}\n"
                "  if these are to go, write --remove"
            )
        windows = self._windows(goes)
        table.replace(replaced, ledger, lease.holder)
        engine.folders.clear(_folder(checkpoint))
        try:
            runs = RunsTable(engine, model, ledger.generation)
            runs.record_backfill(str(range_), replaced.added, replaced.removed, windows, last, started)
        except StreamingError as error:
            self.report(f"can't write to {model.runs}: {error}")
        text = f"{counted(replaced.added, 'row')} in the place of {replaced.removed:,}"
        return text + ("" if windows is None else f", {counted(windows, 'window')}") + waiting

    # -- what can be backfilled --------------------------------------------------------------------
    def _check_plan(self) -> None:
        """Refuses models of which no range can be computed by itself, or be replaced."""
        batch, config = self.batch, self.model.config
        if config.topic is not None:
            raise StreamingError(
                "it has a sink, and what a topic has got can't be taken back\n"
                "  send rows that correct the others, or run the model with --full-refresh"
            )
        if batch.meets:
            raise self._refused("rows of its streams meet each other, and some that have met aren't final yet")
        if type(batch.ending) not in (Direct, OnClosed):
            raise self._refused(
                "its rows depend on rows of earlier windows or times (OVER across windows or on rows, joins as of a "
                "time, gapfill, MATCH_RECOGNIZE), or are sessions that leave the stream as rows"
            )
        if batch.waits and len(batch.windows) < 2:
            raise self._refused("its rows don't say which window they are of", "select window_start and window_end")

    def _refused(self, why: str, how: str = "run it with --full-refresh") -> StreamingError:
        return StreamingError(f"{self.model.relation} can't be backfilled: {why}\n  {how}")

    def _goes(
        self, range_: Range, columns: Sequence[tuple[str, str]], sources: Sequence[StreamSource], watermark: int
    ) -> Goes:
        if not self.plan.waits:
            name, type_ = self._time(columns, sources)
            return OfRows(name, *range_.literals(type_))
        start, end = self.batch.windows
        closed = f"timestamp_millis({watermark})" if self.batch.held else "timestamp'9999-12-31'"
        windows = OfWindows(start, end, *range_.literals("timestamp"), closed)
        if not self.batch.by_instant:
            return windows
        own = [name for name, _ in columns]
        return sessions(self.engine, self.model.relation, _STAGED, windows, own)

    def _time(self, columns: Sequence[tuple[str, str]], sources: Sequence[StreamSource]) -> tuple[str, str]:
        """The name and type of the column with the event time, of a table whose rows have no window."""
        times = {source.event_time.casefold() for source in sources if source.event_time}
        found = [column for column in columns if column[0].casefold() in times and column[1] in _TIMES]
        if len(times) != 1 or not found:
            raise self._refused(
                "no column of its table has the event time by which rows go",
                "config(event_time='...') has to name one column of all its sources, and the query to give it",
            )
        return found[0]

    # -- rows --------------------------------------------------------------------------------------
    def _stage(self, sources: Sequence[StreamSource], columns: Sequence[tuple[str, str]], checkpoint: str) -> None:
        """Runs the query in batch, and keeps what it gives: it is looked at several times, and written once."""
        engine, batch = self.engine, self.batch
        until = limit(self.model.config.max_future) if batch.waits else None
        for source in sources:
            engine.streams.define_batch(source, until)
        for stage in batch.stages:
            engine.add_stage(stage)
        query = batch.query
        if isinstance(batch.ending, OnClosed):
            engine.sql(f"CREATE OR REPLACE TEMPORARY VIEW {CLOSED} AS\n{query}")
            query = batch.ending.query
        typed = ", ".join(f"CAST({backticked(name)} AS {type_}) AS {backticked(name)}" for name, type_ in columns)
        folder = _folder(checkpoint)
        engine.folders.write(folder, f"SELECT {typed} FROM (\n{query}\n)", is_one=False)
        engine.sql(f"CREATE OR REPLACE TEMPORARY VIEW {_STAGED} AS SELECT * FROM parquet.{backticked(folder)}")

    def _replacement(self, goes: Goes, last: int) -> Replacement:
        rows = f"{_STAGED}_in_range"
        self.engine.sql(f"CREATE OR REPLACE TEMPORARY VIEW {rows} AS SELECT * FROM {_STAGED} WHERE {goes()}")
        removed = self._count(f"{self.model.relation} WHERE {goes()}")
        return Replacement(goes.key, goes, rows, last, removed, self._count(rows))

    def _windows(self, goes: Goes) -> int | None:
        """Number of rebuilt windows; None for rows without windows."""
        if isinstance(goes, OfRows):
            return None
        bounds = f"{backticked(goes.start)}, {backticked(goes.key)}"
        return self._count(f"(SELECT DISTINCT {bounds} FROM {_STAGED} WHERE {goes()})")

    def _waiting(self, goes: Goes) -> str:
        """What is said of windows in the range that the stream has open, or may still correct."""
        if not isinstance(goes, OfWindows):
            return ""
        bounds = f"{backticked(goes.start)}, {backticked(goes.key)}"
        rows = f"(SELECT DISTINCT {bounds} FROM {_STAGED} WHERE {goes.overlapping()} AND NOT ({goes()}))"
        open_ = self._count(rows)
        return f"; the stream writes {counted(open_, 'window')} of the range itself" if open_ else ""

    def _count(self, rows: str) -> int:
        return int(self.engine.sql(f"SELECT count(*) FROM {rows}")[0][0])


def _folder(checkpoint: str) -> str:
    return f"{checkpoint}_backfill"
