"""Who runs a streaming model: one at a time, and nobody for ever."""

from __future__ import annotations

import json
import os
import socket
import threading
import time
import uuid
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace

from dbt.adapters.sparkstream.streaming.errors import StreamingError
from dbt.adapters.sparkstream.streaming.table import StreamTable

RENEWED = 10.0
"""Seconds between two signs of life."""
EXPIRES = 60.0
"""Seconds without one after which a run is taken for dead."""
SETTLES = 0.2
"""Seconds between looking whether somebody runs the model and noting that one does, at most."""
KEY = "run"


@dataclass(frozen=True)
class Holder:
    """A run of a model, as it is noted in the table's properties."""

    id: str
    host: str
    pid: int
    alive: float

    @classmethod
    def read(cls, text: str | None) -> Holder | None:
        if not text:
            return None
        try:
            return cls(**json.loads(text))
        except (ValueError, TypeError):
            return None

    def is_dead(self) -> bool:
        """Whether the run has ended without saying so."""
        if time.time() - self.alive > EXPIRES:
            return True
        return self.host == socket.gethostname() and self.pid != os.getpid() and not _runs(self.pid)


class Lease:
    """The right to run a model, kept until `release`."""

    def __init__(self, table: StreamTable) -> None:
        self._table = table
        self._holder = Holder(uuid.uuid4().hex, socket.gethostname(), os.getpid(), time.time())
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None
        self._settled = 0.0
        self._held = False
        self._made: dict[str, str] | None = None

    @property
    def fact(self) -> dict[str, str]:
        """What is noted of a table that is this run's."""
        return {KEY: json.dumps(asdict(replace(self._holder, alive=time.time())))}

    def made(self, known: Mapping[str, str]) -> None:
        """Says that the table was made with `fact`: of two runs that make it at the same time, one fails.

        Args:
            known: what was noted of it, `fact` included.
        """
        self._held = True
        self._made = dict(known)

    def take(self, known: Mapping[str, str]) -> bool:
        """Takes the right, until `confirm` says whether somebody else took it at the same moment.

        Args:
            known: what is noted of the table.

        Returns:
            Whether another run had it, and is dead.

        Raises:
            StreamingError: another run has it.
        """
        other = Holder.read(known.get(KEY))
        if other is not None and not other.is_dead():
            where = f"process {other.pid}" + ("" if other.host == socket.gethostname() else f" on {other.host}")
            raise StreamingError(
                f"another run of this model is on its way ({where})\n"
                f"  wait for its end; if it was killed, it is taken over {EXPIRES:.0f} seconds after its last sign"
            )
        self._table.note(**self.fact)
        self._held = True
        # Two may have looked at the same time: the one that noted itself last has it.
        self._settled = time.monotonic() + SETTLES
        return other is not None

    def confirm(self) -> dict[str, str]:
        """Makes sure of the right, and keeps it from now on.

        Returns:
            What is noted of the table, now that nobody else notes anything.

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
        while not self._ended.wait(RENEWED):
            with suppress(StreamingError):
                self._table.note(**self.fact)

    def end(self) -> dict[str, str]:
        """Stops keeping the right; what is noted with this gives it back."""
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


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
