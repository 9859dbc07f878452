"""Lease of a streaming model: one run at a time, and no run for ever."""

from __future__ import annotations

import json
import os
import socket
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace

from dbt.adapters.sparkstream.server.process import birth, boot_id
from dbt.adapters.sparkstream.streaming.refusals import StreamingError
from dbt.adapters.sparkstream.streaming.tables.table import PREFIX, StreamTable

RENEWED = 10.0
"""Seconds between two signs of life."""
EXPIRES = 60.0
"""Seconds around its last sign of life in which a run of another machine counts as alive."""
WATCHED = 2.5 * RENEWED
"""Seconds that such a run is watched for a new sign of life afterwards: clocks of two machines may differ."""
LONG_AGO = 3600.0
"""Seconds after which nobody watches any more."""
SETTLES = 0.2
"""Seconds between looking whether somebody runs the model and noting that one does, at most."""
ENDS = 60.0
"""Seconds for the Spark of a dbt process that was killed to end."""
KEY = "run"
STOP = "stop"
"""The property with the id of a run that is told to end when its micro-batch has ended."""
LOOKS = 2.0
"""Seconds between looking whether this run is told to end."""


@dataclass(frozen=True)
class Holder:
    """A run of a model, as it is recorded in the table's properties.

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
    def read(cls, text: str | None) -> Holder | None:
        """A holder of JSON text; None for no holder."""
        if not text:
            return None
        try:
            found = json.loads(text)
            known = {field.name: found[field.name] for field in fields(cls) if field.name in found}
            pairs = {name: tuple(known[name]) for name in ("java", "session") if known.get(name)}
            return cls(**{**known, **pairs})
        except (ValueError, TypeError, AttributeError):
            return None

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


class Lease:
    """The right to run a model, kept until `release`.

    Args:
        table: the model's table.
        holder: this run.
        report: told, in a line, what is waited for.

    Attributes:
        is_told_to_end: whether somebody has said that the run shall end when its micro-batch has ended.
    """

    def __init__(self, table: StreamTable, holder: Holder, report: Callable[[str], None]) -> None:
        self._table = table
        self._holder = holder
        self._report = report
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None
        self._settled = 0.0
        self._held = False
        self._made: dict[str, str] | None = None
        self.is_told_to_end = False

    @property
    def fact(self) -> dict[str, str]:
        """What is recorded of a table that is this run's."""
        return {KEY: json.dumps(asdict(replace(self._holder, alive=time.time())))}

    @property
    def owned(self) -> dict[str, str]:
        """The property of a table that is this run's, and the text that stands in its value."""
        return {PREFIX + KEY: self._holder.id}

    def made(self, known: Mapping[str, str]) -> None:
        """Says that the table was made with `fact`: of two runs that make it at the same time, one fails.

        Args:
            known: what was recorded of it, `fact` included.
        """
        self._held = True
        self._made = dict(known)

    def take(self, known: Mapping[str, str]) -> Holder | None:
        """Takes the right, until `confirm` says whether somebody else took it at the same moment.

        Args:
            known: what is recorded of the table.

        Returns:
            Another run that had it, and has ended without giving it back.

        Raises:
            StreamingError: another run has it.
        """
        other = Holder.read(known.get(KEY))
        if other is not None and self._is_alive(other):
            where = f"process {other.pid}" + ("" if other.is_here() else f" on {other.host}")
            raise StreamingError(
                f"another run of this model is on its way ({where})\n"
                f"  wait for its end; if it was killed, it is taken over {EXPIRES:.0f} seconds after its last sign"
            )
        if other is not None:
            self._await_java(other)
        self._table.note(**self.fact)
        self._held = True
        # Two runs may have looked at the same time: the run that recorded itself last has the model.
        self._settled = time.monotonic() + SETTLES
        return other

    def _is_alive(self, other: Holder) -> bool:
        alive = other.is_alive()
        if alive is not None:
            return alive
        silent = time.time() - other.alive
        if abs(silent) < EXPIRES:
            return True
        if silent > LONG_AGO:
            return False
        self._report(f"watching for {WATCHED:.0f} seconds whether the run on {other.host} is alive")
        deadline = time.monotonic() + WATCHED
        while time.monotonic() < deadline:
            time.sleep(1)
            now = Holder.read(self._table.properties().get(KEY))
            if now is None or now.id != other.id:
                return now is not None
            if now.alive != other.alive:
                return True
        return False

    def _await_java(self, other: Holder) -> None:
        """Waits for the end of a Spark whose dbt process was killed: it ends by itself, a moment later."""
        deadline = time.monotonic() + ENDS
        while other.java is not None and other.java_runs():
            if time.monotonic() > deadline:
                raise StreamingError(
                    f"the dbt process {other.pid} was killed, and its Spark (process {other.java[0]}) goes on\n"
                    "  end that process, then run the model again"
                )
            time.sleep(0.2)

    def confirm(self) -> dict[str, str]:
        """Makes sure of the right, and keeps it from now on.

        Returns:
            What is recorded of the table, now that nobody else notes anything.

        Raises:
            StreamingError: another run has it.
        """
        properties = self._made
        if properties is None:
            time.sleep(max(0.0, self._settled - time.monotonic()))
            properties = self._table.properties()
            holder = Holder.read(properties.get(KEY))
            if holder is None or holder.id != self._holder.id:
                self._held = False
                raise StreamingError("another run of this model has begun at the same moment\n  wait for its end")
        self._thread = threading.Thread(target=self._renew, name="sparkstream-lease", daemon=True)
        self._thread.start()
        return properties

    def _renew(self) -> None:
        renewed = time.monotonic()
        while not self._ended.wait(LOOKS):
            with suppress(StreamingError):
                self.is_told_to_end = self._table.properties().get(STOP) == self._holder.id
                if time.monotonic() - renewed >= RENEWED:
                    self._table.note(**self.fact)
                    renewed = time.monotonic()

    def end(self) -> dict[str, str]:
        """Stops keeping the right; what is recorded with this gives it back."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join()
        self._held = False
        return {KEY: ""}

    def release(self) -> None:
        """Gives the right back, if this run has it still."""
        if self._held:
            with suppress(StreamingError):
                self._table.note(**self.end())
