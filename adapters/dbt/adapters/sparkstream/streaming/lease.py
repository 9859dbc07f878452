"""Who runs a streaming model: one at a time, and nobody for ever."""

from __future__ import annotations

import json
import os
import socket
import threading
import time
import uuid
from contextlib import suppress
from dataclasses import asdict, dataclass

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
        self._noted = 0.0
        self._lost = False

    def take(self) -> bool:
        """Takes the right, until `confirm` says whether somebody else took it at the same moment.

        Returns:
            Whether another run had it, and is dead.

        Raises:
            StreamingError: another run has it.
        """
        other = Holder.read(self._table.properties().get(KEY))
        if other is not None and not other.is_dead():
            where = f"process {other.pid}" + ("" if other.host == socket.gethostname() else f" on {other.host}")
            raise StreamingError(
                f"another run of this model is on its way ({where})\n"
                f"  wait for its end; if it was killed, it is taken over {EXPIRES:.0f} seconds after its last sign"
            )
        self._note(self._holder)
        self._noted = time.monotonic()
        return other is not None

    def confirm(self) -> dict[str, str]:
        """Makes sure of the right, and keeps it from now on.

        Returns:
            What is noted of the table, now that nobody else notes anything.

        Raises:
            StreamingError: another run has it.
        """
        # Two may have looked at the same time: the one that noted itself last has it.
        time.sleep(max(0.0, self._noted + SETTLES - time.monotonic()))
        properties = self._table.properties()
        if Holder.read(properties.get(KEY)) != self._holder:
            self._lost = True
            raise StreamingError("another run of this model has begun at the same moment\n  wait for its end")
        self._thread = threading.Thread(target=self._renew, name="sparkstream-lease", daemon=True)
        self._thread.start()
        return properties

    def _note(self, holder: Holder | None) -> None:
        self._table.note(**{KEY: "" if holder is None else json.dumps(asdict(holder))})

    def _renew(self) -> None:
        while not self._ended.wait(RENEWED):
            with suppress(StreamingError):
                self._note(Holder(self._holder.id, self._holder.host, self._holder.pid, time.time()))

    def release(self) -> None:
        """Gives the right back, unless another run has it."""
        if self._lost:
            return
        self._ended.set()
        if self._thread is not None:
            self._thread.join()
        with suppress(StreamingError):
            self._note(None)


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
