"""`method: session`: a Spark inside the dbt process, which all threads share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from dbt.adapters.contracts.connection import Connection, ConnectionState
from dbt.adapters.events.logging import AdapterLogger
from dbt.adapters.exceptions import FailedToConnectError

from dbt.adapters.sparkstream.messages.readable import readable
from dbt.adapters.sparkstream.spark.connect import without_pandas_warning
from dbt.adapters.sparkstream.spark.environments.base import SESSION, Environment, apply_settings
from dbt.adapters.sparkstream.spark.environments.cancelling import Cancellable, TaggedJobs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


logger = AdapterLogger("SparkStream")


class Embedded(Environment):
    """A Spark inside the dbt process. SQL of all threads runs on one session, so that they share temporary views."""

    python = SESSION
    _is_announced = False

    @property
    def is_here(self) -> bool:
        from dbt.adapters.sparkstream.spark.session import has_local_master

        return has_local_master(self.credentials.server_side_parameters)

    def start_early(self) -> None:
        if self.is_here:
            # Imported in this thread: what silences warnings does it in all threads.
            with without_pandas_warning(), suppress(ImportError):
                import pyspark.sql.classic.dataframe  # noqa: F401

                from dbt.adapters.sparkstream.spark.session import start_early

                start_early(self.credentials.server_side_parameters, self.project, self.credentials.accelerator)

    def open(self, connection: Connection, by_dbt_spark: Callable[[Connection], Connection]) -> Connection:
        try:
            with without_pandas_warning():
                from dbt.adapters.sparkstream.spark.environments.cursors import SessionHandle, SessionWrapper
                from dbt.adapters.sparkstream.spark.session import is_starting

                if is_starting() and not self._is_announced:
                    self._is_announced = True
                    logger.info("starting Spark, which takes 10 to 20 seconds")
                session = self._session()
                connection.handle = SessionWrapper(SessionHandle(session, TaggedJobs(session)))
        except Exception as error:
            raise FailedToConnectError(f"Spark does not start: {readable(error)}") from error
        connection.state = ConnectionState.OPEN
        return connection

    def _session(self) -> SparkSession:
        from dbt.adapters.sparkstream.spark.session import spark_session

        return spark_session(self.credentials.server_side_parameters, self.project, self.credentials.accelerator)

    def new_session(self) -> SparkSession:
        with without_pandas_warning():
            session = self._session().newSession()
        apply_settings(session, self.credentials.server_side_parameters)
        return session

    def connect_url(self) -> str | None:
        return self.credentials.connect_url

    def check(self, note: Callable[[str], None]) -> None:
        from dbt.adapters.sparkstream.spark.java import find_java

        java = find_java()
        note(f"Java {java.version} ({java.executable})")

    @contextmanager
    def python_session(self, submission_method: str) -> Iterator[tuple[SparkSession, Cancellable]]:
        if submission_method != SESSION:
            with super().python_session(submission_method) as found:
                yield found
            return
        session = self._session()
        yield session, TaggedJobs(session)
