"""The two ways to Spark, and whose processes there are to kill."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.functional.adapter.project import PARAMETERS

from dbt.adapters.sparkstream.server.process import birth, is_alive
from tools.kill.command import QUICK, Command
from tools.kill.project import SCHEMA


class Stuck(Exception):
    """Something doesn't work any more without help."""


class Method(ABC):
    """A way to Spark.

    Args:
        folder: of the dbt project.
        parameters: settings of Spark.
    """

    name: str

    def __init__(self, folder: Path, parameters: Mapping[str, str] = PARAMETERS) -> None:
        self.folder = folder
        self.settings = {**parameters, "spark.sql.session.timeZone": "UTC"}

    @abstractmethod
    def output(self) -> dict[str, Any]:
        """How dbt comes to Spark, for the profile."""

    @property
    @abstractmethod
    def tables(self) -> Path:
        """The folder of the tables."""

    @abstractmethod
    def java(self, client: Command) -> list[int]:
        """The processes of Spark."""

    def up(self) -> None:  # noqa: B027
        """Makes Spark run, where a user would have to.

        Raises:
            Stuck: it doesn't.
        """

    def down(self) -> None:  # noqa: B027
        """Ends what still runs."""

    def kill(self, client: Command, victim: str) -> None:
        """Kills dbt (`client`), Spark (`server`) or both."""
        pids = self.java(client) if victim != "client" else []
        if victim != "server" or not pids:  # it may not have come to starting its Spark
            pids = [client.pid, *pids]
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if client.pid in pids:
            client.gone()


class Session(Method):
    """`method: session`: Spark is a child of dbt, and outlives it for a moment."""

    name = "session"

    def output(self) -> dict[str, Any]:
        return {"type": "sparkstream", "method": "session", "server_side_parameters": self.settings}

    @property
    def tables(self) -> Path:
        return self.folder / ".sparkstream" / "session" / "warehouse" / f"{SCHEMA}.db"

    def java(self, client: Command) -> list[int]:
        listed = subprocess.run(["ps", "-A", "-o", "pid=,pgid=,comm="], capture_output=True, text=True, check=True)
        found = (line.split(None, 2) for line in listed.stdout.splitlines())
        return [int(pid) for pid, group, name in found if int(group) == client.pid and "java" in name]


def _children(pid: int) -> list[int]:
    """The processes that a process has started."""
    listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True)
    return [int(line) for line in listed.stdout.split()]


def _lasting_port() -> int:
    """A free port that nobody takes while the server is killed: the system gives away those from 32768 on."""
    while True:
        port = random.randrange(20_000, 30_000)
        with socket.socket() as trial, contextlib.suppress(OSError):
            trial.bind(("127.0.0.1", port))
            return port


class Thrift(Method):
    """`method: thrift`: a server of the project's own, started by `sparkstream server start`."""

    name = "thrift"

    def __init__(self, folder: Path, parameters: Mapping[str, str] = PARAMETERS) -> None:
        super().__init__(folder, parameters)
        self._port, self._connect_port = _lasting_port(), _lasting_port()
        self._pid = 0
        self._killed: dict[int, str] = {}
        """The server that was killed last and its Python processes: pid -> birth."""

    def output(self) -> dict[str, Any]:
        # No connect_url: the server in the project's folder is found.
        where = {"host": "127.0.0.1", "port": self._port, "auth": "NOSASL"}
        return {"type": "sparkstream", "method": "thrift", **where}

    @property
    def tables(self) -> Path:
        return self._home / "warehouse" / f"{SCHEMA}.db"

    @property
    def _home(self) -> Path:
        return self.folder / ".sparkstream" / "server"

    def java(self, client: Command) -> list[int]:
        return [self._pid]

    def kill(self, client: Command, victim: str) -> None:
        if victim != "client":
            self._killed = {pid: born for pid in (self._pid, *_children(self._pid)) if (born := birth(pid))}
        super().kill(client, victim)

    def up(self) -> None:
        deadline = time.monotonic() + 20
        while left := [pid for pid, born in self._killed.items() if is_alive(pid, born)]:
            if time.monotonic() > deadline:
                raise Stuck(f"processes go on after their server was killed: {left}")
            time.sleep(0.1)  # the server ends in a moment, and its Python processes within a second or two
        conf = {
            name: value for name, value in self.settings.items() if name not in ("spark.master", "spark.driver.memory")
        }
        settings = [part for name, value in conf.items() for part in ("--conf", f"{name}={value}")]
        ports = ["--port", str(self._port), "--connect-port", str(self._connect_port)]
        self._server("start", *ports, "--master", "local[2]", "--memory", "1g", "--timeout", "300", *settings)
        self._pid = int(json.loads((self._home / "server.json").read_text())["pid"])

    def down(self) -> None:
        with contextlib.suppress(Stuck):
            self._server("stop")

    def _server(self, *arguments: str) -> None:
        command = [sys.executable, "-m", "dbt.adapters.sparkstream.cli", "server", *arguments, "--dir", str(self._home)]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=400, cwd=self.folder, env={**os.environ, **QUICK}
            )
        except subprocess.TimeoutExpired as error:
            raise Stuck(f"sparkstream server {arguments[0]} took longer than {error.timeout} seconds") from error
        if done.returncode:
            raise Stuck(f"sparkstream server {' '.join(arguments)}\n{done.stdout}{done.stderr}")


METHODS = {method.name: method for method in (Session, Thrift)}
"""By the name that a profile gives them."""
