"""Checks of a port on this machine: is it free, does a server answer there, and which one."""

from __future__ import annotations

import socket
import time
import uuid

from dbt.adapters.sparkstream.server.launch import TOKEN_SETTING
from dbt.adapters.sparkstream.spark.session_conf import LOOPBACK


def is_free(port: int) -> bool:
    """True if a server could listen on the port."""
    with socket.socket() as trial:
        # As Java does it: connections that are just closing don't keep a port.
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind((LOOPBACK, port))
        except OSError:
            return False
    return True


def is_free_soon(port: int, patience: float) -> bool:
    """True if a server could listen on the port now or within `patience` seconds; waits until then."""
    deadline = time.monotonic() + patience
    while not is_free(port):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def is_open(port: int, timeout: float = 5.0) -> bool:
    """True if something listens on the port."""
    try:
        socket.create_connection((LOOPBACK, port), timeout).close()
    except OSError:
        return False
    return True


def free_port_after(port: int) -> int | None:
    """The next port that a server could listen on, of the hundred that follow."""
    return next((other for other in range(port + 1, min(port + 101, 65536)) if is_free(other)), None)


def ask(port: int, timeout: float) -> str | None:
    """The token in the settings of the Thrift server at `port`; None where no server answers.

    Nothing that is asked for needs a free core, so a server whose queries take all of them answers as well. A new
    session asks the catalog for its schema, so a server whose catalog hangs doesn't.

    Args:
        port: TCP port on loopback.
        timeout: seconds to wait for each reply.
    """
    if not is_open(port, timeout):
        return None
    from pyhive import hive
    from pyhive.exc import Error
    from thrift.Thrift import TException
    from thrift.transport.TSocket import TSocket
    from thrift.transport.TTransport import TBufferedTransport

    # PyHive's own way in has no time-out: a process that hangs would hang this one.
    channel = TSocket(LOOPBACK, port)
    channel.setTimeout(timeout * 1000)
    try:
        connection = hive.Connection(thrift_transport=TBufferedTransport(channel), username="sparkstream")
        cursor = connection.cursor()
        cursor.execute(f"set {TOKEN_SETTING}")
        [(_, token)] = cursor.fetchall()
        connection.close()
    except (Error, TException, OSError, EOFError, AssertionError, ValueError):
        return None
    finally:
        # After a time-out, a late answer would be read as that to the next question, so nothing more is asked: the
        # server ends the session of a client that hangs up.
        channel.close()
    return str(token)


def ask_connect(port: int, timeout: float, secret: str | None = None) -> str | None:
    """The token in the settings of the Spark Connect server at `port`; None where no server answers.

    Args:
        port: TCP port on loopback.
        timeout: seconds to wait for the answer.
        secret: token that its clients must send.
    """
    if not is_open(port, timeout):
        return None
    import grpc  # type: ignore[import-untyped]
    from pyspark.sql.connect import proto

    question = proto.ConfigRequest(session_id=str(uuid.uuid4()), client_type="sparkstream")
    question.user_context.user_id = "sparkstream"
    question.operation.get.keys.append(TOKEN_SETTING)
    # Spark's own client has no time-out: a process that hangs would hang this one.
    with grpc.insecure_channel(f"{LOOPBACK}:{port}") as channel:
        try:
            answer = proto.SparkConnectServiceStub(channel).Config(
                question, timeout=timeout, metadata=[("authorization", f"Bearer {secret}")] if secret else None
            )
        except grpc.RpcError:
            return None
    return next((pair.value for pair in answer.pairs if pair.key == TOKEN_SETTING), None)
