"""The state file, which records the process of a folder's server."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import Any

from dbt.adapters.sparkstream.secrecy import private
from dbt.adapters.sparkstream.server.config import CONNECT_TOKEN, ServerConfig
from dbt.adapters.sparkstream.server.failures import ServerError
from dbt.adapters.sparkstream.spark.session_conf import LOOPBACK


class Phase(str, Enum):
    """Stage of a server's life. The state file holds the first three; the process itself shows the other three."""

    STARTING = "starting"
    RUNNING = "running"
    STOPPING = "stopping"
    STOPPED = "stopped"
    DEAD = "dead"
    UNRESPONSIVE = "unresponsive"


@dataclass(frozen=True)
class ServerState:
    """A server that was started.

    Attributes:
        phase: STARTING, RUNNING or STOPPING, as of the last change.
        pid: its process.
        birth: when the process began, as the system says it; tells it from a later one with the same pid.
        token: a secret word that the server has in its settings; tells it from another server on its port.
        port: TCP port for SQL (Thrift), on loopback, or None.
        connect_port: TCP port for Spark Connect, on loopback, or None.
        master: Spark's master.
        memory: heap of the server's Java.
        started: when it was started, UTC, in ISO 8601.
        spark_version: of the pyspark it runs on.
        java_version: of the Java it runs on.
        python: program that runs Python functions for Spark Connect.
        conf: the Spark settings that it was started with, beside the server's own; they may hold passwords.
        accelerator: the name of its native engine, or None.

    Raises:
        ValueError: no server can have been started so.
    """

    phase: Phase
    pid: int
    birth: str
    token: str
    port: int | None
    connect_port: int | None
    master: str
    memory: str
    started: str
    spark_version: str
    java_version: str
    python: str
    conf: Mapping[str, str] = field(default_factory=dict, repr=False)
    accelerator: str | None = None

    def __post_init__(self) -> None:
        for name in ("birth", "token", "started", "spark_version", "java_version", "python"):
            value = getattr(self, name)
            if not (isinstance(value, str) and value):
                raise ValueError(f"{name} is {value!r}")
        # Signals to -1 go to every process of the user.
        if type(self.pid) is not int or self.pid < 1:
            raise ValueError(f"pid is {self.pid!r}")
        if not all(isinstance(value, str) for value in self.conf.values()):
            raise ValueError("conf holds other values than texts")
        if self.phase not in (Phase.STARTING, Phase.RUNNING, Phase.STOPPING):
            raise ValueError(f"phase is {self.phase.value!r}")
        if datetime.fromisoformat(self.started).tzinfo is None:
            raise ValueError(f"started is {self.started!r}, without a time zone")

    def config(self, folder: Path) -> ServerConfig:
        """The options that the server of a folder was started with.

        Raises:
            ServerError: one of them can't be right.
        """
        return ServerConfig(
            folder=folder,
            port=self.port,
            connect_port=self.connect_port,
            master=self.master,
            memory=self.memory,
            conf=self.conf,
            accelerator=self.accelerator,
        )

    @property
    def main_port(self) -> int:
        """The port for SQL, or for Spark Connect where there is no other."""
        port = self.connect_port if self.port is None else self.port
        assert port is not None
        return port

    @property
    def connect_url(self) -> str | None:
        """The address for Spark Connect clients, which may have to add a token."""
        # Spark's client gives a token away without TLS to no other name.
        host = "localhost" if self.connect_token else LOOPBACK
        return None if self.connect_port is None else f"sc://{host}:{self.connect_port}"

    @property
    def connect_token(self) -> str | None:
        """Token that clients of Spark Connect must send; None if every program on the machine may connect."""
        return self.conf.get(CONNECT_TOKEN) or None

    @property
    def connect_address(self) -> str | None:
        """The address for Spark Connect clients, with the token."""
        if self.connect_url is None or self.connect_token is None:
            return self.connect_url
        from dbt.adapters.sparkstream.spark.connect import with_parameters

        return with_parameters(self.connect_url, {"token": self.connect_token})


def read_state(path: Path) -> ServerState | None:
    """State in the file, which is checked, as `stop` ends the process in it; None without a file.

    Raises:
        ServerError: the file doesn't hold a state.
    """
    try:
        private.check_file(path)
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        state = ServerState(**{**found, "phase": Phase(found["phase"])})
        state.config(path.parent)
        return state
    except FileNotFoundError:
        return None
    except private.NotOurs as error:
        raise ServerError(str(error.strerror)) from error
    except (ValueError, TypeError, KeyError, AttributeError, ServerError) as error:
        raise ServerError(
            f"{path} is damaged, so the server can't be found by it: {error!r}\n"
            "end the server's process yourself, if it runs, and delete the file"
        ) from error


def write_state(path: Path, state: ServerState) -> None:
    """Puts the state in the file, in one step: a reader sees the old or the new one."""
    private.replace(path, json.dumps(asdict(state), indent=2) + "\n")
