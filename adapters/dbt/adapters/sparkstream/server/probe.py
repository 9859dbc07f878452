"""Asks ports on this machine: is it free, does a server answer, and which one."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from dbt.adapters.sparkstream.server.launch import TOKEN_SETTING
from dbt.adapters.sparkstream.session_conf import LOOPBACK


@dataclass(frozen=True)
class Answer:
    """What a server says of itself: its Spark version, and the token in its settings."""

    version: str
    token: str


def is_free(port: int) -> bool:
    """Whether a server could listen on the port."""
    with socket.socket() as trial:
        # As Java does it: connections that are just closing don't keep a port.
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind((LOOPBACK, port))
        except OSError:
            return False
    return True


def is_open(port: int, timeout: float = 5.0) -> bool:
    """Whether something listens on the port."""
    try:
        socket.create_connection((LOOPBACK, port), timeout).close()
    except OSError:
        return False
    return True


def free_port_after(port: int) -> int | None:
    """The next port that a server could listen on, of the hundred that follow."""
    return next((other for other in range(port + 1, min(port + 101, 65536)) if is_free(other)), None)


def ask(port: int, timeout: float) -> Answer | None:
    """Runs a query on the Thrift server at `port`; None where nothing answers.

    Args:
        port: TCP port on loopback.
        timeout: seconds to wait for each reply.
    """
    if not is_open(port, timeout):
        return None
    from pyhive.exc import Error
    from thrift.Thrift import TException  # type: ignore[import-untyped]

    try:
        with _cursor(port, timeout) as cursor:
            cursor.execute("select version()")
            [(version,)] = cursor.fetchall()
            cursor.execute(f"set {TOKEN_SETTING}")
            [(_, token)] = cursor.fetchall()
    except (Error, TException, OSError, AssertionError):
        return None
    return Answer(version.split()[0], token)


@contextlib.contextmanager
def _cursor(port: int, timeout: float) -> Iterator[Any]:
    from pyhive import hive
    from thrift.transport.TSocket import TSocket  # type: ignore[import-untyped]
    from thrift.transport.TTransport import TBufferedTransport  # type: ignore[import-untyped]

    # PyHive's own way in has no time-out: a process that hangs would hang this one.
    channel = TSocket(LOOPBACK, port)
    channel.setTimeout(timeout * 1000)
    connection = hive.Connection(thrift_transport=TBufferedTransport(channel), username="sparkstream")
    try:
        with contextlib.closing(connection.cursor()) as cursor:
            yield cursor
    finally:
        connection.close()
