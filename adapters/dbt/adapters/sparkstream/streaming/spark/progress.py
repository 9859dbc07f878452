"""A streaming query that Spark runs, and its progress, as Spark reports it."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any, TypeVar

from dbt.adapters.sparkstream.messages.faults import OF_JAVA, Fault
from dbt.adapters.sparkstream.messages.readable import NO_WORKER, readable
from dbt.adapters.sparkstream.sql.core.interval import Interval
from dbt.adapters.sparkstream.sql.core.literals import read_time
from dbt.adapters.sparkstream.streaming.refusals import StreamingError, spark_errors, spark_text
from dbt.adapters.sparkstream.streaming.sources.values import OBSERVED as VALUES
from dbt.adapters.sparkstream.streaming.spark.streams import OBSERVED as TIMES

if TYPE_CHECKING:
    from pyspark.sql.streaming import StreamingQuery

T = TypeVar("T")

ATTEMPTS = 4
"""Number of starts of a streaming query before its Python process is given up."""

_LATE = re.compile(rf"(?:\[STREAMING_PYTHON_RUNNER_INITIALIZATION_FAILURE\] [^\n]{{0,300}}?|{OF_JAVA}){NO_WORKER}")

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)

_starting = threading.Lock()


@dataclass(frozen=True)
class LeftOut:
    """Counts of the rows that no window has, or that can't be read.

    Attributes:
        late: rows that came after their windows were closed; one that is late for several windows counts for each.
        furthest: the latest of the times too far ahead, on the clock of the session's zone, or with its zone.
    """

    late: int = 0
    ahead: int = 0
    untimed: int = 0
    furthest: str | None = None
    unreadable: int = 0

    @classmethod
    def total(cls, several: Iterable[LeftOut]) -> LeftOut:
        """Sums of the counts of several micro-batches, with the furthest time."""
        found = list(several)
        furthest = max((one.furthest for one in found if one.furthest), default=None)
        counts = {name: sum(getattr(one, name) for one in found) for name in ("late", "ahead", "untimed", "unreadable")}
        return cls(**counts, furthest=furthest)


@dataclass(frozen=True)
class MicroBatch:
    """A micro-batch.

    Attributes:
        number: its number since the table was made, from 0.
        watermark: the watermark that it closed windows by; None before there is one.
        state_rows: rows in state after it: keys of open windows, and rows that wait.
        ran: True if it was a micro-batch, and not a report that there was nothing to do.
        is_behind: True if a row may have a time before the watermark.
        is_odd: True if a row may have no time, or a time too far ahead.
        left_out: Spark's counts of rows left out.
    """

    number: int
    started: datetime
    milliseconds: int
    rows: int
    watermark: datetime | None
    state_rows: int
    state_bytes: int
    ran: bool = True
    is_behind: bool = False
    is_odd: bool = False
    left_out: LeftOut = LeftOut()

    @classmethod
    def read(cls, text: str) -> MicroBatch:
        """Reads Spark's StreamingQueryProgress, in JSON."""
        facts: dict[str, Any] = json.loads(text)
        operators = facts.get("stateOperators") or []
        times = {name: _time(text) for name, text in (facts.get("eventTime") or {}).items()}
        watermark = times.get("watermark")
        durations = facts.get("durationMs") or {}
        metrics = [(name, _by_name(row)) for name, row in (facts.get("observedMetrics") or {}).items()]
        of_times = [row for name, row in metrics if name.startswith(TIMES)]
        ahead, untimed = _sum(of_times, "ahead"), _sum(of_times, "untimed")
        furthest = max(_moments(of_times, "furthest"), default=None)
        # Where no times are observed, Spark reports the times of one stream, and has 1970 for NULL.
        earliest = min(_moments(of_times, "earliest"), default=None) if of_times else times.get("min")
        return cls(
            number=int(facts["batchId"]),
            started=_time(facts["timestamp"]),
            milliseconds=int(facts.get("batchDuration") or durations.get("triggerExecution") or 0),
            rows=_sum(facts.get("sources") or [], "numInputRows"),
            watermark=None if watermark is None or watermark <= EPOCH else watermark,
            state_rows=_sum(operators, "numRowsTotal"),
            state_bytes=_sum(operators, "memoryUsedBytes"),
            ran="addBatch" in durations,
            is_behind=earliest is not None and watermark is not None and earliest < watermark,
            is_odd=bool(untimed or ahead) if of_times else earliest is not None and earliest <= EPOCH,
            left_out=LeftOut(
                _sum(operators, "numRowsDroppedByWatermark"),
                ahead,
                untimed,
                f"{furthest:%Y-%m-%d %H:%M:%S} UTC" if furthest else None,
                _sum([row for name, row in metrics if name.startswith(VALUES)], "unreadable"),
            ),
        )

    def closing(self, lateness: Interval | None) -> MicroBatch:
        """This micro-batch with the watermark that closes windows: ahead of Spark's, if late rows correct windows."""
        if lateness is None or self.watermark is None:
            return self
        return replace(self, watermark=self.watermark + timedelta(microseconds=lateness.micros))


def batch_line(batch: MicroBatch, state: str) -> str:
    """A micro-batch in a line; `state` is what each row of Spark's state is, such as `open window`."""
    rate = _rate(batch.rows, batch.milliseconds)
    return f"micro-batch {batch.number}: {counted(batch.rows, 'row')} {rate}{_state(batch, state)}"


@dataclass
class Progress:
    """Sums of the micro-batches of a run, the last one, and the last watermark. More of them take no more room."""

    many: int = 0
    rows: int = 0
    milliseconds: int = 0
    last: MicroBatch | None = None
    watermark: datetime | None = None

    def add(self, batch: MicroBatch) -> None:
        """Adds a micro-batch."""
        self.many += 1
        self.rows += batch.rows
        self.milliseconds += batch.milliseconds
        self.last = batch
        self.watermark = batch.watermark or self.watermark

    def line(self, doing: str, state: str) -> str:
        """Progress of the run in a line, with Spark's words for the present step; `state` as for `batch_line`."""
        if self.last is None:
            return doing.lower()
        rows, many = counted(self.rows, "row"), counted(self.many, "micro-batch", "micro-batches")
        rate = _rate(self.rows, self.milliseconds)
        return f"{rows} in {many} {rate}{_state(self.last, state)}, {doing.lower()}"


def _rate(rows: int, milliseconds: int) -> str:
    return f"({rows * 1000 // max(milliseconds, 1):,}/s)"


def _state(batch: MicroBatch, state: str) -> str:
    watermark = f", watermark {batch.watermark:%Y-%m-%d %H:%M:%S} UTC" if batch.watermark else ""
    many = "rows waiting" if state == "row waiting" else None
    return f"{watermark}, {counted(batch.state_rows, state, many)}, {bytes_in_words(batch.state_bytes)} of state"


def _by_name(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """An observation, column -> value. Spark Connect reports a list of values and a schema."""
    if isinstance(row.get("values"), list) and isinstance(row.get("schema"), Mapping):
        return dict(zip((str(field["name"]) for field in row["schema"]["fields"]), row["values"], strict=True))
    return row


def _sum(several: Iterable[Mapping[str, Any]], name: str) -> int:
    return sum(int(facts.get(name) or 0) for facts in several)


def _moments(several: Iterable[Mapping[str, Any]], name: str) -> Iterator[datetime]:
    """Times in microseconds since the epoch; the first or last that Python has for one beyond."""
    for micros in (int(facts[name]) for facts in several if facts.get(name) is not None):
        try:
            yield EPOCH + timedelta(microseconds=micros)
        except OverflowError:
            yield (datetime.max if micros > 0 else datetime.min).replace(tzinfo=timezone.utc)


def _time(text: str) -> datetime:
    """A time as Spark writes it; the first or last that Python has for one of a year before 1 or after 9999."""
    try:
        return read_time(text)
    except ValueError:
        return (datetime.max if text.startswith("+") else datetime.min).replace(tzinfo=timezone.utc)


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number with its noun: `1 row`, `1,234 rows`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def bytes_in_words(number: int) -> str:
    """A size as people say it: `3 KB`."""
    power = min((max(number, 1).bit_length() - 1) // 10, 3)
    size, unit = number / 1024**power, ("B", "KB", "MB", "GB")[power]
    return f"{size:.0f} {unit}" if size >= 10 or size == int(size) else f"{size:.1f} {unit}"


class Running:
    """A streaming query that runs."""

    def __init__(self, query: StreamingQuery) -> None:
        self._query = query
        self._seen = -1
        self._last = ""
        """The last report that was read."""
        self._is_stopped = False

    def batches(self) -> Iterator[list[MicroBatch]]:
        """Micro-batches since the last look, again and again until the query has ended; a list may be empty."""
        while True:
            with spark_errors():
                ended = not self._query.isActive
                new = self._reported()
            new = [batch for batch in new if batch.number > self._seen and batch.ran]
            if new:
                self._seen = max(batch.number for batch in new)
            yield new
            if ended:
                with spark_errors():
                    failure = self._query.exception()
                # The end may have interrupted a micro-batch, which then fails in many ways; the next run does it again.
                if failure is not None and not self._is_stopped:
                    raise StreamingError(spark_text(failure)) from failure
                return
            self._wait()

    def _reported(self) -> list[MicroBatch]:
        """Micro-batches of Spark's latest reports; none if there is no new report since the last look."""
        last = _text(self._query.lastProgress)
        if last == self._last:
            return []
        self._last = last
        newest = MicroBatch.read(last)
        # Spark keeps thousands of reports, so all of them are read only where one was missed.
        if newest.number <= self._seen + 1:
            return [newest]
        return [MicroBatch.read(_text(progress)) for progress in self._query.recentProgress]

    def doing(self) -> str:
        """Spark's words for the present step of the query."""
        with spark_errors():
            return str(self._query.status["message"])

    def _wait(self) -> None:
        from pyspark.errors import StreamingQueryException

        with spark_errors(), suppress(StreamingQueryException):
            self._query.awaitTermination(1)

    def stop(self, patience: float = 60) -> None:
        """Ends the query when the micro-batch that runs has ended; at once when that takes too long."""
        deadline = time.monotonic() + patience
        with spark_errors():
            # Where there is more to read, the next micro-batch begins at once.
            before = _text(self._query.lastProgress)
            while self._query.isActive and self._query.status["isTriggerActive"] and time.monotonic() < deadline:
                if _text(self._query.lastProgress) != before:
                    break
                time.sleep(0.1)
            self._is_stopped = True
            self._query.stop()


def _text(progress: Any) -> str:
    """A report as JSON: a value with a Spark in this process, a function over Spark Connect. Empty for no report."""
    if progress is None:
        return ""
    return str(progress.json if isinstance(progress.json, str) else progress.json())


def started(start: Callable[[], T]) -> T:
    """Starts a streaming query whose sink is a Python process on the server.

    The server gives that process ten seconds to import pyspark and report, which no setting changes and a busy machine
    may not keep. Nothing of the query has begun then, so it is started again. One starts after the other, as several at
    once make each other late.
    """
    from pyspark.errors import PySparkException

    with _starting:
        for _ in range(ATTEMPTS):
            try:
                return start()
            except PySparkException as error:
                if not _LATE.match(Fault.of(error).message):
                    raise
                late = error
    raise StreamingError(readable(f"{NO_WORKER}, {ATTEMPTS} times")) from late
