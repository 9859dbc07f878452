"""A streaming query that Spark runs: what it has done, and its end."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from dbt.adapters.sparkstream.messages.faults import OF_JAVA, Fault
from dbt.adapters.sparkstream.messages.readable import NO_WORKER, readable
from dbt.adapters.sparkstream.streaming.refusals import StreamingError, said, spark_errors
from dbt.adapters.sparkstream.streaming.reports.progress import MicroBatch

if TYPE_CHECKING:
    from pyspark.sql.streaming import StreamingQuery


class Running:
    """A streaming query that runs."""

    def __init__(self, query: StreamingQuery) -> None:
        self._query = query
        self._seen = -1
        self._last = ""
        """The last report that was read."""
        self._is_stopped = False

    def batches(self, pause: float = 0.2) -> Iterator[list[MicroBatch]]:
        """What has happened since the last time, again and again until the query has ended."""
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
                    raise StreamingError(said(failure)) from failure
                return
            self._wait(pause)

    def _reported(self) -> list[MicroBatch]:
        """What Spark has reported lately; nothing where it has reported nothing since the last time."""
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
        """What the query does at the moment, in Spark's words."""
        with spark_errors():
            return str(self._query.status["message"])

    def _wait(self, seconds: float) -> None:
        with spark_errors():
            try:
                self._query.awaitTermination(max(1, round(seconds)))
            except Exception as error:
                from pyspark.errors import StreamingQueryException

                if not isinstance(error, StreamingQueryException):
                    raise

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


T = TypeVar("T")

ATTEMPTS = 4
"""How often a streaming query is started before its Python process is given up."""

_LATE = re.compile(rf"(?:\[STREAMING_PYTHON_RUNNER_INITIALIZATION_FAILURE\] [^\n]{{0,300}}?|{OF_JAVA}){NO_WORKER}")
_starting = threading.Lock()


def started(start: Callable[[], T]) -> T:
    """Starts a streaming query whose sink is a Python process on the server.

    The server gives that process ten seconds to import pyspark and report, which no setting changes and a busy machine
    may not keep. Nothing of the query has begun then, so it is started again. One starts after the other, as several at
    once make each other late.

    Raises:
        StreamingError: the process has not reported in time, every time.
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
