"""Ctrl-C: the statement that runs is ended, and people read one line about it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from dbt_common.exceptions import DbtDatabaseError

from dbt.adapters.sparkstream.spark.environments.cancelling import TaggedJobs
from dbt.adapters.sparkstream.spark.environments.cursors import SessionHandle, SessionWrapper
from tests.functional.adapter.project import Project
from tests.lib.support import PATIENCE, wait_for

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ENDLESS = "select count(*) as n from range(1000000) a cross join range(1000000) b where a.id * b.id % 7 = 3"
PAIRS = "select timestamp_seconds(a.id * b.id % 99) as at from range(1000000) a cross join range(1000000) b"
WINDOWS = "select window_start, count(*) as n from {{ tumble(ref('pairs'), 'at', '1 minute') }} group by window_start"


@pytest.mark.parametrize("statement", [ENDLESS, f"create table endless using parquet as {ENDLESS}"])
def test_a_statement_is_cancelled(embedded: SparkSession, statement: str) -> None:
    """Also a command, whose jobs Spark's own way of ending a session's jobs doesn't find."""
    embedded.sql("drop table if exists endless")
    wrapper = SessionWrapper(SessionHandle(embedded, TaggedJobs(embedded)))
    raised: list[str] = []

    def run() -> None:
        wrapper.cursor()
        try:
            wrapper.execute(statement)
            wrapper.fetchall()
        except DbtDatabaseError as error:
            raised.append(error.msg)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    tracker = embedded.sparkContext.statusTracker()
    wait_for(tracker.getActiveJobsIds)
    wrapper.cancel()
    thread.join(PATIENCE)
    assert raised == ["cancelled"]
    # Spark notes the end of a job a moment later.
    wait_for(lambda: not tracker.getActiveJobsIds())
    with pytest.raises(DbtDatabaseError, match="cancelled"):
        wrapper.cursor().execute("select 1")


class Command:
    """A command in a process group of its own, with what it has printed so far."""

    def __init__(self, project: Project, *arguments: str) -> None:
        self._log = project.folder / "command.log"
        with open(self._log, "wb") as log:
            self._process = subprocess.Popen(
                [*arguments, "--project-dir", str(project.folder), "--profiles-dir", str(project.folder)],
                cwd=project.folder,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                # Where the tests run in the background, SIGINT is ignored, and by their children too.
                preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
            )

    @property
    def output(self) -> str:
        return self._log.read_text()

    def wait_for(self, happened: Callable[[], bool]) -> None:
        def holds() -> bool:
            assert self._process.poll() is None, self.output
            return happened()

        wait_for(holds, lambda: self.output)

    def control_c(self, times: int) -> int:
        """Presses Ctrl-C so often, and gives the exit code."""
        try:
            for _ in range(times):
                os.killpg(self._process.pid, signal.SIGINT)
                time.sleep(0.5)
            return self._process.wait(PATIENCE)
        finally:
            if self._process.poll() is None:
                os.killpg(self._process.pid, signal.SIGKILL)
                self._process.wait()


@pytest.mark.slow
@pytest.mark.parametrize("times", [1, 2])
def test_dbt_ends(make_project: Callable[..., Project], times: int) -> None:
    model = "{{ config(materialized='table') }}\n" + ENDLESS
    project = make_project({"models/a.sql": model, "models/b.sql": model})
    dbt = str(Path(sys.executable).parent / "dbt")
    command = Command(project, dbt, "run", "--threads", "2")
    command.wait_for(lambda: command.output.count("START sql table model") == 2)
    time.sleep(5)
    assert command.control_c(times) == 2
    assert "Interrupted" in command.output
    assert "Traceback" not in command.output


STREAM = """\
{{ config(materialized='streaming_incremental', max_files_per_trigger=1) }}
select id, busy.total from {{ stream(source('files', 'events')) }}
cross join (select sum(hash(id)) as total from range(20000000)) as busy
"""
FILES = "sources: [{name: files, tables: [{name: events, config: {meta: {stream: " + (
    "{format: json, path: events, schema: 'id bigint'}}}}]}]\n"
)


@pytest.mark.slow
def test_a_stream_ends_with_its_micro_batch_and_is_no_error(make_project: Callable[..., Project]) -> None:
    project = make_project({"models/seen.sql": STREAM, "models/schema.yml": FILES})
    events = project.folder / "events"
    events.mkdir()
    for number in range(200):
        (events / f"{number}.json").write_text(f'{{"id": {number}}}\n')
    command = Command(project, str(Path(sys.executable).parent / "dbt"), "run")
    command.wait_for(lambda: bool(list(project.folder.rglob("micro_batch=0"))))
    command.control_c(1)
    assert "interrupted: the next run goes on" in command.output
    assert "ERROR" not in command.output.replace("ERROR=0", "")  # the line with the counts
    assert "Traceback" not in command.output


@pytest.mark.slow
def test_explain_ends(make_project: Callable[..., Project]) -> None:
    project = make_project({"models/pairs.sql": PAIRS, "models/windows.sql": WINDOWS})
    dbt = str(Path(sys.executable).parent / "dbt")
    here = ["--project-dir", str(project.folder), "--profiles-dir", str(project.folder)]
    subprocess.run([dbt, "--quiet", "run", *here], cwd=project.folder, check=True)
    command = Command(project, sys.executable, "-m", "dbt.adapters.sparkstream.cli", "explain", "windows")
    log = project.folder / ".sparkstream" / "session" / "spark.log"
    before = log.stat().st_mtime
    command.wait_for(lambda: log.stat().st_mtime > before)
    time.sleep(20)  # Spark starts, and counts the pairs
    assert command.control_c(2) != 0
    assert command.output.splitlines() == ["interrupted"]
