"""Handshake with an address: is it a Thrift server that speaks the profile's `auth`?

PyHive waits for ever where it is not: a server without SASL takes the greeting of a client with it for the length of a
message, and waits for the rest.
"""

from __future__ import annotations

import socket
import ssl
from typing import TYPE_CHECKING, Any

from dbt.adapters.sparkstream.spark.session_conf import LOCAL

if TYPE_CHECKING:
    from dbt.adapters.sparkstream.credentials import SparkStreamCredentials

PASSWORDS = ("NONE", "LDAP", "CUSTOM")
"""Values of `auth` that greet with a name and a password."""

GREETING = 10.0
"""Seconds for the answer to a greeting, which needs no Spark."""

SESSION = 60.0
"""Seconds for a session, which a server that has just started makes slowly."""


class NoHandshake(Exception):
    """A program that listens at the profile's address isn't what the profile says; the message says what to write."""


def shake_hands(credentials: SparkStreamCredentials, greeting: float = GREETING, session: float = SESSION) -> None:
    """Greets the server as PyHive would, but not longer than some seconds.

    If nothing listens, or a name or password is wrong, PyHive reports it later. Messages after TLS's own greeting
    aren't checked, nor is Kerberos.

    Args:
        credentials: a profile with `method: thrift`.
        greeting: seconds to wait for the answer of a server with SASL.
        session: seconds to wait for the session of a server without.

    Raises:
        NoHandshake: there is no right answer.
    """
    from thrift.transport.TSocket import TSocket
    from thrift.transport.TTransport import TTransportException

    auth = (credentials.auth or "NONE").upper()
    sasl = auth in PASSWORDS
    if not (credentials.use_ssl or sasl or auth == "NOSASL"):
        return
    try:
        listening = socket.create_connection((credentials.host, credentials.port), greeting)
    except OSError:
        return
    with listening:
        if credentials.use_ssl:
            _greet_with_tls(listening, credentials)
            return
    channel = TSocket(credentials.host, credentials.port)
    channel.setTimeout((greeting if sasl else session) * 1000)
    try:
        (_greet if sasl else _open_session)(channel, credentials)
    except (TTransportException, OSError, EOFError, AssertionError, ValueError) as error:
        if "Bad status" in str(error):  # a server's own words: the password is wrong
            return
        raise NoHandshake(_advice(credentials, auth)) from error
    finally:
        channel.close()


def _greet_with_tls(listening: socket.socket, credentials: SparkStreamCredentials) -> None:
    context = ssl.create_default_context()
    # dbt-spark takes every certificate. Whether the server speaks TLS at all is the question here.
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        context.wrap_socket(listening, server_hostname=credentials.host).close()
    except OSError as error:
        raise NoHandshake(
            f"{credentials.host}:{credentials.port} listens, but gives no answer to TLS: {error}\n"
            "  if its hive.server2.use.SSL is false or not set, take use_ssl out of the profile"
        ) from error


def _greet(channel: Any, credentials: SparkStreamCredentials) -> None:
    from pyhive.hive import get_installed_sasl
    from thrift_sasl import TSaslClientTransport

    def client() -> object:
        password = credentials.password or "x"
        return get_installed_sasl(credentials.host, "PLAIN", None, credentials.user, password)

    TSaslClientTransport(client, "PLAIN", channel).open()


def _open_session(channel: Any, credentials: SparkStreamCredentials) -> None:
    from pyhive import hive
    from thrift.transport.TTransport import TBufferedTransport

    hive.Connection(thrift_transport=TBufferedTransport(channel), username=credentials.user).close()


def _advice(credentials: SparkStreamCredentials, auth: str) -> str:
    local = auth == "NOSASL" and credentials.host in LOCAL
    other = "NOSASL" if auth in PASSWORDS else "NONE, or LDAP with a user and a password"
    written = f"auth: {auth}" if credentials.auth else "auth: NONE, which is the default"
    return (
        f"{credentials.host}:{credentials.port} listens, but gives no answer to {written}\n"
        f"  if it is a Thrift server, write what its hive.server2.authentication says, maybe auth: {other}\n"
        "  if its hive.server2.use.SSL is true, write use_ssl: true\n"
        "  if it is something else, such as Spark Connect (15002) or Spark's web page (4040), write the port of the\n"
        "  Thrift server, 10000 unless somebody changed it"
    ) + ("\n  if it is your local server, it is busy or hangs: `sparkstream server status`" if local else "")
