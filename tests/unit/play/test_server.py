"""Requests that the playground answers, and the headers that it sends along."""

from __future__ import annotations

import http.client
import json
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, cast

import pytest

from dbt.adapters.sparkstream.play.runner import Runner
from dbt.adapters.sparkstream.play.server import MOST_BYTES, MOST_CONNECTIONS, TOKEN, PlayServer
from dbt.adapters.sparkstream.play.task import PlayError, Task
from tests.lib.support import PATIENCE, wait_for

ASKED = {"sql": "select <b> from x", "dialect": "spark", "tables": []}


class NoSpark:
    """Says what it was asked to run, as an error."""

    def run(self, task: Task) -> Any:
        raise PlayError(f"no {task.sql}")


@pytest.fixture(scope="module")
def server() -> Iterator[PlayServer]:
    server = PlayServer(cast(Runner, NoSpark()))
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def ask(
    server: PlayServer, method: str, path: str, body: bytes | None = None, **headers: str
) -> tuple[int, str, dict[str, str]]:
    """Status, text and headers of an answer; underscores in the names of headers stand for hyphens."""
    connection = http.client.HTTPConnection(*server.server_address[:2], timeout=PATIENCE)  # type: ignore[arg-type]
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.putrequest(method, path, skip_host="Host" in given)
    if body is not None and "Content-Length" not in given:
        given["Content-Length"] = str(len(body))
    for name, value in given.items():
        connection.putheader(name, value)
    connection.endheaders(body)
    answer = connection.getresponse()
    found = answer.status, answer.read().decode(), dict(answer.getheaders())
    connection.close()
    return found


def run(server: PlayServer, data: object = ASKED, **headers: str) -> tuple[int, str, dict[str, str]]:
    given = {TOKEN.replace("-", "_"): server.token, "Content_Type": "application/json", **headers}
    return ask(server, "POST", "/run", json.dumps(data).encode(), **given)


def test_it_listens_on_loopback_alone(server: PlayServer) -> None:
    assert server.server_address[0] == "127.0.0.1"
    assert server.url == f"http://127.0.0.1:{server.server_address[1]}/?token={server.token}"


def test_the_page_runs_its_own_script_alone(server: PlayServer) -> None:
    status, text, headers = ask(server, "GET", f"/?token={server.token}")
    assert status == 200
    policy = headers["Content-Security-Policy"]
    nonce = policy.partition("script-src 'nonce-")[2].partition("'")[0]
    assert text.count("<script") == text.count(f'<script nonce="{nonce}">') == 1
    assert "default-src 'none'" in policy
    assert headers["Cache-Control"] == "no-store"
    assert nonce not in ask(server, "GET", f"/?token={server.token}")[1]


@pytest.mark.parametrize("path", ["/", "/?token=", "/?token=wrong"])
def test_the_page_needs_the_token(server: PlayServer, path: str) -> None:
    status, text, _ = ask(server, "GET", path)
    assert (status, text) == (403, "open the whole address that `sparkstream play` has printed\n")


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},  # a name of somebody's that leads here
        {"Host": "127.0.0.1"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
    ],
)
def test_other_pages_get_nothing(server: PlayServer, headers: dict[str, str]) -> None:
    for status, text, _ in (run(server, **headers), ask(server, "GET", f"/?token={server.token}", None, **headers)):
        assert (status, text) == (403, "the playground is for this machine alone\n")


def test_a_query_needs_token_kind_and_length(server: PlayServer) -> None:
    assert run(server, X_Sparkstream_Token="wrong")[0] == 403
    assert run(server, Content_Type="text/plain")[0] == 415
    assert run(server, Content_Length=str(MOST_BYTES + 1))[:2] == (413, "a request has 1,000,000 bytes at most\n")
    assert run(server, Content_Length="-1")[0] == 413
    assert ask(server, "POST", "/other", b"{}")[0] == 404
    assert ask(server, "GET", "/other")[0] == 404


def test_what_is_wrong_comes_back_as_text(server: PlayServer) -> None:
    status, text, _ = run(server)
    assert status == 200
    assert "no select &lt;b&gt; from x" in text
    assert "the request is no JSON object" in run(server, [])[1]
    body = b"{"
    answer = ask(server, "POST", "/run", body, X_Sparkstream_Token=server.token, Content_Type="application/json")
    assert "the request is no JSON" in answer[1]


def test_a_length_of_many_digits(server: PlayServer) -> None:
    assert run(server, Content_Length="9" * 6_000)[0] == 413


def test_half_a_character(server: PlayServer) -> None:
    status, text, _ = run(server, {**ASKED, "sql": "select '\ud800'"})
    assert status == 200 and "the request is no JSON" in text


def test_an_address_that_is_none(server: PlayServer) -> None:
    assert ask(server, "GET", "ftp://[/?token=x")[0] == 400


def test_connections_that_say_nothing(server: PlayServer, capfd: pytest.CaptureFixture[str]) -> None:
    """Only so many are kept, and who closes one leaves no trace."""
    port = server.server_address[1]
    threads = threading.active_count()
    opened = [socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) for _ in range(MOST_CONNECTIONS + 20)]
    for each in opened:
        with suppress(OSError):
            each.sendall(b"GET / HTTP/1.1\r\nHost: ")
    closed = 0
    for each in opened[MOST_CONNECTIONS:]:
        with suppress(OSError):
            closed += each.recv(1) == b""
    assert closed == 20
    assert threading.active_count() <= threads + 2 * MOST_CONNECTIONS + 1
    for each in opened:
        each.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # a reset, as of a killed browser
        each.close()
    wait_for(lambda: answers(server))
    assert "Traceback" not in capfd.readouterr().err


def test_who_sends_slowly_is_cut_off(server: PlayServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dbt.adapters.sparkstream.play.server.READING", 0.2)
    with socket.create_connection(("127.0.0.1", server.server_address[1]), timeout=PATIENCE) as slow:
        slow.sendall(b"GET / HTTP/1.1\r\n")
        assert slow.recv(1) == b""


def answers(server: PlayServer) -> bool:
    with suppress(OSError, http.client.HTTPException):
        return ask(server, "GET", "/")[0] == 403
    return False
