"""Lease of a streaming model: one run at a time, and no run for ever."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from dbt.adapters.sparkstream.streaming.ledger import Holder, Ledger
from dbt.adapters.sparkstream.streaming.refusals import StreamingError
from dbt.adapters.sparkstream.streaming.spark.engine import Engine
from dbt.adapters.sparkstream.streaming.tables.table import StreamTable

RENEWED = 10.0
"""Seconds between two signs of life."""
EXPIRES = 60.0
"""Seconds around its last sign of life in which a run of another machine counts as alive."""
WATCHED = 2.5 * RENEWED
"""Seconds that such a run is watched for a new sign of life afterwards: clocks of two machines may differ."""
LONG_AGO = 3600.0
"""Seconds without a sign of life after which a run counts as ended, and isn't watched."""
SETTLES = 0.2
"""Most seconds from the look that finds no other run to the record that this run has the model."""
ENDS = 60.0
"""Seconds for the Spark of a dbt process that was killed to end."""
LOOKS = 2.0
"""Seconds between two looks whether this run is told to end."""


class TakenOver(StreamingError):
    """Another run has taken the right over, as this one gave no sign of life: its machine was suspended, perhaps."""


class Lease:
    """The right to run a model, kept until `release`; `report` takes lines about the reasons for waiting."""

    def __init__(self, table: StreamTable, engine: Engine, report: Callable[[str], None]) -> None:
        self._table = table
        self._engine = engine
        self._mine = Holder.mine(engine.java(), engine.session())
        self._report = report
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None
        self._settled = 0.0
        self._looked = 0.0
        """When it was seen last that this run has the right; the clock goes on while the machine is suspended."""
        self._is_lost = False
        self._held = False
        self.is_told_to_end = False

    @property
    def holder(self) -> Holder:
        """This run, with a new sign of life."""
        return replace(self._mine, alive=time.time())

    def made(self) -> None:
        """Takes the right by a table made with this run as its holder: of two runs that make it at once, one fails."""
        self._held = True

    def take(self, ledger: Ledger) -> Ledger:
        """Takes the right, and returns the table's ledger then; `confirm` checks whether another run took it, too.

        Queries on a server that are left of a run that stopped without releasing its lease are ended.
        """
        other = ledger.holder
        if other is not None and self._is_alive(other):
            where = f"process {other.pid}" + ("" if other.is_here() else f" on {other.host}")
            raise StreamingError(
                f"another run of this model is on its way ({where})\n"
                f"  wait for its end; if it was killed, it is taken over {EXPIRES:.0f} seconds after its last sign"
            )
        if other is not None:
            self._await_java(other)
        self._table.record(holder=self.holder)
        self._held = True
        # Two runs may have looked at the same time: the run that recorded itself last has the model.
        self._settled = time.monotonic() + SETTLES
        if other is None:
            return ledger
        self._report("the last run ended without releasing its lease; going on where it stopped")
        if other.session is None:
            return ledger
        self._engine.end_queries(other.session)
        now = self._table.ledger() or ledger
        # A statement of that run's may have rebuilt the table, and have ended only now.
        return now if now.generation == ledger.generation else self.take(now)

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
            ledger = self._table.ledger()
            if ledger is None:  # the other one is just replacing the table
                continue
            now = ledger.holder
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

    def confirm(self) -> Ledger:
        """Checks that this run has the right, and renews it from now on; returns the ledger as it is now."""
        time.sleep(max(0.0, self._settled - time.monotonic()))
        ledger = self._table.ledger()
        if ledger is None or not ledger.is_held_by(self._mine):
            self._held = False
            raise StreamingError("another run of this model has begun at the same moment\n  wait for its end")
        self._looked = time.time()
        self._thread = threading.Thread(target=self._renew, name="sparkstream-lease", daemon=True)
        self._thread.start()
        return ledger

    def _renew(self) -> None:
        renewed = time.monotonic()
        while not self._ended.wait(LOOKS):
            with suppress(StreamingError):
                ledger = self._table.ledger()
                if ledger is None:  # the table is just being replaced
                    continue
                if not ledger.is_held_by(self._mine):  # another run has the right, or had it since
                    self._is_lost = self.is_told_to_end = True
                    return
                self._looked = time.time()
                self.is_told_to_end = ledger.told_to_end == self._mine.id
                if time.monotonic() - renewed >= RENEWED:
                    self._table.record(holder=self.holder)
                    renewed = time.monotonic()

    def end(self) -> None:
        """Stops renewing the right, which the caller then gives up in the ledger, unless this raises `TakenOver`."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join()
        is_doubtful = self._is_lost or (self._thread is not None and time.time() - self._looked > EXPIRES / 2)
        self._held = False
        if is_doubtful and (ledger := self._table.ledger()) is not None and not ledger.is_held_by(self._mine):
            raise TakenOver("another run of this model has taken it over, as this one gave no sign of life")

    def release(self) -> None:
        """Gives the right back, if this run has it still."""
        if self._held:
            with suppress(StreamingError):
                self.end()
                self._table.record(holder=None)
