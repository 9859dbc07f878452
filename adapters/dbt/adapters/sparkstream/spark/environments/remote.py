"""Methods whose SQL goes over dbt-spark's drivers, and whose streams and Python models go over Spark Connect."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dbt.adapters.contracts.connection import Connection
from dbt.adapters.exceptions import FailedToConnectError
from dbt.adapters.spark.connections import PyhiveConnectionWrapper
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.sparkstream.messages.readable import readable
from dbt.adapters.sparkstream.secrecy.redaction import redacted
from dbt.adapters.sparkstream.spark.environments.base import CONNECT, Environment
from dbt.adapters.sparkstream.spark.environments.handshake import NoHandshake, shake_hands
from dbt.adapters.sparkstream.spark.environments.thrift_wrapper import ThriftWrapper
from dbt.adapters.sparkstream.spark.session_conf import LOCAL

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from dbt.adapters.sparkstream.credentials import SparkStreamCredentials

UNSET_PORT = 443
"""The port of a profile without one: dbt-spark's default, the port of `method: http`."""


class Remote(Environment):
    """`method: http` and `method: odbc`: SQL as dbt-spark sends it."""

    def open(self, connection: Connection, by_dbt_spark: Callable[[Connection], Connection]) -> Connection:
        try:
            return by_dbt_spark(connection)
        except FailedToConnectError as error:
            raise FailedToConnectError(no_connection(connection.credentials, error)) from error

    def new_session(self) -> SparkSession:
        return self.over_connect(
            "a streaming model runs over Spark Connect, and the profile doesn't say where that is\n"
            "  write connect_url: sc://HOST:15002 in the profile; it has to be the same Spark as that of host and port"
        )

    def connect_url(self) -> str | None:
        """The profile's address, or the address of the server that `sparkstream server start` runs for it."""
        credentials = self.credentials
        if credentials.connect_url is not None:
            return credentials.connect_url
        from dbt.adapters.sparkstream.server import ServerConfig, ServerError
        from dbt.adapters.sparkstream.server.process import is_alive
        from dbt.adapters.sparkstream.server.state import read_state

        if credentials.host not in LOCAL:
            return None
        for folder in dict.fromkeys((Path(ServerConfig.folder).absolute(), self.project / ServerConfig.folder)):
            try:
                state = read_state(folder / "server.json")
            except ServerError:
                continue
            if state is not None and state.port == credentials.port and is_alive(state.pid, state.birth):
                return state.connect_address
        return None

    def check(self, note: Callable[[str], None]) -> None:
        return None


class Thrift(Remote):
    """`method: thrift`: SQL over PyHive, to a server that may be a local one."""

    python = CONNECT

    def __init__(self, credentials: SparkStreamCredentials, project: Path) -> None:
        super().__init__(credentials, project)
        self._greeting = threading.Lock()
        self._greeted = False

    def open(self, connection: Connection, by_dbt_spark: Callable[[Connection], Connection]) -> Connection:
        connection.credentials = self.credentials.for_thrift()
        self._shake_hands()
        connection = super().open(connection, by_dbt_spark)
        if type(connection.handle) is PyhiveConnectionWrapper:
            connection.handle = ThriftWrapper(connection.handle, self.credentials)
        return connection

    def _shake_hands(self) -> None:
        """Shakes hands with the server before the first connection, which might wait for ever otherwise."""
        with self._greeting:
            if self._greeted:
                return
            try:
                shake_hands(self.credentials)
            except NoHandshake as error:
                raise FailedToConnectError(f"failed to connect: {error}") from error
            self._greeted = True

    def check(self, note: Callable[[str], None]) -> None:
        """Checks Spark Connect, which Python models and streams need and SQL doesn't."""
        url = self.connect_url()
        if url is None:
            note("Spark Connect: no connect_url in the profile; streaming and Python models would need one")
            return
        try:
            session: Any = self.new_session()
        except DbtRuntimeError as error:
            if self.credentials.connect_url is None:
                note(f"Spark Connect, for streaming and Python models: {error.msg}")
                return
            raise DbtRuntimeError(
                f"SQL works, but streaming and Python models won't: {error.msg}\n"
                "  or take connect_url out of the profile if you have no such models"
            ) from error
        try:
            note(f"Spark Connect at {redacted(url)}: Spark {session.version}")
        finally:
            session.stop()


def no_connection(credentials: Any, error: FailedToConnectError) -> str:
    """Error message, with advice, for a connection that dbt-spark could not open."""
    cause = error.__cause__
    message = f"failed to connect: {readable(cause if cause is not None else error)}"
    if "failed to resolve" in message:
        return f"{message}\n  write the name or address of the server as host"
    if "No Kerberos credentials" in message:
        return f"{message}\n  there is no ticket: run kinit first"
    if "Error validating the login" in message:
        return f"{message}\n  the server doesn't take the profile's user and password"
    if "Could not connect" not in message:
        return message
    if credentials.port == UNSET_PORT:
        message += (
            f"\n  is there a port in the profile? without one it is {UNSET_PORT}, and a Thrift server's is mostly 10000"
        )
    elif credentials.host in LOCAL:
        message += "\n  is the server running? start one with: sparkstream server start"
        message += "\n  is it another port? `sparkstream server status` says which one"
    else:
        message += "\n  is the server running, and is this its Thrift port? on that machine: sbin/start-thriftserver.sh"
    return message
