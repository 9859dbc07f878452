"""Sessions over Spark Connect: addresses, and the time without an answer after which a session is given up."""

from __future__ import annotations

import atexit
import os
import socket
import ssl
import warnings
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.sparkstream.messages.readable import readable
from dbt.adapters.sparkstream.secrecy.pythonlog import silence_python_log
from dbt.adapters.sparkstream.secrecy.redaction import redacted

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

DEFAULT_PORT = 15002
"""Port of Spark Connect if no other is set."""

PATIENCE = 10.0
"""Seconds for the server's machine to answer at all."""

RETRIES: dict[str, Any] = {"max_retries": 6, "initial_backoff": 50, "backoff_multiplier": 4.0, "max_backoff": 5000}
"""Retries of a request that the server doesn't answer, with milliseconds between them: 15 seconds in all.

Spark's own client goes on for ten minutes with each request, so dbt would hang for half an hour after its server was
killed.
"""


_sessions: weakref.WeakSet[Any] = weakref.WeakSet()
"""The sessions of this process. A session that is not stopped keeps Python from ending: gRPC waits for its channel."""


@atexit.register
def _stop_all() -> None:
    for session in list(_sessions):
        session.stop()


def is_connect(session: object) -> bool:
    """True if a session is over Spark Connect, and not of a Spark in this process."""
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


def address(host: str, port: int, parameters: Mapping[str, str]) -> str:
    """The address `sc://HOST:PORT/;key=value` of a server.

    Args:
        host: its name, or its address of version 4 or 6.
        port: its port.
        parameters: of the session, such as `use_ssl` and `token`.
    """
    place = f"[{host}]" if ":" in host else host
    return with_parameters(f"sc://{place}:{port}", parameters)


def with_parameters(url: str, parameters: Mapping[str, str]) -> str:
    """An address with more parameters; its own parameters stay as they are."""
    base, *given = url.split(";")
    names = {item.partition("=")[0] for item in given}
    more = [f"{name}={quote(value, safe='')}" for name, value in parameters.items() if name not in names]
    everything = [item for item in given if item] + more
    return ";".join([base if base.count("/") > 2 else f"{base}/", *everything]) if everything else base


def host_and_port(url: str) -> tuple[str, int]:
    """Host and port of `sc://HOST:PORT/;key=value`.

    Raises:
        ValueError: the address isn't written so.
    """
    parts = urlsplit(url)
    if parts.scheme != "sc" or not parts.hostname:
        raise ValueError("an address of Spark Connect is written sc://HOST:15002, with parameters behind /;")
    return parts.hostname, parts.port or DEFAULT_PORT


def opened(url: str, greet: Callable[[SparkSession], object], start: str = "") -> SparkSession:
    """Opens a session at an address.

    Args:
        url: the address.
        greet: sends the new session a request, which fails if nothing answers.
        start: advice to start a server, as the end of a message if nothing listens.

    Raises:
        DbtRuntimeError: the client isn't installed, or nothing answers.
    """
    try:
        with without_pandas_warning():
            from pyspark.sql.connect.session import SparkSession
    except ImportError as error:
        raise DbtRuntimeError(
            f"the client of Spark Connect is not installed: {error}\n"
            "  install it with pip install 'dbt-sparkstream[connect]'"
        ) from error
    silence_python_log()
    session: Any = None
    try:
        # The client would go on trying for minutes.
        socket.create_connection(host_and_port(url), PATIENCE).close()
        session = _patient(SparkSession.builder.remote(url).create())
        greet(session)
    except Exception as error:
        if session is not None:
            session.release_session_on_close = False  # nobody answers, so nobody is asked
            session.stop()
        why = _advice(error, url) or f"{readable(error)}\n  is the server running?{start}"
        raise DbtRuntimeError(f"no Spark Connect at {redacted(url)}: {why}") from error
    return session


def _advice(error: Exception, url: str) -> str:
    """Advice about an address that gives no session, such as a Thrift server's; empty where nobody listens."""
    text = str(error)
    if isinstance(error, ValueError):
        return readable(error)
    if "UNAUTHENTICATED" in text or "PERMISSION_DENIED" in text:
        return (
            f"{readable(error)}\n"
            "  write the token that the server takes as token in the profile, or as ;token=... in connect_url"
        )
    # gRPC tells the error of the last address that it tried; localhost may have one where nobody listens.
    unavailable = "UNAVAILABLE" in text
    secured = unavailable and "use_ssl=true" in url.lower()
    if "CERTIFICATE_VERIFY_FAILED" in text or (secured and not _is_trusted(*host_and_port(url))):
        return (
            "it has no certificate that this machine trusts\n"
            "  this machine doesn't trust the server's certificate, or the certificate is of another host\n"
            "  a certificate of your own: name the file of its CA in GRPC_DEFAULT_SSL_ROOTS_FILE_PATH"
        )
    if unavailable:
        return (
            "it listens, but gives no answer\n"
            f"  if the server is one {'without' if secured else 'with'} TLS, {'take' if secured else 'write'} use_ssl"
            f"{' out of the profile' if secured else ': true'}\n"
            "  if it is something else, such as a Thrift server (10000) or Spark's web page (4040), write the port of\n"
            "  Spark Connect, 15002 unless somebody changed it"
        )
    return ""


def _is_trusted(host: str, port: int) -> bool:
    """True if this machine trusts the certificate of a server; also True without a server, or for one without TLS."""
    context = ssl.create_default_context(cafile=os.environ.get("GRPC_DEFAULT_SSL_ROOTS_FILE_PATH"))
    try:
        with socket.create_connection((host, port), PATIENCE) as plain:
            context.wrap_socket(plain, server_hostname=host).close()
    except ssl.SSLCertVerificationError:
        return False
    except OSError:
        return True
    return True


def joined(url: str, user: str, identifier: str) -> SparkSession:
    """Session by its user and id: an existing one of the server, else a new one.

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


def _patient(session: Any) -> SparkSession:
    """The session, with requests that soon fail if the server is gone."""
    from pyspark.sql.connect.client.retries import DefaultPolicy

    _sessions.add(session)
    session.client.set_retry_policies([DefaultPolicy(**RETRIES)])
    return session


@contextmanager
def without_pandas_warning() -> Iterator[None]:
    """Keeps pyspark from warning about a newer pandas, which nothing here uses."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        yield
