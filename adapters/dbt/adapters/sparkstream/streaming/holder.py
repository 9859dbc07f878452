"""Holder of a streaming table: the run that has it, as it is recorded in the table's properties."""

from __future__ import annotations

import json
import os
import socket
import time
import uuid
from dataclasses import asdict, dataclass, fields, replace

from dbt.adapters.sparkstream.server.process import birth, boot_id


@dataclass(frozen=True)
class Holder:
    """A run of a model.

    Attributes:
        id: tells it from all other runs.
        host: its machine's name, for people.
        pid: its process.
        alive: when it last said so, in seconds since the epoch by its own clock.
        place: where its pid is a pid: the machine since its last start, and the container.
        born: when its process began, as the system says it; tells it from a later process with the same pid.
        java: the process of its Spark, and when that began, where it ends with the run's; None for a server.
        session: its session on a server, which may go on without it: user and id; None for a Spark of its own.
    """

    id: str
    host: str
    pid: int
    alive: float
    place: str = ""
    born: str = ""
    java: tuple[int, str] | None = None
    session: tuple[str, str] | None = None

    @classmethod
    def mine(cls, java: int | None = None, session: tuple[str, str] | None = None) -> Holder:
        """A run of this process, as of now."""
        pid = os.getpid()
        return cls(
            id=uuid.uuid4().hex,
            host=socket.gethostname(),
            pid=pid,
            alive=time.time(),
            place=place(),
            born=birth(pid) or "",
            java=None if java is None else (java, birth(java) or ""),
            session=session,
        )

    @classmethod
    def read(cls, text: str) -> Holder | None:
        """A holder of JSON text; None for another text."""
        try:
            found = json.loads(text)
            known = {field.name: found[field.name] for field in fields(cls) if field.name in found}
            pairs = {name: tuple(known[name]) for name in ("java", "session") if known.get(name)}
            return cls(**{**known, **pairs})
        except (ValueError, TypeError, AttributeError):
            return None

    def text(self) -> str:
        """JSON text that `read` reads."""
        return json.dumps(asdict(self))

    def now(self) -> Holder:
        """The same run, with a new sign of life."""
        return replace(self, alive=time.time())

    def is_here(self) -> bool:
        """Whether its pid is one of this machine's and container's."""
        return bool(self.place) and self.place == place()

    def is_alive(self) -> bool | None:
        """Whether the run is on its way; None where that takes watching for a sign of life.

        A run of this machine and container is alive as long as its process is.
        """
        return birth(self.pid) == self.born if self.is_here() else None

    def java_runs(self) -> bool:
        """Whether the Spark of a run of this machine still runs."""
        return self.java is not None and self.is_here() and birth(self.java[0]) == self.java[1]


def place() -> str:
    """Where a pid is a pid: the machine since its last start, and the container.

    The machine's name doesn't tell: containers may all have one.
    """
    try:
        return f"{boot_id()}/{os.readlink('/proc/self/ns/pid')}"
    except OSError:  # no Linux, no containers
        return f"{socket.gethostname()}/{uuid.getnode():x}"
