"""Base of a profile's methods."""

from __future__ import annotations

import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.sparkstream.spark import connect
from dbt.adapters.sparkstream.spark.environments.cancelling import Cancellable, Operations

if TYPE_CHECKING:
    from dbt.adapters.contracts.connection import Connection
    from pyspark.sql import SparkSession

    from dbt.adapters.sparkstream.credentials import SparkStreamCredentials

SESSION = "session"
CONNECT = "connect"
"""The values of `config(submission_method=...)` of Python models that are this adapter's."""

_CONNECT_MODE = "SPARK_CONNECT_MODE_ENABLED"
_lock = threading.Lock()
_users = 0


class Environment(ABC):
    """The Spark of a profile: connections for SQL, and sessions for streams and Python models.

    Args:
        credentials: the profile.
        project: the folder of the dbt project.

    Attributes:
        python: `submission_method` of a Python model that sets none; None to leave it to dbt-spark.
    """

    python: str | None = None

    def __init__(self, credentials: SparkStreamCredentials, project: Path) -> None:
        self.credentials = credentials
        self.project = project

    @property
    def is_here(self) -> bool:
        """True if all of Spark is on this machine, in this process or below it."""
        return False

    def start_early(self) -> None:  # noqa: B027 - the others have nothing that takes long
        """Begins early with the slow part of `open`, if it has one; called when a command will need Spark."""

    @abstractmethod
    def open(self, connection: Connection, by_dbt_spark: Callable[[Connection], Connection]) -> Connection:
        """Opens a connection for SQL.

        Args:
            connection: dbt's, which is closed.
            by_dbt_spark: opens it as dbt-spark does.

        Raises:
            FailedToConnectError: no connection can be opened; the message says why.
        """

    @abstractmethod
    def new_session(self) -> SparkSession:
        """A new session with the settings of the profile. The caller stops a session over Spark Connect.

        Raises:
            DbtRuntimeError: no session can be made; the message says what to write in the profile.
        """

    @abstractmethod
    def connect_url(self) -> str | None:
        """The address of Spark Connect; None if no address is known, or none is needed."""

    @abstractmethod
    def check(self, note: Callable[[str], None]) -> None:
        """Checks, for `dbt debug`, the parts that streaming and Python models need and SQL doesn't.

        Args:
            note: takes a line about a part that works.

        Raises:
            DbtRuntimeError: a part is missing; the message says what to do.
        """

    @contextmanager
    def python_session(self, submission_method: str) -> Iterator[tuple[SparkSession, Cancellable]]:
        """The session of a Python model, and the object that cancels its work.

        Args:
            submission_method: `session` or `connect`.

        Raises:
            DbtRuntimeError: the profile has no such session.
        """
        if submission_method == SESSION:
            raise DbtRuntimeError(
                "submission_method='session' needs a Spark in this process, and the profile has "
                f"method: {self.credentials.method}\n"
                "  write submission_method='connect', and connect_url in the profile"
            )
        with _connect_mode():
            spark = self.over_connect(
                "a Python model runs over Spark Connect here, and the profile doesn't say where that is\n"
                "  write connect_url: sc://HOST:15002 in the profile, of the same Spark as host and port"
            )
            try:
                yield spark, Operations(spark)
            finally:
                spark.stop()

    def over_connect(self, unknown: str, start: str = "") -> SparkSession:
        """A new session over Spark Connect, with the settings of the profile.

        Args:
            unknown: the message if no address is known.
            start: advice to start a server, as the end of a message if nothing listens.

        Raises:
            DbtRuntimeError: no address is known, or nothing answers there.
        """
        url = self.connect_url()
        if not url:
            raise DbtRuntimeError(unknown)
        return connect.opened(url, self._greet, start)

    def _greet(self, session: Any) -> None:
        # The version needs no free core, as a query would.
        session.version  # noqa: B018
        apply_settings(session, self.credentials.server_side_parameters)


def apply_settings(session: Any, settings: dict[str, str]) -> None:
    """Sets those settings that a session can change; the others were set at Spark's start, or are unknown there."""
    from pyspark.errors import PySparkException

    for name, value in settings.items():
        try:
            if session.conf.isModifiable(name):
                session.conf.set(name, str(value))
        except PySparkException as error:
            if "UNAVAILABLE" in str(error):
                raise


@contextmanager
def _connect_mode() -> Iterator[None]:
    """Makes pyspark.sql.functions Connect's functions, by an environment variable, while some thread needs them."""
    from pyspark import SparkContext

    global _users
    with _lock:
        _users += 1
        os.environ[_CONNECT_MODE] = "1"
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if SparkContext._active_spark_context is not None:
                leave_connect()


def leave_connect() -> None:
    """Makes pyspark.sql.functions the functions of a Spark in this process again, unless a thread needs Connect's.

    Where there is no such Spark, this waits until all models have run: dbt's threads look through the environment's
    variables, and fail where one of them goes meanwhile.
    """
    if not _users:
        os.environ.pop(_CONNECT_MODE, None)
