"""`sparkstream streams stop`: how a run is told to end by another process.

On a server, that process says so in the properties of the table, where the run looks for signs of another run anyway.
The catalog of a Spark in the dbt process is this process's own, so there a run and whoever stops it meet in the
project's folder.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Protocol

from dbt.adapters.sparkstream.secrecy import private
from dbt.adapters.sparkstream.streaming.holder import Holder
from dbt.adapters.sparkstream.streaming.reports.overview import StreamModel
from dbt.adapters.sparkstream.streaming.spark.engine import Engine
from dbt.adapters.sparkstream.streaming.tables.kinds import table_of

FOLDER = Path(".sparkstream", "running")
"""The folder in a project's, for the runs of a Spark in the dbt process."""

LOOKS = 0.5
"""Seconds between looking whether a run has ended."""

NO_RUN, ENDED, KILLED = "no run is on its way", "ended", "the run was killed, and the next one goes on where it was"


class Way(Protocol):
    """How the run of one model is reached."""

    def holder(self) -> Holder | None:
        """The run; None for none."""
        ...

    def tell(self, holder: Holder) -> None:
        """Tells it to end."""
        ...


class Announced:
    """A run in this process, which others on the machine reach by files in the project's folder.

    Args:
        project: the project's folder.
        model: the model's unique id.
    """

    def __init__(self, project: Path, model: str) -> None:
        self._run = project / FOLDER / f"{model}.json"
        self._stop = project / FOLDER / f"{model}.stop"

    def __enter__(self) -> Announced:
        private.make_folder(self._run.parent)
        private.write(self._run.parent / ".gitignore", "*\n")
        self._stop.unlink(missing_ok=True)
        private.replace(self._run, Holder.mine().text())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._run.unlink(missing_ok=True)
        self._stop.unlink(missing_ok=True)

    def is_told(self) -> bool:
        """Whether the run is told to end."""
        return self._stop.exists()

    def holder(self) -> Holder | None:
        try:
            private.check_file(self._run)
            return Holder.read(self._run.read_text())
        except FileNotFoundError:
            return None

    def tell(self, holder: Holder) -> None:
        private.write(self._stop, "")


class OnServer:
    """A run on a server, which is reached by the properties of its table.

    Args:
        engine: a session on the server.
        model: the model.
    """

    def __init__(self, engine: Engine, model: StreamModel) -> None:
        self._is_there = engine.exists(model.relation)
        self._table = table_of(engine, model.relation, model.file_format)

    def holder(self) -> Holder | None:
        ledger = self._table.ledger() if self._is_there else None
        return ledger.holder if ledger is not None else None

    def tell(self, holder: Holder) -> None:
        self._table.note(told_to_end=holder.id)


def stopped(ways: Mapping[str, Way], patience: float) -> dict[str, str]:
    """Ends runs, each when its micro-batch has ended.

    Args:
        ways: name of a model -> how its run is reached.
        patience: seconds to wait for all of them to end.

    Returns:
        Name -> what has become of its run: `NO_RUN`, `ENDED` or `KILLED`. A run that goes on is not in it.
    """
    found: dict[str, str] = {}
    waiting: dict[str, Holder] = {}
    for name, way in ways.items():
        holder = way.holder()
        if holder is None:
            found[name] = NO_RUN
        elif holder.is_alive() is False:
            found[name] = KILLED
        else:
            way.tell(holder)
            waiting[name] = holder
    deadline = time.monotonic() + patience
    while waiting and time.monotonic() < deadline:
        time.sleep(LOOKS)
        for name, holder in list(waiting.items()):
            now = ways[name].holder()
            if now is None or now.id != holder.id:
                found[name] = ENDED
            elif holder.is_alive() is False:
                found[name] = KILLED
            else:
                continue
            del waiting[name]
    return found
