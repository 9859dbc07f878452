"""Backfill: rebuilds the rows of a range of time in a streaming model's table from its sources.

The query of the stream runs once, in batch, over all rows of the sources. Its rows for the range take the place of the
table's rows, in one step. Offsets and state stay as they are, so only rows that the stream has closed are replaced:
it writes the rest itself.

One condition, on columns that both have, selects the rows that go and the rows that come. Rows outside of it stay, and
rows within it are those of the batch: no row is lost between the two, and none comes twice.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from datetime import datetime

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.sparkstream.sql.core.literals import backticked, read_time, string_literal
from dbt.adapters.sparkstream.sql.streaming import StreamPlan
from dbt.adapters.sparkstream.sql.streaming.endings import CLOSED, Direct, OnClosed
from dbt.adapters.sparkstream.streaming.fingerprint import Definition
from dbt.adapters.sparkstream.streaming.job import Job
from dbt.adapters.sparkstream.streaming.lease import Lease
from dbt.adapters.sparkstream.streaming.refusals import StreamingError
from dbt.adapters.sparkstream.streaming.reports.runs_table import RunsTable
from dbt.adapters.sparkstream.streaming.spark.checkpoint import Offsets, Recorded
from dbt.adapters.sparkstream.streaming.spark.progress import counted
from dbt.adapters.sparkstream.streaming.spark.streams import limit
from dbt.adapters.sparkstream.streaming.tables.staging import Goes, Replacement

_STAGED = "__rows_of_backfill"
_TIMES = ("timestamp", "timestamp_ntz")


@dataclass(frozen=True)
class Range:
    """A range of time, on the clock of the session's zone; its end isn't in it."""

    since: datetime
    until: datetime

    @classmethod
    def read(cls, since: str, until: str) -> Range:
        """Reads its edges, such as `2026-11-17 00:00` or `2026-11-17`."""
        edges = []
        for option, text in (("--from", since), ("--to", until)):
            try:
                edges.append(read_time(str(text)))
            except ValueError as error:
                raise DbtRuntimeError(f"{option} is no time: {text}\n  write it such as 2026-11-17 08:00") from error
            if edges[-1].tzinfo is not None:
                raise DbtRuntimeError(
                    f"{option} has an offset: {text}\n  write the time that the clock of the session's zone shows"
                )
        return cls(*edges)

    def __str__(self) -> str:
        return " to ".join(edge.isoformat(" ").removesuffix(":00") for edge in (self.since, self.until))

    def literals(self, type_: str) -> tuple[str, str]:
        """Its edges as SQL, in a type of Spark's times."""
        since, until = (f"{type_.upper()} {string_literal(edge.isoformat(' '))}" for edge in (self.since, self.until))
        return since, until


@dataclass
class Backfill(Job):
    """A backfill of a model; `batch` is the plan of its query that runs in batch, with windows and no slices."""

    batch: StreamPlan = field(kw_only=True)

    def __call__(self, range_: Range, *, removes: bool = False) -> str:
        """Replaces the rows of a range; with `removes` also if the sources have none for it any more."""
        if range_.since >= range_.until:
            raise StreamingError(f"the range {range_} is empty\n  --to is the first time that isn't in it")
        self._check_plan()
        _, definition = self.load()
        for source in definition.sources:
            source.check_backfill()
        if not self.plan.waits:
            self._time(definition)
        ledger = self.table.restored()
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
        lease = Lease(self.table, self.engine, self.report)
        try:
            lease.take(ledger)
            return self._run(range_, definition, lease, removes, started)
        finally:
            lease.release()

    def _run(self, range_: Range, definition: Definition, lease: Lease, removes: bool, started: float) -> str:
        model, table, engine = self.model, self.table, self.engine
        ledger = lease.confirm()
        last, checkpoint = ledger.batch, self.sidecars.checkpoint(ledger)
        recorded = Recorded.of(engine, checkpoint, last)
        if ledger.staging:
            raise StreamingError(
                "its table is being rebuilt in staging\n  run the model first, until that has its place"
            )
        if not recorded.begun == recorded.done == last:
            raise StreamingError("its last run was interrupted\n  run the model first, then give this again")
        table.tidy(ledger)
        ledger = self.sidecars.tidy(table.ledger() or ledger)
        table.check_foreign(ledger, last)
        offsets = Offsets.of(engine, checkpoint, last) if last >= 0 else None
        if offsets is None:
            return "nothing to do: no micro-batch has ended yet"
        # What the stream doesn't hold back, it appends later, also for a time that is over.
        files = None if self.batch.held else self.sources.all_read(definition.sources, recorded)
        self._stage(definition, checkpoint)
        if files is not None and files != self.sources.all_read(definition.sources, recorded):
            raise StreamingError("files of its sources have changed meanwhile\n  give this again")
        goes = self._goes(range_, definition, offsets.watermark)
        rows = f"{_STAGED}_in_range"
        engine.sql(f"CREATE OR REPLACE TEMPORARY VIEW {rows} AS SELECT * FROM {_STAGED} WHERE {goes()}")
        removed, added = self._count(f"{model.relation} WHERE {goes()}"), self._count(rows)
        replaced = Replacement(goes, rows, last, removed, added)
        waiting = self._waiting(goes)
        if not added and not removed:
            return f"nothing to do: neither the table nor the sources have rows for what is closed of {range_}{waiting}"
        if not added and not removes:
            raise StreamingError(
                f"the sources have no rows for {range_} any more, and the table has {removed:,}\n"
                "  if these are to go, write --remove"
            )
        windows = self._distinct(goes()) if self.plan.waits else None
        table.replace(replaced, ledger, lease.holder)
        engine.folders.clear(_folder(checkpoint))
        try:
            runs = RunsTable(engine, model, ledger.generation)
            runs.record_backfill(str(range_), added, removed, windows, last, started)
        except StreamingError as error:
            self.report(f"can't write to {model.runs}: {error}")
        text = f"{counted(added, 'row')} in the place of {removed:,}"
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

    def _goes(self, range_: Range, definition: Definition, watermark: int) -> Goes:
        if not self.plan.waits:
            name, type_ = self._time(definition)
            since, until = range_.literals(type_)
            return Goes(name, ((name, f">= {since}"), (name, f"< {until}")))
        since, until = range_.literals("timestamp")
        closed = f"timestamp_millis({watermark})" if self.batch.held else "timestamp'9999-12-31'"
        if self.batch.by_instant:
            return self._sessions(since, until, closed, [name for name, _ in definition.columns])
        start, end = self.batch.windows
        # A window that lies in the range partly goes, too.
        return Goes(end, ((start, f"< {until}"), (end, f"> {since}")), closed)

    def _sessions(self, since: str, until: str, closed: str, columns: list[str]) -> Goes:
        """The sessions that a backfill replaces, each as a whole; `since`, `until` and `closed` are times as SQL.

        A session in the table and a session of the recomputed rows may share source rows and have different bounds. So
        the range grows until each session that lies in it partly, in the table or recomputed, lies in it wholly; only a
        session that is the same in both, by the columns of both, may cross the range's edge.
        """
        start, end = self.batch.windows
        whole = f"to_json(struct({', '.join(map(backticked, columns))}), map('ignoreNullFields', 'false'))"
        selected = f"SELECT {backticked(start)} AS a, {backticked(end)} AS b, {whole} AS x"
        both = [f"{selected} FROM {name}" for name in (self.model.relation, _STAGED)]
        everything = "\nUNION ALL\n".join(both)
        [(low, high, closed_at, shortest)] = self.engine.sql(
            f"SELECT unix_micros({since}), unix_micros(least({until}, {closed})), unix_micros({closed}), "
            f"(SELECT min(unix_micros(b) - unix_micros(a)) FROM (\n{everything}\n))"
        )
        condition = f"a < {_at(high)} AND b > {_at(low)}"
        found = everything
        while True:
            [(first, last)] = self.engine.sql(
                f"SELECT unix_micros(min(a)), unix_micros(max(b)) FROM (\n{found}\n) WHERE {condition}"
            )
            if first is None:
                break
            low, high = min(low, first), max(high, last)
            crossing = " OR ".join(f"(a < {_at(edge)} AND b > {_at(edge)})" for edge in (low, high))
            old, new = (f"(SELECT * FROM ({one}) WHERE {crossing})" for one in both)
            found = f"({old} EXCEPT ALL {new}) UNION ALL ({new} EXCEPT ALL {old})"
            condition = "TRUE"
        open_ = f"SELECT a, unix_micros(b) - unix_micros(a) AS n FROM ({both[1]}) WHERE b > {closed}"
        [(near,)] = self.engine.sql(
            f"SELECT CAST(timestamp_micros(min(unix_micros(a) - n)) AS STRING) FROM ({open_}) "
            f"WHERE unix_micros(a) - n < {high}"
        )
        last = closed_at - (shortest or 0)
        if near is not None or high > last:
            [(edge,)] = self.engine.sql(f"SELECT CAST(timestamp_micros({last}) AS STRING)")
            raise StreamingError(
                "sessions in the range may go on in one that the stream has open\n"
                f"  write a --to before {min(near or edge, edge)} that no session reaches across, or wait until the "
                "watermark has passed them"
            )
        return Goes(end, ((start, f">= {_at(low)}"), (end, f"<= {_at(high)}")))

    def _time(self, definition: Definition) -> tuple[str, str]:
        """The name and type of the column with the event time, of a table whose rows have no window."""
        times = {source.event_time.casefold() for source in definition.sources if source.event_time}
        found = [column for column in definition.columns if column[0].casefold() in times and column[1] in _TIMES]
        if len(times) != 1 or not found:
            raise self._refused(
                "no column of its table has the event time by which rows go",
                "config(event_time='...') has to name one column of all its sources, and the query to give it",
            )
        return found[0]

    # -- rows --------------------------------------------------------------------------------------
    def _stage(self, definition: Definition, checkpoint: str) -> None:
        """Runs the query in batch, and writes its rows to a folder: they are read several times, and computed once."""
        engine, batch = self.engine, self.batch
        until = limit(self.model.config.max_future) if batch.waits else None
        for source in definition.sources:
            engine.streams.define_batch(source, until)
        for stage in batch.stages:
            engine.add_stage(stage)
        query = batch.query
        if isinstance(batch.ending, OnClosed):
            engine.sql(f"CREATE OR REPLACE TEMPORARY VIEW {CLOSED} AS\n{query}")
            query = batch.ending.query
        typed = ", ".join(
            f"CAST({backticked(name)} AS {type_}) AS {backticked(name)}" for name, type_ in definition.columns
        )
        folder = _folder(checkpoint)
        engine.folders.write(folder, f"SELECT {typed} FROM (\n{query}\n)", is_one=False)
        engine.sql(f"CREATE OR REPLACE TEMPORARY VIEW {_STAGED} AS SELECT * FROM parquet.{backticked(folder)}")

    def _waiting(self, goes: Goes) -> str:
        """End of a message about windows in the range that the stream has open or may still correct; empty for none."""
        if goes.closed is None:
            return ""
        open_ = self._distinct(f"{replace(goes, closed=None)()} AND NOT ({goes()})")
        return f"; the stream writes {counted(open_, 'window')} of the range itself" if open_ else ""

    def _distinct(self, condition: str) -> int:
        """Number of windows of the query that meet a condition."""
        bounds = ", ".join(map(backticked, self.batch.windows))
        return self._count(f"(SELECT DISTINCT {bounds} FROM {_STAGED} WHERE {condition})")

    def _count(self, rows: str) -> int:
        return int(self.engine.sql(f"SELECT count(*) FROM {rows}")[0][0])


def _folder(checkpoint: str) -> str:
    return f"{checkpoint}_backfill"


def _at(micros: int) -> str:
    return f"timestamp_micros({micros})"
