"""A connection to a Thrift server: statements that can be cancelled, and an error message if the server is gone."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from dbt.adapters.events.logging import AdapterLogger
from dbt.adapters.spark.connections import CONNECTION_LOST_EXCEPTIONS, PyhiveConnectionWrapper
from dbt_common.exceptions import DbtDatabaseError

from dbt.adapters.sparkstream.messages.readable import lost
from dbt.adapters.sparkstream.messages.sparkerror import SparkError
from dbt.adapters.sparkstream.spark.environments.bindings import text_of
from dbt.adapters.sparkstream.spark.environments.cancelling import CANCELLED

if TYPE_CHECKING:
    from dbt.adapters.sparkstream.credentials import SparkStreamCredentials

logger = AdapterLogger("SparkStream")

FIRST_WAIT = 0.01
"""Seconds before the Thrift server is asked for the second time whether a statement has ended."""

LOST: tuple[type[BaseException], ...] = (*CONNECTION_LOST_EXCEPTIONS, ConnectionError)
"""Errors of the Thrift client if the server doesn't answer any more."""


class ThriftWrapper(PyhiveConnectionWrapper):
    """dbt-spark's wrapper, but

    - a short statement doesn't wait for the whole `poll_interval`;
    - a statement is cancelled by the thread that waits for it: two threads at a time garble a Thrift connection;
    - a statement whose connection is lost isn't sent again: it may have inserted its rows.
    """

    def __init__(self, wrapper: PyhiveConnectionWrapper, credentials: SparkStreamCredentials) -> None:
        super().__init__(wrapper.handle, wrapper.poll_interval, wrapper.query_timeout)
        self._host = str(credentials.host).rpartition("://")[2]
        self._port = credentials.port
        self._cancelled = threading.Event()

    def cancel(self) -> None:
        """Ends the statement that runs in another thread, and lets no other one begin."""
        self._cancelled.set()

    def execute(self, sql: str, bindings: list[Any] | None = None) -> None:
        """Runs a statement.

        Raises:
            DbtDatabaseError: Spark's error, or the statement was cancelled, or the server is gone.
        """
        from TCLIService.ttypes import TOperationState

        if self._cancelled.is_set():
            raise DbtDatabaseError(CANCELLED)
        assert self._cursor, "Cursor not available"
        values = None if bindings is None else [text_of(value) for value in bindings]
        with self._words_for_loss():
            # The server would drop a client that waits for minutes.
            self._cursor.execute(sql.strip().removesuffix(";"), values, async_=True)
            status = self._ended()
        if status.operationState == TOperationState.FINISHED_STATE:
            return
        if self._cancelled.is_set():
            # The server may call it failed: it interrupts the statement first, and writes "cancelled" then.
            raise DbtDatabaseError(CANCELLED)
        if status.errorMessage:
            raise SparkError(status.errorMessage)
        name = TOperationState._VALUES_TO_NAMES.get(status.operationState, status.operationState)
        raise DbtDatabaseError(f"Query failed with status: {name}")

    def _ended(self) -> Any:
        """Status of the running statement after its end, for which this waits."""
        from TCLIService.ttypes import TOperationState

        pending = (TOperationState.INITIALIZED_STATE, TOperationState.PENDING_STATE, TOperationState.RUNNING_STATE)
        assert self._cursor
        begun, wait, told = time.monotonic(), FIRST_WAIT, False
        while True:
            status = self._cursor.poll()
            if status.operationState not in pending:
                return status
            late = self.query_timeout is not None and time.monotonic() - begun > self.query_timeout
            if (late or self._cancelled.is_set()) and not told:
                self._cursor.cancel()
                told, wait = True, FIRST_WAIT
            if late:
                raise DbtDatabaseError(f"Query exceeded timeout of {self.query_timeout} seconds")
            if told:
                time.sleep(wait)
            else:
                self._cancelled.wait(wait)
            # Doubled each time, up to the profile's value.
            wait = min(2 * wait, self.poll_interval)

    def fetchall(self) -> list[Any]:
        with self._words_for_loss():
            rows: list[Any] = super().fetchall()
        return rows

    def fetchmany(self, size: int) -> list[Any]:
        assert self._cursor, "Cursor not available"
        with self._words_for_loss():
            rows: list[Any] = self._cursor.fetchmany(size)
        return rows

    def fetchone(self) -> Any:
        assert self._cursor, "Cursor not available"
        with self._words_for_loss():
            return self._cursor.fetchone()

    def close(self) -> None:
        """Closes the session. Its statements are done, so an error while closing is only logged.

        The server of Spark 4.3 fails so now and then: it looks for a class of Hive's, LlapSigner, which Spark hasn't.
        """
        try:
            super().close()
        except Exception as error:
            logger.debug(f"the server has not closed a session: {error}")

    @contextmanager
    def _words_for_loss(self) -> Iterator[None]:
        try:
            yield
        except LOST as error:
            logger.debug(f"the connection is lost: {error!r}")
            raise DbtDatabaseError(self._loss()) from error

    def _loss(self) -> str:
        place = f"the server at {self._host}:{self._port}"
        try:
            socket.create_connection((self._host, self._port), 2).close()
            what = f"{place} has closed the connection, or was started again"
        except OSError:
            what = f"{place} is gone: it was stopped, killed, or has died"
        return lost(what, self._host)
