"""A session over Spark Connect, on the server whose Thrift port dbt talks to."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from dbt.adapters.sparkstream.errors import NO_WORKER, readable
from dbt.adapters.sparkstream.redaction import redacted
from dbt.adapters.sparkstream.session_conf import LOCAL
from dbt.adapters.sparkstream.streaming.errors import StreamingError

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from dbt.adapters.sparkstream.credentials import SparkStreamCredentials

T = TypeVar("T")

ATTEMPTS = 4
"""How often a streaming query is started before its Python process is given up."""

DEFAULT_PORT = 15002
"""Where Spark Connect listens unless told otherwise."""

PATIENCE = 10.0
"""Seconds for the server's machine to answer at all."""

RETRIES: dict[str, Any] = {"max_retries": 6, "initial_backoff": 50, "backoff_multiplier": 4.0, "max_backoff": 5000}
"""How often a question is asked again that the server doesn't answer, and milliseconds between: 15 seconds in all.

Spark's own client goes on for ten minutes with each question, so dbt would hang for half an hour after its server was
killed.
"""

_starting = threading.Lock()


def is_connect(session: Any) -> bool:
    """Whether a session is one over Spark Connect, and not of a Spark in this process."""
    return type(session).__module__.startswith("pyspark.sql.connect")


def expression(rows: DataFrame, sql: str) -> Column:
    """A column by its SQL, for rows of a session over Spark Connect or of a Spark in this process.

    `pyspark.sql.functions` makes columns of one sort for the whole process, and dbt has no Spark in it with Connect.
    """
    if is_connect(rows.sparkSession):
        from pyspark.sql.connect import functions as connect_functions

        return connect_functions.expr(sql)
    from pyspark.sql import functions

    return functions.expr(sql)


def started(start: Callable[[], T]) -> T:
    """Starts a streaming query whose sink is a Python process on the server.

    The server gives that process ten seconds to import pyspark and report, which no setting changes and a busy machine
    may not keep. Nothing of the query has begun then, so it is started again. One starts after the other, as several at
    once make each other late.

    Args:
        start: starts it.

    Raises:
        StreamingError: the process has not reported in time, every time.
    """
    from pyspark.errors import PySparkException

    with _starting:
        for _ in range(ATTEMPTS):
            try:
                return start()
            except PySparkException as error:
                if NO_WORKER not in str(error):
                    raise
                late = error
    raise StreamingError(readable(f"{NO_WORKER}, {ATTEMPTS} times")) from late


def connect_session(credentials: SparkStreamCredentials, project: Path) -> Any:
    """Opens a session.

    Args:
        credentials: a profile with another method than `session`.
        project: the folder of the dbt project, where a local server's own folder may be.

    Raises:
        StreamingError: nobody knows the address, the client isn't installed, or nothing answers.
    """
    url = connect_url(credentials, project)
    if url is None:
        raise StreamingError(
            "a streaming model runs over Spark Connect, and the profile doesn't say where that is\n"
            "  write connect_url: sc://HOST:15002 in the profile; it has to be the same Spark as that of host and port"
        )
    # Its version needs no free core, as a query would.
    return opened(url, lambda session: session.version, StreamingError)


def opened(url: str, greet: Callable[[Any], object], fault: Callable[[str], Exception]) -> Any:
    """Opens a session at an address.

    Args:
        url: the address.
        greet: asks the new session for something, which fails where nothing answers.
        fault: makes the exception of a message: the client isn't installed, or nothing answers.
    """
    try:
        from pyspark.sql.connect.session import SparkSession
    except ImportError as error:
        raise fault(
            f"the client of Spark Connect is not installed: {error}\n"
            "  install it with pip install 'dbt-sparkstream[connect]'"
        ) from error
    try:
        # The client would go on trying for minutes.
        socket.create_connection(_address(url), PATIENCE).close()
        session = _patient(SparkSession.builder.remote(url).create())
        greet(session)
    except Exception as error:
        raise fault(f"no Spark Connect at {redacted(url)}: {readable(error)}\n  is the server running?") from error
    return session


def joined_session(url: str, user: str, identifier: str) -> Any:
    """A session that is on a server already, by its user and id; an empty one where the server has none of that id.

    Args:
        url: the server's address.
        user: whose session it is; empty for a user without a name.
        identifier: its id, a UUID.
    """
    from pyspark.sql.connect.client.core import ChannelBuilder, DefaultChannelBuilder
    from pyspark.sql.connect.session import SparkSession

    builder = DefaultChannelBuilder(url)
    builder.set(ChannelBuilder.PARAM_SESSION_ID, identifier)
    if user:
        builder.set(ChannelBuilder.PARAM_USER_ID, user)
    return _patient(SparkSession(connection=builder))


def _patient(session: Any) -> Any:
    """A session whose questions end soon where the server is gone."""
    from pyspark.sql.connect.client.retries import DefaultPolicy

    session.client.set_retry_policies([DefaultPolicy(**RETRIES)])
    return session


def _address(url: str) -> tuple[str, int]:
    """Host and port of `sc://HOST:PORT/;key=value`."""
    parts = urlsplit(url)
    return parts.hostname or "", parts.port or DEFAULT_PORT


def connect_url(credentials: SparkStreamCredentials, project: Path) -> str | None:
    """The address of Spark Connect: the profile's, or of the server that `sparkstream server start` runs for it.

    Args:
        credentials: a profile with another method than `session`.
        project: the folder of the dbt project, where a local server's own folder may be.
    """
    if credentials.connect_url is not None:
        return credentials.connect_url
    from dbt.adapters.sparkstream.server import ServerConfig, ServerError
    from dbt.adapters.sparkstream.server.process import is_alive
    from dbt.adapters.sparkstream.server.state import read_state

    if credentials.host not in LOCAL:
        return None
    for folder in dict.fromkeys((Path(ServerConfig.folder).absolute(), project / ServerConfig.folder)):
        try:
            state = read_state(folder / "server.json")
        except ServerError:
            continue
        if state is not None and state.port == credentials.port and is_alive(state.pid, state.birth):
            return state.connect_url
    return None
