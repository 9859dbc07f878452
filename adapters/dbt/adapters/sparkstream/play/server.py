"""Serves the playground to this machine's browser, and to nobody else.

Any page in the browser can send requests to a port of this machine, and a name of its own can lead there (DNS
rebinding). So a request has to name this address as its host, come from this page if it says where it comes from, and
show a token that only who has started the command knows.
"""

from __future__ import annotations

import hmac
import json
import secrets
import socket
import sys
import threading
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from dbt.adapters.sparkstream.messages.readable import readable
from dbt.adapters.sparkstream.play.page import failure, outcome, page
from dbt.adapters.sparkstream.play.runner import Runner
from dbt.adapters.sparkstream.play.task import PlayError, Task
from dbt.adapters.sparkstream.spark.session_conf import LOOPBACK
from dbt.adapters.sparkstream.sql import TranslationError

MOST_BYTES = 1_000_000
"""Most bytes of a request."""
MOST_CONNECTIONS = 32
"""Most connections at once; a further one is closed. A browser opens six."""
READING = 10.0
"""Seconds that a request may take to come."""
_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'nonce-{nonce}'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
TOKEN = "X-Sparkstream-Token"  # noqa: S105 - a name


class PlayServer(ThreadingHTTPServer):
    """The playground on a port of the loopback address.

    Args:
        runner: runs the queries.
        port: where to listen; a free port if 0.

    Raises:
        OSError: another process listens there.
    """

    daemon_threads = True
    # Else two playgrounds could listen on one port of Windows, and one would get the other's requests.
    allow_reuse_address = sys.platform != "win32"
    # The system drops who comes while so many wait, and they try again after a second, three and seven.
    request_queue_size = 2 * MOST_CONNECTIONS

    def __init__(self, runner: Runner, port: int = 0) -> None:
        super().__init__((LOOPBACK, port), _Handler)
        self.runner = runner
        self._free = threading.BoundedSemaphore(MOST_CONNECTIONS)
        self.token = secrets.token_urlsafe(24)
        port = self.server_address[1]
        self.hosts = {f"{name}:{port}" for name in (LOOPBACK, "localhost")}

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answers in a thread, or closes the connection if there are `MOST_CONNECTIONS` already."""
        if self._free.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answers, and then makes room for another connection."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Reports an error, unless a browser has closed its connection."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)

    @property
    def url(self) -> str:
        """The page's address, with the token in it."""
        return f"http://{LOOPBACK}:{self.server_address[1]}/?token={self.token}"


class _Handler(BaseHTTPRequestHandler):
    server: PlayServer
    server_version = "sparkstream"
    sys_version = ""

    def handle(self) -> None:
        """Reads a request and answers it; a client that sends it too slowly is cut off."""
        self._reading = threading.Timer(READING, self._cut_off)
        self._reading.daemon = True
        self._reading.start()
        try:
            super().handle()
        finally:
            self._reading.cancel()

    def _cut_off(self) -> None:
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def do_GET(self) -> None:
        self._reading.cancel()
        if not self._is_ours():
            return
        try:
            address = urlsplit(self.path)
        except ValueError:
            self._refuse(HTTPStatus.BAD_REQUEST, "this is no address")
            return
        if address.path != "/":
            self._refuse(HTTPStatus.NOT_FOUND, "there is no such page")
        elif not self._is_token(parse_qs(address.query).get("token", [""])[0]):
            self._refuse(HTTPStatus.FORBIDDEN, "open the whole address that `sparkstream play` has printed")
        else:
            nonce = secrets.token_urlsafe(16)
            self._send(HTTPStatus.OK, page(nonce, self.server.token), "text/html", nonce)

    def do_POST(self) -> None:
        if not self._is_ours():
            return
        if self.path != "/run":
            self._refuse(HTTPStatus.NOT_FOUND, "there is no such page")
        elif not self._is_token(self.headers.get(TOKEN, "")):
            self._refuse(HTTPStatus.FORBIDDEN, "the request has not the page's token")
        elif self.headers.get_content_type() != "application/json":
            self._refuse(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "the request is no JSON")
        elif (length := self._length()) is None:
            self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a request has {MOST_BYTES:,} bytes at most")
        else:
            body = self.rfile.read(length)
            self._reading.cancel()
            self._send(HTTPStatus.OK, _answer(self.server.runner, body), "text/html")

    def _is_ours(self) -> bool:
        """True if a request is for this address and comes from its page; refuses another request."""
        origin = self.headers.get("Origin")
        ours = self.headers.get("Host") in self.server.hosts
        if ours and (origin is None or origin.removeprefix("http://") in self.server.hosts):
            return True
        self._refuse(HTTPStatus.FORBIDDEN, "the playground is for this machine alone")
        return False

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self.server.token.encode())

    def _length(self) -> int | None:
        """Length of the request in bytes; None if it is too long, or its header has none."""
        text = self.headers.get("Content-Length", "")
        digits = text.isascii() and text.isdigit() and len(text) <= len(str(MOST_BYTES))
        return int(text) if digits and int(text) <= MOST_BYTES else None

    def _refuse(self, status: HTTPStatus, message: str) -> None:
        self._send(status, message + "\n", "text/plain")

    def _send(self, status: HTTPStatus, text: str, kind: str, nonce: str = "") -> None:
        body = text.encode()
        self.send_response(status)
        for name, value in {
            "Content-Type": f"{kind}; charset=utf-8",
            "Content-Length": str(len(body)),
            "Content-Security-Policy": _POLICY.format(nonce=nonce),
            "Cross-Origin-Resource-Policy": "same-origin",
            "Cross-Origin-Opener-Policy": "same-origin",
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
            "Cache-Control": "no-store",
        }.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Logs nothing: the terminal is for the address, and the log would show the token."""


def _answer(runner: Runner, body: bytes) -> str:
    """Answer to a request, as HTML: the outcome of its query, or an error."""
    try:
        data = json.loads(body)
        json.dumps(data, ensure_ascii=False).encode()  # half a character, as "\ud800" is, goes to no Java and no page
        return outcome(runner.run(Task.read(data)))
    except (PlayError, TranslationError) as error:
        return failure(str(error))
    except ValueError as error:
        return failure(f"the request is no JSON: {error}")
    except Exception as error:
        return failure(readable(error))
