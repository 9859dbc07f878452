"""The local server's files, options and questions, as far as they need no Spark."""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from click.testing import CliRunner, Result

from dbt.adapters.sparkstream.cli import main
from dbt.adapters.sparkstream.cli.server import _exposed
from dbt.adapters.sparkstream.secrecy import private
from dbt.adapters.sparkstream.server import (
    Phase,
    Server,
    ServerConfig,
    ServerError,
    ServerState,
    cluster,
    launch,
    probe,
    process,
)
from dbt.adapters.sparkstream.server.config import CONNECT_TOKEN
from dbt.adapters.sparkstream.server.state import read_state, write_state
from dbt.adapters.sparkstream.spark.session_conf import METASTORE_POOL, local_conf, read_properties
from tests.lib.support import PATIENCE, free_port

SPARK = launch.Spark(Path("spark"), "4.1.3")

STATE: dict[str, Any] = {
    "phase": "running",
    "pid": 4_000_000,
    "birth": "another boot/1",
    "token": "t",
    "port": 10001,
    "connect_port": None,
    "master": "local[*]",
    "memory": "3g",
    "started": "2025-01-01T00:00:00+00:00",
    "spark_version": "4.2.0",
    "java_version": "17",
    "python": "python3",
}


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["server", *map(str, arguments)])


def written(folder: Path, **changes: Any) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "server.json").write_text(json.dumps({**STATE, **changes}))
    return folder


class TestState:
    @pytest.mark.parametrize(
        "changes",
        [
            {"pid": -1},
            {"pid": 0},
            {"pid": True},
            {"pid": "1"},
            {"birth": None},
            {"birth": ""},
            {"token": ""},
            {"port": 0},
            {"port": "10000"},
            {"phase": "dead"},
            {"started": "yesterday"},
            {"started": "2025-01-01T00:00:00"},
            {"master": "mesos"},
            {"conf": {"spark.x": 1}},
            {"conf": ["spark.x"]},
        ],
        ids=str,
    )
    def test_one_that_no_server_has_written_is_refused(self, changes: dict[str, Any], tmp_path: Path) -> None:
        folder = written(tmp_path / "server", **changes)
        server = Server(ServerConfig(folder=folder))
        for act in (server.status, server.stop):
            with pytest.raises(ServerError, match="is damaged"):
                act()
        assert run("status", "--dir", folder).exit_code == 1

    def test_one_of_an_earlier_version_has_no_settings(self, tmp_path: Path) -> None:
        state = read_state(written(tmp_path / "server") / "server.json")
        assert state is not None
        assert state.conf == {}

    def test_it_keeps_the_options(self, tmp_path: Path) -> None:
        config = ServerConfig(folder=tmp_path, port=1, connect_port=2, memory="3g", conf={"spark.a": "b"})
        options = {name: getattr(config, name) for name in ("port", "connect_port", "master", "memory", "conf")}
        state = ServerState(**{**STATE, **options, "phase": read_phase()})
        write_state(tmp_path / "server.json", state)
        found = read_state(tmp_path / "server.json")
        assert found == state
        assert found.config(tmp_path) == config

    def test_no_process_has_such_a_pid(self) -> None:
        """For the system, 0 and -1 are groups of processes."""
        for pid in (0, -1, -os.getpid()):
            assert process.birth(pid) is None
            assert not process.is_alive(pid, "")
            process.end(pid, "", 0.1)
        assert not process.is_alive(4_000_000, "")

    def test_a_process_has_no_command_line_while_it_becomes_another_program(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A server that had just been started seemed to have died."""
        monkeypatch.setattr(process, "_PROC", tmp_path)
        monkeypatch.setattr(process, "_EXEC", PATIENCE)
        shown = tmp_path / "7" / "cmdline"
        shown.parent.mkdir()
        shown.write_bytes(b"")
        later = threading.Timer(0.1, shown.write_bytes, [b"java\0org.apache.spark.deploy.SparkSubmit\0"])
        later.start()
        assert process.is_spark(7)
        later.join()
        shown.write_bytes(b"sleep\x00600\x00")
        assert not process.is_spark(7)
        assert not process.is_spark(8)


def read_phase() -> Any:
    from dbt.adapters.sparkstream.server import Phase

    return Phase.RUNNING


class TestSecrets:
    def test_a_password_is_no_argument(self, tmp_path: Path) -> None:
        said = run("start", "--dir", tmp_path / "server", "--conf", "spark.hadoop.fs.s3a.secret.key=S3CR3T")
        assert said.exit_code == 2
        assert "--properties-file" in said.output
        assert "S3CR3T" not in said.output
        assert not (tmp_path / "server").exists()

    def test_nor_is_it_one_of_java(self) -> None:
        with pytest.raises(ServerError, match="everybody on this machine sees Java's arguments") as refused:
            ServerConfig(conf={"spark.driver.extraJavaOptions": "-Djavax.net.ssl.keyStorePassword=S3CR3T"})
        assert "S3CR3T" not in str(refused.value)

    def test_options_dont_show_settings(self) -> None:
        assert "S3CR3T" not in repr(ServerConfig(conf={"spark.hadoop.fs.s3a.secret.key": "S3CR3T"}))
        assert "S3CR3T" not in repr(ServerState(**{**STATE, "phase": read_phase(), "conf": {"spark.a": "S3CR3T"}}))

    def test_a_file_of_settings(self, tmp_path: Path) -> None:
        file = tmp_path / "spark.properties"
        file.write_text("# a comment\n\nspark.a=1\nspark.b  -Dx=y -Dz\n spark.c : d e \nspark.empty=\n")
        assert read_properties(file) == {"spark.a": "1", "spark.b": "-Dx=y -Dz", "spark.c": "d e", "spark.empty": ""}


def test_a_server_that_was_stopped_has_no_options_to_restart_with(tmp_path: Path) -> None:
    said = run("restart", "--dir", tmp_path / "server")
    assert said.exit_code == 1
    assert "write sparkstream server start" in said.output


def test_connections_to_the_metastore_are_not_pooled(tmp_path: Path) -> None:
    """tests/server/test_kills.py shows why."""
    assert local_conf(tmp_path, 1)[METASTORE_POOL] == "NONE"


# -- Questions ----------------------------------------------------------------------------------------------
@contextmanager
def slow_server(replies: list[float]) -> Iterator[int]:
    """A Thrift server that opens sessions, and takes so many seconds for each reply."""
    from TCLIService import TCLIService
    from TCLIService import ttypes as t
    from thrift.protocol.TBinaryProtocol import TBinaryProtocol
    from thrift.transport.TTransport import TMemoryBuffer

    ok = t.TStatus(t.TStatusCode.SUCCESS_STATUS)
    handle = t.THandleIdentifier(b"\xf2" * 16, b"\xf2" * 16)

    class Handler:
        def OpenSession(self, request: Any) -> Any:
            return t.TOpenSessionResp(ok, t.TProtocolVersion.HIVE_CLI_SERVICE_PROTOCOL_V6, t.TSessionHandle(handle))

        def ExecuteStatement(self, request: Any) -> Any:
            return t.TExecuteStatementResp(
                ok, t.TOperationHandle(handle, t.TOperationType.EXECUTE_STATEMENT, hasResultSet=True)
            )

        def CloseOperation(self, request: Any) -> Any:
            return t.TCloseOperationResp(ok)

        def CloseSession(self, request: Any) -> Any:
            return t.TCloseSessionResp(ok)

    processor = TCLIService.Processor(Handler())

    def serve() -> None:
        while True:
            try:
                caller, _ = listening.accept()
            except OSError:
                return
            threading.Thread(target=answer, args=(caller,), daemon=True).start()

    def answer(caller: socket.socket) -> None:
        pending = iter(replies)
        with suppress(OSError):  # the caller has hung up
            while data := caller.recv(65536):
                out = TMemoryBuffer()
                processor.process(TBinaryProtocol(TMemoryBuffer(data)), TBinaryProtocol(out))
                time.sleep(next(pending, 0))
                caller.sendall(out.getvalue())

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=serve, daemon=True).start()
        yield int(listening.getsockname()[1])
        listening.shutdown(socket.SHUT_RDWR)


def test_a_late_answer_isnt_read_as_that_to_the_next_question() -> None:
    """Which is to close the session: what an answer of another kind was read as is a UnicodeDecodeError."""
    with slow_server([0, 0, 0, 0.6]) as port:
        assert probe.ask(port, 0.4) is None


@pytest.mark.parametrize("late", range(4))
def test_a_server_that_is_slow_at_any_answer(late: int) -> None:
    with slow_server([0] * late + [1.5]) as port:
        assert probe.ask(port, 0.3) is None


def test_a_port_that_is_given_up_in_a_moment_is_free_soon() -> None:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        port = listening.getsockname()[1]
        assert not probe.is_free_soon(port, 0.1)
        threading.Timer(0.2, listening.close).start()
        assert probe.is_free_soon(port, PATIENCE)


# -- A cluster ----------------------------------------------------------------------------------------------
def test_the_masters_of_a_cluster() -> None:
    config = ServerConfig(master="spark://one:7077,[::1]:7078")
    assert config.masters == [("one", 7077), ("::1", 7078)]
    assert config.cores is None
    assert ServerConfig(master="spark://one:7077", conf={"spark.cores.max": "6"}).cores == 6
    assert ServerConfig().masters == []


def test_the_driver_is_where_the_master_sees_it() -> None:
    """One master of two is there."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        config = ServerConfig(master=f"spark://127.0.0.1:1,127.0.0.1:{listening.getsockname()[1]}")
        assert cluster.own_address(config) == "127.0.0.1"


def test_no_master_is_there(tmp_path: Path) -> None:
    ports = ("--port", str(free_port()), "--connect-port", str(free_port()))
    said = run("start", "--dir", tmp_path / "server", "--master", "spark://127.0.0.1:1", *ports)
    assert said.exit_code == 1
    assert "can't reach Spark's master at spark://127.0.0.1:1 (127.0.0.1:1: Connection refused)" in said.output
    assert not (tmp_path / "server" / "server.json").exists()


def test_a_server_that_asks_for_a_token(tmp_path: Path) -> None:
    token = "spark.connect.authenticate.token"
    with pytest.raises(ServerError, match=r"can have letters, digits and - _ . ~ only") as refused:
        ServerConfig(folder=tmp_path, conf={token: "S3CR3T/x="})
    assert "S3CR3T" not in str(refused.value)
    given = {**STATE, "phase": Phase.RUNNING, "connect_port": 15003}
    state = ServerState(**{**given, "conf": {token: "S3CR3T_x-1"}})
    assert state.connect_url == "sc://localhost:15003"
    assert state.connect_address == "sc://localhost:15003/;token=S3CR3T_x-1"
    assert "S3CR3T" not in repr(state)
    assert ServerState(**given).connect_address == ServerState(**given).connect_url == "sc://127.0.0.1:15003"


def test_settings_on_a_cluster(tmp_path: Path) -> None:
    config = ServerConfig(folder=tmp_path, master="spark://one:7077", conf={"spark.driver.host": "driver.example.com"})
    settings = launch.settings(config, "t", SPARK, "192.0.2.7")
    assert (settings["spark.driver.host"], settings["spark.driver.bindAddress"]) == ("driver.example.com", "192.0.2.7")
    assert "spark.sql.shuffle.partitions" not in settings
    # What clients talk to has no passwords, so it stays on this machine.
    assert settings["spark.hadoop.hive.server2.thrift.bind.host"] == "127.0.0.1"
    assert settings["spark.connect.grpc.binding.address"] == "127.0.0.1"


def test_the_python_of_executors(tmp_path: Path) -> None:
    config = ServerConfig(folder=tmp_path, conf={"spark.pyspark.python": "/opt/python3.12"})
    environ, _ = launch.environment(config, launch.find_spark())
    assert environ["PYSPARK_PYTHON"] == "/opt/python3.12"


@pytest.fixture
def token_file(tmp_path: Path) -> Path:
    path = tmp_path / "token"
    private.write(path, "S3CR3T-token\n")
    return path


def given(*arguments: str | Path) -> ServerConfig:
    """The server that a command line describes; it isn't started."""
    made: list[ServerConfig] = []
    module = import_module("dbt.adapters.sparkstream.cli.server")  # the name in its package is the command
    with patch.object(module, "Server", side_effect=lambda config: made.append(config)):
        run("start", *arguments)
    return made[0]


def test_a_token_leaves_thrift_out_unless_its_port_is_given(token_file: Path, tmp_path: Path) -> None:
    settings = tmp_path / "settings"
    settings.write_text(f"{CONNECT_TOKEN}=S3CR3T-token")
    for way in [("--token-file", token_file), ("--properties-file", settings)]:
        assert (given(*way).port, given(*way).conf[CONNECT_TOKEN]) == (None, "S3CR3T-token")
        assert given(*way, "--port", "10000").port == 10000
        assert given(*way, "--no-connect").port == 10000
    assert given().port == 10000


def test_a_file_of_a_token_that_others_can_read(token_file: Path) -> None:
    token_file.chmod(0o640)
    refused = run("start", "--token-file", token_file)
    assert refused.exit_code == 1
    assert f"chmod 600 {token_file}" in refused.output
    token_file.chmod(0o600)
    link = token_file.with_name("link")
    link.symlink_to(token_file)
    assert "is a link" in run("start", "--token-file", link).output
    token_file.write_text(" ")
    assert "has no token" in run("start", "--token-file", token_file).output


@pytest.mark.parametrize(
    ("ports", "conf", "words"),
    [
        ((1, 2), {}, "run commands as you and read files that you can read"),
        ((None, 2), {}, "run commands as you and read files that you can read"),
        ((1, 2), {CONNECT_TOKEN: "S3CR3T"}, "see the token of Spark Connect"),
        ((None, 2), {CONNECT_TOKEN: "S3CR3T"}, None),
    ],
)
def test_what_others_can_do_is_said(ports: tuple[int | None, int], conf: dict[str, str], words: str | None) -> None:
    said = _exposed(
        ServerState(**{**STATE, "phase": Phase.RUNNING, "port": ports[0], "connect_port": ports[1], "conf": conf})
    )
    assert said is None if words is None else words in str(said)


def test_passwords_of_thrift_are_not_silently_left_out() -> None:
    with pytest.raises(ServerError, match="takes no passwords"):
        ServerConfig(conf={"spark.hadoop.hive.server2.authentication": "LDAP"})
