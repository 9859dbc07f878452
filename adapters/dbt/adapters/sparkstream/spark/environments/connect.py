"""`method: connect`: SQL, streams and Python models over one address of Spark Connect."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from dbt.adapters.contracts.connection import Connection, ConnectionState
from dbt.adapters.exceptions import FailedToConnectError
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.sparkstream.secrecy.redaction import redacted
from dbt.adapters.sparkstream.spark.environments.base import CONNECT, Environment
from dbt.adapters.sparkstream.spark.environments.cancelling import Operations
from dbt.adapters.sparkstream.spark.session_conf import LOCAL

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Connect(Environment):
    """A server of Spark Connect. Each connection has a session, with temporary views and settings of its own.

    To open a session and ask for its version took 10 to 30 ms; a connection over Thrift took ten times as long.
    """

    python = CONNECT

    def open(self, connection: Connection, by_dbt_spark: Callable[[Connection], Connection]) -> Connection:
        from dbt.adapters.sparkstream.spark.environments.cursors import SessionHandle, SessionWrapper

        try:
            session = self.new_session()
        except DbtRuntimeError as error:
            raise FailedToConnectError(f"failed to connect: {error.msg}") from error
        connection.handle = SessionWrapper(SessionHandle(session, Operations(session)), owned=True)
        connection.state = ConnectionState.OPEN
        return connection

    def new_session(self) -> SparkSession:
        start = ""
        if self.credentials.host in LOCAL:
            start = " start one with: sparkstream server start"
            start += "\n  is it another port? `sparkstream server status` says which one"
        return self.over_connect("the profile has no connect_url, and no host", start)

    def connect_url(self) -> str:
        return self.credentials.connect_address()

    def check(self, note: Callable[[str], None]) -> None:
        note(f"Spark Connect at {redacted(self.connect_url())}, for SQL, streaming and Python models")
