"""`sparkstream stream`: the real command, left running until Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from dbt.adapters.sparkstream.cli import main
from dbt.adapters.sparkstream.streaming.operations.stopping import leave_running
from tests.functional.adapter.project import Project
from tests.lib.support import PATIENCE, wait_for

pytestmark = pytest.mark.full

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# The sum takes a second or two of each micro-batch, so that there is one to interrupt.
ROWS = """\
{{ config(materialized='streaming_incremental', trigger={'processing_time': '1 second'}, max_files_per_trigger=1) }}
select id, busy.total from {{ stream(source('files', 'events')) }}
cross join (select sum(hash(id)) as total from range(10000000)) as busy
"""
COUNTS = """\
{{ config(materialized='streaming_incremental', event_time='at', watermark='10 seconds',
          trigger={'processing_time': '1 second'}) }}
select window_start, window_end, count(*) as n
from {{ tumble(stream(source('files', 'events')), 'at', '1 minute') }} group by window_start, window_end
"""
SOURCES = """\
sources:
  - name: files
    tables:
      - name: events
        config: {meta: {stream: {format: json, path: EVENTS, schema: 'id bigint, at timestamp'}}}
"""


class Command:
    """The command, with what it has printed so far."""

    def __init__(self, folder: Path) -> None:
        self._log = folder / "stream.log"
        here = ["--project-dir", str(folder), "--profiles-dir", str(folder)]
        with open(self._log, "wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "dbt.adapters.sparkstream.cli", "stream", "counts", "events_seen", *here],
                cwd=folder,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @property
    def output(self) -> str:
        return self._log.read_text()

    def wait_for(self, what: Callable[[], Any]) -> None:
        def holds() -> bool:
            assert self.process.poll() is None, self.output
            return bool(what())

        wait_for(holds, lambda: self.output)

    def control_c(self) -> None:
        """What a terminal does: all processes of the group get the signal."""
        os.killpg(self.process.pid, signal.SIGINT)

    def end(self) -> int:
        return self.process.wait(timeout=PATIENCE)


@pytest.fixture
def shop(make_project: Callable[..., Project]) -> Project:
    shop = make_project({"models/events_seen.sql": ROWS, "models/counts.sql": COUNTS})
    shop.write({"models/schema.yml": SOURCES.replace("EVENTS", str(shop.folder / "events"))})
    (shop.folder / "events").mkdir()
    return shop


@pytest.fixture
def command(shop: Project) -> Iterator[Command]:
    for number in range(3):
        add(shop, number)
    command = Command(shop.folder)
    yield command
    if command.process.poll() is None:
        os.killpg(command.process.pid, signal.SIGKILL)
        command.process.wait()


def add(shop: Project, number: int) -> None:
    """A file with two events of a minute."""
    lines = [f'{{"id": {10 * number + i}, "at": "2020-04-15 08:0{number}:{i}0"}}\n' for i in range(2)]
    path = shop.folder / f".{number}.json"
    path.write_text("".join(lines))
    os.utime(path, (number, number))  # Spark takes the oldest first
    path.rename(shop.folder / "events" / f"{number}.json")


def test_models_run_until_control_c(shop: Project, command: Command, embedded: SparkSession) -> None:
    warehouse = shop.folder / ".sparkstream" / "session" / "warehouse" / f"{shop.schema}.db"

    def rows(table: str, *columns: str) -> list[tuple[Any, ...]]:
        found = embedded.read.parquet(str(warehouse / table)).selectExpr(*columns)
        return sorted(map(tuple, found.collect()))

    def begun(table: str, batch: int) -> bool:
        return bool(list(warehouse.glob(f"_sparkstream/{table}-*/checkpoint/offsets/{batch}")))

    # A file of each micro-batch, and windows of all of them.
    command.wait_for(lambda: "events_seen: micro-batch 2: 2 rows" in command.output)
    command.wait_for(lambda: "counts: micro-batch 1: " in command.output)
    assert rows("events_seen", "micro_batch", "id") == [(n, 10 * n + i) for n in range(3) for i in range(2)]
    assert rows("counts", "date_format(window_start, 'HH:mm')", "n") == [("08:00", 2), ("08:01", 2)]

    # One of them is ended from another terminal.
    assert (shop.folder / ".sparkstream" / "running" / "model.shop.counts.json").exists()
    here = ["--project-dir", str(shop.folder), "--profiles-dir", str(shop.folder)]
    done = CliRunner().invoke(main, ["streams", "stop", "counts", *here])
    assert (done.exit_code, done.stdout) == (0, "counts: ended\n"), done.output
    assert rows("sparkstream_runs", "relation")[0][0].endswith("counts")
    assert CliRunner().invoke(main, ["streams", "stop", "counts", *here]).stdout == "counts: no run is on its way\n"
    assert command.process.poll() is None
    assert not leave_running(here, ["nosuch"])

    # What comes is read as it comes; the micro-batch that runs at Ctrl-C is ended.
    add(shop, 3)
    command.wait_for(lambda: begun("events_seen", 3))
    command.control_c()
    assert command.end() == 0, command.output
    assert "stopping after this micro-batch" in command.output
    assert list(warehouse.glob("_sparkstream/events_seen-*/checkpoint/commits/3"))
    assert rows("events_seen", "id")[-1] == (31,)
    assert "OK created sql streaming_incremental model" in command.output
    assert "+8 rows" in command.output
    recorded = rows("sparkstream_runs", "batch", "rows_read", "rows_appended", "relation")
    assert [row[:3] for row in recorded if "events_seen" in row[3]] == [(n, 2, 2) for n in range(4)]
