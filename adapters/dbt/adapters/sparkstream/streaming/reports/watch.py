"""Watch over a running streaming query: its progress, and the record of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from dbt.adapters.sparkstream.streaming.job import Job
from dbt.adapters.sparkstream.streaming.lease import Lease, TakenOver
from dbt.adapters.sparkstream.streaming.ledger import Ledger
from dbt.adapters.sparkstream.streaming.refusals import StreamingError
from dbt.adapters.sparkstream.streaming.reports.late_rows import LateRows, warnings
from dbt.adapters.sparkstream.streaming.reports.runs_table import RunsTable
from dbt.adapters.sparkstream.streaming.spark.checkpoint import Recorded, corrected_windows
from dbt.adapters.sparkstream.streaming.spark.progress import LeftOut, MicroBatch, Progress, bytes_in_words, counted


@dataclass(frozen=True)
class Outcome:
    """Result of a run: a message for people, and its counts.

    Attributes:
        is_caught_up: True if it has ended because there was nothing more to read, and not because it was told to end.
        goes_on: True if it is to be left running, now that a staged rebuild has its place.
    """

    message: str
    rows: int
    late: int = 0
    is_caught_up: bool = True
    goes_on: bool = False


class Watch:
    """Progress and counts of a query while it runs, on a table with a ledger from before.

    Of each micro-batch, something is kept until it is recorded in the table's properties: a model may run for months.

    Attributes:
        rows: number of rows that the recorded micro-batches have appended.
        windows: number of windows that they have closed; None if columns don't tell.
        corrected: number of closed windows that they have corrected.
        left: counts of their rows that no window has, or that can't be read.
    """

    def __init__(
        self, job: Job, ledger: Ledger, checkpoint: str, late: LateRows, identities: Mapping[str, str]
    ) -> None:
        self._job = job
        self._checkpoint = checkpoint
        self._late = late
        self._identities = identities
        self._settled = ledger.batch
        self._runs = RunsTable(job.engine, job.model, ledger.generation)
        self._batches: list[MicroBatch] = []
        self._left_out: dict[int, LeftOut] = {}
        self.progress = Progress()
        self.finished = ledger.batch
        self.rows = 0
        self.windows: int | None = None
        self.corrected = 0
        self.left = LeftOut()

    def add_earlier(self, numbers: Iterable[int]) -> None:
        """Adds micro-batches of which there is no report of Spark."""
        for number in numbers:
            self._left_out[number] = self._late.of_earlier(number)
            self.finished = max(self.finished, number)

    def add(self, batch: MicroBatch) -> None:
        """Adds a micro-batch that has ended."""
        if self.progress.last is not None:
            # Spark forgets old reports, where counting late rows takes longer than the micro-batches do.
            self.add_earlier(range(self.progress.last.number + 1, batch.number))
        self._left_out[batch.number] = self._late.of(batch)
        self._batches.append(batch)
        self.progress.add(batch)
        self.finished = max(self.finished, batch.number)

    def end(self, last: int, ended: Mapping[str, int], lease: Lease) -> None:
        """Compacts the table if due, records the work after micro-batch `last`, and releases the table."""
        every = self._job.model.compact_every
        if every is None:
            self.settle(lease, **ended)
            return
        self.settle()
        files = None
        # A micro-batch that Ctrl-C has interrupted may have left some of its rows.
        recorded = Recorded.of(self._job.engine, self._checkpoint, self._settled)
        if recorded.begun == recorded.done:
            try:
                files = self._job.table.compact(every, last, self._settled)
            except StreamingError as error:
                self._job.warn(f"{self._job.model.unique_id}: the table can't be compacted: {error}")
        with suppress(TakenOver):  # its rows are recorded
            lease.end()
            self._job.table.record(**({} if files is None else {"files": files}), **ended, holder=None)

    def outcome(self, is_caught_up: bool) -> Outcome:
        """Outcome of the run in words and numbers, once its work is recorded."""
        left = self.left
        parts = [f"+{counted(self.rows, 'row')}"]
        if self.windows is not None:
            parts.append(f"{counted(self.windows, 'window')} closed")
        others = (
            (self.corrected, "window", " corrected"),
            (left.late, "late row", ""),
            (left.ahead, "row", " too far ahead"),
            (left.untimed, "row", " without a time"),
            (left.unreadable, "unreadable row", ""),
        )
        parts += [counted(number, noun) + behind for number, noun, behind in others if number]
        watermark, last = self.progress.watermark, self.progress.last
        if watermark is not None and watermark.year > 9000:
            parts.append("all windows closed")
        elif watermark is not None:
            # Spark has the answer when it plans a query on VALUES, and runs no job for it.
            micros = round(watermark.timestamp() * 1_000_000)
            query = f"SELECT CAST(timestamp_micros(m) AS STRING) FROM VALUES ({micros}L) AS v (m)"
            [(text,)] = self._job.engine.sql(query)  # on the clock of the session's zone
            parts.append(f"watermark {str(text).removesuffix(':00')}")
        state = "nothing new" if last is None else f"state {bytes_in_words(last.state_bytes if last.state_rows else 0)}"
        parts.append(state)
        return Outcome(", ".join(parts), self.rows, left.late, is_caught_up)

    def settle(self, lease: Lease | None = None, **ended: int) -> None:
        """Records the work since the last time, and other fields of the ledger; gives a lease back with it."""
        model, table, late = self._job.model, self._job.table, self._late
        # The sink writes in another session. This session may have cached files of an interrupted micro-batch.
        table.refresh()
        appended, recorded = table.settled(self._settled, self.finished, self._job.plan.windows)
        corrected = self._corrected()
        left = table.corrected() if corrected else {}
        free = {}
        if lease is not None:
            lease.end()
            free = {"holder": None}
        table.record(batch=self.finished, files=recorded, sources=self._identities, **left, **ended, **free)
        left_out = LeftOut.total(self._left_out.values())
        max_future, watermark = model.config.max_future, self.progress.watermark
        for text in warnings(left_out, watermark, max_future, late.table, late.unreadable_table):
            self._job.warn(f"{model.unique_id}: {text}")
        try:
            self._runs.record(self._batches, appended, corrected, self._left_out)
        except StreamingError as error:
            self._job.report(f"can't write to {model.runs}: {error}")
        self.rows += sum(rows for rows, _ in appended.values())
        windows = [closed for _, closed in appended.values() if closed is not None]
        if windows:
            self.windows = (self.windows or 0) + sum(windows)
        self.corrected += sum(corrected.values())
        self.left = LeftOut.total([self.left, left_out])
        self._batches.clear()
        self._left_out.clear()
        self._settled = self.finished

    def _corrected(self) -> dict[int, int]:
        """Micro-batch that isn't recorded yet -> number of closed windows that it has corrected; left out for none."""
        if self._job.model.config.lateness is None or self.finished == self._settled:
            return {}
        found = corrected_windows(self._job.engine, self._checkpoint)
        return {n: windows for n, windows in found.items() if windows and self._settled < n <= self.finished}
