"""The local server of one folder: start, stop, status."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path

from dbt.adapters.sparkstream.secrecy import private
from dbt.adapters.sparkstream.server import cluster, jars, launch, probe, process
from dbt.adapters.sparkstream.server.config import ServerConfig
from dbt.adapters.sparkstream.server.failures import (
    PortInUse,
    ServerBusy,
    ServerDied,
    ServerError,
    StartTimedOut,
)
from dbt.adapters.sparkstream.server.log import explain
from dbt.adapters.sparkstream.server.metastore import make_catalog
from dbt.adapters.sparkstream.server.state import Phase, ServerState, read_state, write_state

# Seconds that a server gets to answer, and to end by itself.
_ANSWER = 10.0
_GRACE = 30.0
# And that the ports of one that was killed stay taken, until the last of its threads is gone.
_DYING = 3.0


@dataclass(frozen=True)
class Start:
    """Outcome of `start`: the running server, whether it ran before, and the cluster's limits."""

    state: ServerState
    already_running: bool
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Plan:
    """Parts of a start that are found on the machine: Spark, address, environment, Java and jars."""

    spark: launch.Spark
    address: str
    environ: dict[str, str]
    java_version: str
    jars: list[str]


@dataclass(frozen=True)
class ServerStatus:
    """Phase, options, memory and uptime of a folder's server.

    Attributes:
        phase: the stage of its life.
        folder: its folder.
        log: its log.
        state: the record of its start; None if there is none.
        resident_bytes: memory that its process holds; None where there is none.
        uptime_seconds: time since its start; None where there is no process.
    """

    phase: Phase
    folder: Path
    log: Path
    state: ServerState | None = None
    resident_bytes: int | None = None
    uptime_seconds: float | None = None


class Server:
    """The local server that belongs to the folder of `config`.

    Any process can make this object and act on the same server; all that they share is in the folder.
    """

    def __init__(self, config: ServerConfig) -> None:
        self.config = config
        self._folder = launch.Folder(config.folder)
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, on_launch: Callable[[ServerState], None] = lambda state: None) -> Start:
        """Starts the server and waits until it answers queries. A server that runs already is left as it is.

        Args:
            on_launch: called when the process is there and the wait begins; not for a server that runs already.

        Raises:
            PortInUse: another process has one of the ports.
            ServerBusy: another process is starting or stopping this server, or it hangs.
            ServerDied: the new process ended before it was ready.
            StartTimedOut: it was not ready within `config.timeout`, or its cluster gave it no executor.
            ServerError: no Java, no Spark, a folder that isn't the server's, or a cluster that dbt can't work on.
        """
        if sys.platform == "win32":
            raise ServerError("the local server runs on Linux and macOS; on Windows, use it in WSL")
        self._folder.claim()
        with self._starting():
            deadline = time.monotonic() + self.config.timeout
            found = self._living()
            if found is None:
                plan = self._plan()
                with self._ended_on_failure():
                    launched = self._launch(plan)
                    on_launch(launched)
                    return self._ready(launched, deadline, already_running=False)
            if found.phase is Phase.STOPPING:
                raise ServerBusy(f"the server (pid {found.pid}) is being stopped; start it again in a moment")
            if found.phase is Phase.STARTING:
                # Whoever started it has gone.
                with self._ended_on_failure():
                    return self._ready(found, deadline, already_running=True)
            if not self._answers(found):
                raise ServerBusy(f"the server (pid {found.pid}) runs on port {found.main_port}; {self.advice()}")
            return Start(found, already_running=True)

    def stop(self) -> bool:
        """Stops the server, also one that hangs or is still starting.

        Returns:
            True if there was a process to stop.

        Raises:
            ServerError: the process can't be ended.
        """
        state = read_state(self._folder.state)
        if state is None:
            return False
        was_alive = _runs(state)
        if was_alive:
            write_state(self._folder.state, replace(state, phase=Phase.STOPPING))
            self._end(state.pid, state.birth)
        self._forget()
        return was_alive

    def status(self) -> ServerStatus:
        """State of the server, such as running, dead or unresponsive; sends a running server a query."""
        state = read_state(self._folder.state)
        folder, log = self._folder.path, self._folder.log
        if state is None:
            return ServerStatus(Phase.STOPPED, folder, log)
        if not _runs(state):
            phase = Phase.STOPPED if state.phase is Phase.STOPPING else Phase.DEAD
            return ServerStatus(phase, folder, log, state)
        phase = state.phase
        if phase is Phase.RUNNING and not self._answers(state):
            phase = Phase.UNRESPONSIVE
        uptime = datetime.now(timezone.utc) - datetime.fromisoformat(state.started)
        return ServerStatus(phase, folder, log, state, process.resident_bytes(state.pid), uptime.total_seconds())

    def advice(self) -> str:
        """Advice about an unresponsive server: likely causes, and what to do."""
        restart = "sparkstream server restart"
        if self.config.folder != ServerConfig().folder:
            restart += f" --dir {shlex.quote(str(self.config.folder))}"
        return (
            f"it doesn't answer within {_ANSWER:g} seconds: the machine is busy, or the server hangs\n"
            "  look again in a minute; if that is no better, end it, by force where it has to be, and start it with\n"
            f"  the same options: {restart}"
        )

    def restart(self, on_launch: Callable[[ServerState], None] = lambda state: None) -> Start:
        """Stops the server, also one that hangs, and starts it with `config`; its running statements are lost.

        Args and errors: as `start`.
        """
        launch.find_spark().check(self.config)
        jars.files(self.config.conf, thrift=self.config.port is not None)
        cluster.own_address(self.config)
        self.stop()
        return self.start(on_launch)

    def wait(self) -> None:
        """Waits until the server has ended.

        Raises:
            ServerDied: it was not stopped by `stop`.
        """
        while self._living() is not None:
            time.sleep(0.5)
        state = read_state(self._folder.state)
        if state is not None and state.phase is not Phase.STOPPING:
            raise ServerDied(f"the server (pid {state.pid}) has died; {explain(self._folder.log)}")

    @contextlib.contextmanager
    def _starting(self) -> Iterator[None]:
        """Keeps every other process from starting this folder's server."""
        import fcntl

        with open(private.opened(self._folder.lock, os.O_RDWR), "r+") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise ServerBusy(
                    f"the server of {self._folder.path} is being started by another process; "
                    "'sparkstream server status' says when it is ready"
                ) from None
            yield

    @contextlib.contextmanager
    def _ended_on_failure(self) -> Iterator[None]:
        """Leaves no process behind when a start fails or is interrupted."""
        try:
            yield
        except BaseException:
            # An interrupt can come before the state is written.
            if self._process is not None and self._process.poll() is None:
                self._end(self._process.pid, process.birth(self._process.pid) or "")
            state = read_state(self._folder.state)
            if state is not None:
                self._end(state.pid, state.birth)
            self._forget()
            raise

    def _plan(self) -> _Plan:
        """Checks everything that can be checked before a process is started."""
        spark = launch.find_spark()
        spark.check(self.config)
        found = jars.files(self.config.conf, thrift=self.config.port is not None)
        address = cluster.own_address(self.config)
        environ, java_version = launch.environment(self.config, spark, address)
        options = {self.config.port: "--port", self.config.connect_port: "--connect-port"}
        for port in self.config.ports:
            if not probe.is_free_soon(port, _DYING):
                other = probe.free_port_after(port) or "N"
                raise PortInUse(
                    f"port {port} is in use by another process; "
                    f"end that, or choose another port with {options[port]} {other}"
                )
        return _Plan(spark, address, environ, java_version, found)

    def _launch(self, plan: _Plan) -> ServerState:
        """Starts the process and records it in the state file."""
        config = self.config
        token = os.urandom(8).hex()
        self._folder.prepare(launch.settings(config, token, plan.spark, plan.address), plan.spark)
        make_catalog(config.conf, plan.spark.home, self._folder.tmp, plan.environ)
        environ = {**plan.environ, jars.CLASS_PATH: os.pathsep.join(plan.jars)}
        self._process = launch.spawn(config, plan.spark, environ)
        pid = self._process.pid
        birth = process.birth(pid)
        if birth is None:
            raise self._died()
        state = ServerState(
            phase=Phase.STARTING,
            pid=pid,
            birth=birth,
            token=token,
            port=config.port,
            connect_port=config.connect_port,
            master=config.master,
            memory=config.memory,
            started=datetime.now(timezone.utc).isoformat(timespec="seconds"),
            spark_version=plan.spark.version,
            java_version=plan.java_version,
            python=plan.environ["PYSPARK_PYTHON"],
            conf=dict(config.conf),
            accelerator=config.accelerator,
        )
        write_state(self._folder.state, state)
        return state

    def _ready(self, state: ServerState, deadline: float, already_running: bool) -> Start:
        """Waits for a process that is starting, and for the first executors of its cluster."""
        while not self._answers(state):
            if self._living() is None:
                raise self._death()
            if time.monotonic() > deadline:
                raise StartTimedOut(
                    f"the server was not ready after {self.config.timeout:g} seconds and was stopped; "
                    f"{cluster.slow_start(state)}give it more time with --timeout, or see why: "
                    f"{explain(self._folder.log)}"
                )
            time.sleep(0.2)
        warnings = self._cluster_ready(state, deadline) if state.config(self.config.folder).on_cluster else ()
        ready = replace(state, phase=Phase.RUNNING)
        write_state(self._folder.state, ready)
        return Start(ready, already_running, warnings)

    def _cluster_ready(self, state: ServerState, deadline: float) -> tuple[str, ...]:
        """Warnings of what the cluster's executors can't do, after a first piece of work on them."""
        check = cluster.Check(state, state.conf.get("spark.sql.warehouse.dir", str(self._folder.path / "warehouse")))
        check.start()
        while check.is_alive():
            if self._living() is None:
                raise self._death()
            if time.monotonic() > deadline:
                raise StartTimedOut(f"{check.too_late(self.config.timeout)}; {explain(self._folder.log)}")
            check.join(0.2)
        return check.result()

    def _death(self) -> ServerError:
        left = read_state(self._folder.state)
        if left is None or left.phase is Phase.STOPPING:
            return ServerBusy("the server was stopped by another process while it was starting")
        return self._died()

    def _died(self) -> ServerDied:
        code = self._exit_code()
        how = "" if code is None else f" (signal {-code})" if code < 0 else f" (exit code {code})"
        return ServerDied(f"the server died while it was starting{how}; {explain(self._folder.log)}")

    def _exit_code(self) -> int | None:
        """Exit code of an ended process; None for a child of another process."""
        if self._process is None:
            return None
        try:
            # The system calls it gone as its first thread ends, and gives its exit code as the last one does.
            return self._process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            return None

    def _living(self) -> ServerState | None:
        """The server's state; None if its process doesn't run."""
        if self._process is not None:
            self._process.poll()  # or else it stays in the system's list after its end
        state = read_state(self._folder.state)
        return state if state and _runs(state) else None

    def _answers(self, state: ServerState) -> bool:
        """True if this server answers queries, and not another server on its port."""
        if state.port is None:
            assert state.connect_port is not None
            return probe.ask_connect(state.connect_port, _ANSWER, state.connect_token) == state.token
        if probe.ask(state.port, _ANSWER) != state.token:
            return False
        return state.connect_port is None or probe.is_open(state.connect_port)

    def _end(self, pid: int, birth: str) -> None:
        process.end(pid, birth, _GRACE)
        if process.is_alive(pid, birth):
            raise ServerError(f"the server's process {pid} can't be ended")
        if self._process is not None and self._process.pid == pid:
            self._process.wait()

    def _forget(self) -> None:
        """Removes what only a running server needs."""
        self._folder.state.unlink(missing_ok=True)
        for folder in (self._folder.tmp, self._folder.spark):
            shutil.rmtree(folder, ignore_errors=True)


def _runs(state: ServerState) -> bool:
    """True if the process in a state runs and is Spark's: a file may name any process."""
    return process.is_alive(state.pid, state.birth) and process.is_spark(state.pid)
