"""The state file: which process is the server of a folder."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from dbt.adapters.sparkstream.server.errors import ServerError
from dbt.adapters.sparkstream.session_conf import LOOPBACK


class Phase(str, Enum):
    """What a server is doing. The state file holds the first three; the others are found out by looking."""

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
        port: TCP port for SQL (Thrift), on loopback.
        connect_port: TCP port for Spark Connect, on loopback, or None.
        master: Spark's master.
        memory: heap of the server's Java.
        started: when it was started, UTC, in ISO 8601.
        spark_version: of the pyspark it runs on.
        java_version: of the Java it runs on.
        python: program that runs Python functions for Spark Connect.
    """

    phase: Phase
    pid: int
    birth: str
    token: str
    port: int
    connect_port: int | None
    master: str
    memory: str
    started: str
    spark_version: str
    java_version: str
    python: str

    @property
    def connect_url(self) -> str | None:
        """The address for Spark Connect clients."""
        return None if self.connect_port is None else f"sc://{LOOPBACK}:{self.connect_port}"


def read_state(path: Path) -> ServerState | None:
    """The state in the file, or None where there is no file.

    Raises:
        ServerError: the file doesn't hold a state.
    """
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return ServerState(**{**found, "phase": Phase(found["phase"])})
    except FileNotFoundError:
        return None
    except (ValueError, TypeError, KeyError) as error:
        raise ServerError(
            f"{path} is damaged, so the server can't be found by it: {error!r}\n"
            "end the server's process yourself, if it runs, and delete the file"
        ) from error


def write_state(path: Path, state: ServerState) -> None:
    """Puts the state in the file, in one step: a reader sees the old or the new one."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}")
    write_private(temporary, json.dumps(asdict(state), indent=2) + "\n")
    os.replace(temporary, path)


def write_private(path: Path, text: str) -> None:
    """Writes a file that only its owner can read."""
    path.unlink(missing_ok=True)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
