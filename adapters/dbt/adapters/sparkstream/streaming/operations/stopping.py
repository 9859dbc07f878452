"""Models that are left running (`sparkstream stream`), and runs that another process ends (`sparkstream streams stop`).

On a server, the order to end is in the table's properties, where the run looks for signs of another run anyway.
The catalog of a Spark in the dbt process is this process's own, so there a run and the process that ends it meet in the
project's folder.
"""

from __future__ import annotations

import io
import signal
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout, suppress
from pathlib import Path
from types import FrameType

from dbt.adapters.sparkstream.secrecy import private
from dbt.adapters.sparkstream.sql.core.interval import Interval
from dbt.adapters.sparkstream.streaming.job import table_of
from dbt.adapters.sparkstream.streaming.ledger import Holder
from dbt.adapters.sparkstream.streaming.reports.overview import StreamModel
from dbt.adapters.sparkstream.streaming.spark.engine import Engine

FOLDER = Path(".sparkstream", "running")
"""Folder in a project, for the runs of a Spark in the dbt process."""

LOOKS = 0.5
"""Seconds between looking whether a run has ended."""

NO_RUN, ENDED, KILLED = "no run is on its way", "ended", "the run was killed, and the next one goes on where it was"

DEFAULT_INTERVAL = Interval.parse("10 seconds")
"""Time between two micro-batches of a model whose trigger sets none."""

_stop: threading.Event | None = None


class Announced:
    """A run in this process, which other processes of the machine reach by files in the project's folder."""

    def __init__(self, project: Path, model: str) -> None:
        self._run = project / FOLDER / f"{model}.json"
        self._stop = project / FOLDER / f"{model}.stop"
        self._mine = Holder.mine()

    def __enter__(self) -> Announced:
        private.make_folder(self._run.parent)
        private.write(self._run.parent / ".gitignore", "*\n")
        private.replace(self._run, self._mine.text())
        return self

    def __exit__(self, *raised: object) -> None:
        if self.is_told():
            self._stop.unlink(missing_ok=True)
        with suppress(private.NotOurs):
            holder = self.holder()
            if holder is not None and holder.id == self._mine.id:  # else of a run in another target
                self._run.unlink(missing_ok=True)

    def is_told(self) -> bool:
        """True if the run is told to end."""
        try:
            return self._stop.read_text() == self._mine.id
        except OSError:
            return False

    def holder(self) -> Holder | None:
        """The run; None for none."""
        try:
            private.check_file(self._run)
            return Holder.read(self._run.read_text())
        except FileNotFoundError:
            return None

    def tell(self, holder: Holder) -> None:
        """Tells the run to end."""
        private.write(self._stop, holder.id)


class OnServer:
    """A run on a server, which is reached by the properties of its table."""

    def __init__(self, engine: Engine, model: StreamModel) -> None:
        self._table = table_of(engine, model.relation, model.config)

    def holder(self) -> Holder | None:
        ledger = self._table.ledger()
        return ledger.holder if ledger is not None else None

    def tell(self, holder: Holder) -> None:
        self._table.record(told_to_end=holder.id)


def stopped(ways: Mapping[str, Announced | OnServer], patience: float) -> dict[str, str]:
    """Ends runs, each after its micro-batch. Returns name -> `NO_RUN`, `ENDED` or `KILLED`; without runs that go on."""
    runs = {name: holder for name, way in ways.items() if (holder := way.holder()) is not None}
    found = {name: NO_RUN for name in ways if name not in runs}
    for name, holder in runs.items():
        if holder.is_alive() is False:
            found[name] = KILLED
        else:
            ways[name].tell(holder)
    deadline = time.monotonic() + patience
    while len(found) < len(ways) and time.monotonic() < deadline:
        time.sleep(LOOKS)
        for name in runs.keys() - found.keys():
            now = ways[name].holder()
            if now is None or now.id != runs[name].id:
                found[name] = ENDED
            elif now.is_alive() is False:
                found[name] = KILLED
    return found


def is_on() -> bool:
    """True if models are left running in this process."""
    return _stop is not None


def is_stopping() -> bool:
    """True if models that are left running were told to stop."""
    return _stop is not None and _stop.is_set()


def leave_running(dbt_arguments: Sequence[str], models: Sequence[str]) -> bool:
    """Runs models by dbt until SIGINT (Ctrl-C) or SIGTERM; the micro-batches that run then are ended first."""
    from dbt.cli.main import dbtRunner

    global _stop
    _stop = event = threading.Event()

    def stop(number: int, frame: FrameType | None) -> None:
        if event.is_set():
            raise KeyboardInterrupt
        print("stopping after this micro-batch; once more to stop at once", file=sys.stderr)
        event.set()

    # A model that is left running keeps its thread, so there is one for each, whatever the profile says.
    chosen = ["--select", *models]
    with redirect_stdout(io.StringIO()):  # dbt prints the names
        listed = dbtRunner().invoke(["--quiet", "ls", "--resource-type", "model", *dbt_arguments, *chosen])
    if listed.result == []:
        print(f"no model is called {' or '.join(models)}", file=sys.stderr)
        return False
    threads = len(listed.result) if isinstance(listed.result, list) else 0
    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        return bool(dbtRunner().invoke(["run", *dbt_arguments, "--threads", str(max(threads, 1)), *chosen]).success)
    finally:
        _stop = None
        for number, handler in before.items():
            signal.signal(number, handler)
