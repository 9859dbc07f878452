"""Listens for clients, and forwards the messages between them and Spark."""

from __future__ import annotations

import contextlib
import socket
import socketserver
import sys
import threading
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

from dbt_common.exceptions import DbtDatabaseError
from thrift.Thrift import TException
from thrift.transport.TSocket import TSocket
from thrift.transport.TTransport import TBufferedTransport

from dbt.adapters.sparkstream.gateway.statements import Translator, UnknownSetting
from dbt.adapters.sparkstream.gateway.wire import Login, Message, NoMessage, Plain, Sasl, greeted, session_handle
from dbt.adapters.sparkstream.secrecy.redaction import redacted
from dbt.adapters.sparkstream.spark.session_conf import LOOPBACK
from dbt.adapters.sparkstream.sql import TranslationError, TranslationWarning

_CONNECT = 10.0
"""Seconds in which Spark's server has to accept a connection."""
_CHUNK = 1 << 16


class Gateway(socketserver.ThreadingTCPServer):
    """A Thrift server in front of Spark's.

    Args:
        behind: host and port of Spark's server.
        host: the address to listen on.
        port: the port; a free one if 0.
        log: takes lines about clients.

    Raises:
        OSError: another process listens there.
    """

    daemon_threads = True
    allow_reuse_address = sys.platform != "win32"

    def __init__(
        self,
        behind: tuple[str, int],
        host: str = LOOPBACK,
        port: int = 0,
        log: Callable[[str], None] = lambda line: None,
    ) -> None:
        super().__init__((host, port), _Client)
        self.behind = behind
        self.log = log

    def connect(self) -> socket.socket:
        """A connection to Spark's server."""
        return socket.create_connection(self.behind, _CONNECT)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Logs a client's error in a line, without the trace on the terminal."""
        self.log(redacted(f"client {client_address[1]}: {sys.exc_info()[1]}"))


class _Client(socketserver.BaseRequestHandler):
    """One client, from its greeting to its end, with one connection to Spark's server for it."""

    server: Gateway

    def handle(self) -> None:
        client: socket.socket = self.request
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            spark = self.server.connect()
        except OSError as error:
            host, port = self.server.behind
            return self._tell(f"no Spark answers at {host}:{port} ({error})")
        spark.settimeout(None)
        spark.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        answers = threading.Thread(target=_pour, args=(spark, client), daemon=True)
        answers.start()
        self._describer: _Describer | None = None
        self._translators: dict[bytes, Translator] = {}
        try:
            channel = greeted(client, spark.sendall)
            while True:
                message = channel.message()
                # The client waits for this answer, so Spark has nothing to say meanwhile.
                refusal, call = self._translated(message, channel)
                if refusal is None:
                    spark.sendall(channel.framed(call))
                else:
                    client.sendall(channel.framed(refusal))
        except EOFError:
            pass
        except (NoMessage, OSError) as error:
            self._tell(f"cut off: {error}")
        finally:
            if self._describer is not None:
                self._describer.close()
            with contextlib.suppress(OSError):
                spark.shutdown(socket.SHUT_RDWR)
            spark.close()
            answers.join(_CONNECT)

    def _translated(self, message: Message, channel: Plain | Sasl) -> tuple[bytes | None, bytes]:
        """The gateway's own answer to a call, None if Spark is to answer; and the call for Spark."""
        sql = message.statement
        if sql is None:
            return None, message.data
        translator = self._translators.get(message.session)
        if translator is None:
            translator = self._translators[message.session] = Translator(
                lambda asked: self._rows_of(asked, message.session, channel.login), self._warn
            )
        try:
            text = translator(sql)
        except (TranslationError, UnknownSetting) as error:
            return message.refused(str(error)), b""
        except (TException, OSError) as error:
            return message.refused(f"the gateway can't ask Spark for the columns of a table: {error}"), b""
        return None, message.data if text == sql else message.saying(text)

    def _rows_of(self, sql: str, session: bytes, login: Login | None) -> Sequence[Sequence[Any]]:
        if self._describer is not None:
            try:
                return self._describer.rows_of(sql, session)
            except (TException, OSError):  # closed meanwhile, as it is idle for long
                self._describer.close()
        self._describer = _Describer(self.server.behind, login)
        return self._describer.rows_of(sql, session)

    def _warn(self, warning: TranslationWarning) -> None:
        self._tell(f"warning: {warning}")

    def _tell(self, line: str) -> None:
        self.server.log(redacted(f"client {self.client_address[1]}: {line}"))


def _pour(spark: socket.socket, client: socket.socket) -> None:
    """Forwards Spark's answers to a client, until either connection ends."""
    with contextlib.suppress(OSError):
        while data := spark.recv(_CHUNK):
            client.sendall(data)
    with contextlib.suppress(OSError):
        client.shutdown(socket.SHUT_RDWR)


class _Describer:
    """A second connection to Spark's server, which reads the columns of tables in the client's session.

    Args:
        behind: host and port.
        login: the client's, or None.
    """

    def __init__(self, behind: tuple[str, int], login: Login | None) -> None:
        from TCLIService import TCLIService
        from thrift.protocol.TBinaryProtocol import TBinaryProtocol

        channel: Any = TSocket(*behind)
        if login is None:
            self._transport: Any = TBufferedTransport(channel)
        else:
            import thrift_sasl
            from pyhive.hive import get_installed_sasl

            given = {"host": behind[0], "sasl_auth": "PLAIN", "service": None}
            self._transport = thrift_sasl.TSaslClientTransport(
                lambda: get_installed_sasl(**given, username=login.user, password=login.password), "PLAIN", channel
            )
        self._transport.open()
        self._client = TCLIService.Client(TBinaryProtocol(self._transport))

    def rows_of(self, sql: str, session: bytes) -> Sequence[Sequence[Any]]:
        """The rows of a statement, in a client's session.

        Raises:
            DbtDatabaseError: Spark refuses it.
        """
        from pyhive import hive
        from pyhive.exc import Error

        cursor = hive.Cursor(SimpleNamespace(client=self._client, sessionHandle=session_handle(session)))
        try:
            cursor.execute(sql)
            rows: Sequence[Sequence[Any]] = cursor.fetchall()
            cursor.close()
        except Error as error:
            raise DbtDatabaseError(str(error)) from error
        return rows

    def close(self) -> None:
        with contextlib.suppress(TException, OSError):
            self._transport.close()
