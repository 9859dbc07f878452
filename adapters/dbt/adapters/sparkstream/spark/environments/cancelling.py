"""Statements that another thread can cancel: on Ctrl-C, dbt's main thread cancels those of its other threads."""

from __future__ import annotations

import threading
import uuid
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from dbt_common.exceptions import DbtDatabaseError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CANCELLED = "cancelled"
"""Error message of a statement that was ended, or not begun, because dbt cancels its connections."""

AGAIN = 0.2
"""Seconds between two attempts to end the work of a statement that is cancelled."""


class Cancellable(ABC):
    """Work on a Spark session, one piece at a time, which another thread can cancel."""

    def __init__(self) -> None:
        self._running = threading.Lock()
        self._cancelled = threading.Event()

    @contextmanager
    def running(self) -> Iterator[None]:
        """A piece of work, in the thread that does it.

        Raises:
            DbtDatabaseError: the work was cancelled, before it began or meanwhile.
        """
        with self._running:
            if self._cancelled.is_set():
                raise DbtDatabaseError(CANCELLED)
            try:
                with self._marked():
                    yield
            except Exception as error:
                if self._cancelled.is_set():
                    raise DbtDatabaseError(CANCELLED) from error
                raise

    def cancel(self) -> None:
        """Ends the work that is running, and lets no other work begin."""
        self._cancelled.set()
        threading.Thread(target=self._interrupt_until_ended, name="sparkstream-cancel", daemon=True).start()

    def _interrupt_until_ended(self) -> None:
        # A statement may have several jobs, one after the other: the next one begins after the first is cancelled.
        while not self._running.acquire(timeout=AGAIN):
            with suppress(Exception):  # Spark has ended
                self._interrupt()
        self._running.release()

    @contextmanager
    def _marked(self) -> Iterator[None]:
        """Marks the work that this thread has Spark do, so that `_interrupt` finds it."""
        yield

    @abstractmethod
    def _interrupt(self) -> None:
        """Has Spark end the work that it does at the moment."""


class TaggedJobs(Cancellable):
    """Jobs of the Spark in this process.

    Spark's own `SparkSession.interruptAll()` does not find the jobs of a command such as CREATE TABLE AS SELECT. A
    statement that runs no job goes on to its end.

    Args:
        session: the session that runs them.
    """

    def __init__(self, session: SparkSession) -> None:
        super().__init__()
        self._context = session.sparkContext
        self._tag = f"dbt-{uuid.uuid4().hex}"

    @contextmanager
    def _marked(self) -> Iterator[None]:
        self._context.addJobTag(self._tag)
        try:
            yield
        finally:
            with suppress(Exception):  # Spark has ended
                self._context.removeJobTag(self._tag)

    def _interrupt(self) -> None:
        self._context.cancelJobsWithTag(self._tag)


class Operations(Cancellable):
    """Work of a session over Spark Connect on its server.

    Args:
        session: the session, which has no other users.
    """

    def __init__(self, session: SparkSession) -> None:
        super().__init__()
        self._session = session

    def _interrupt(self) -> None:
        self._session.interruptAll()
