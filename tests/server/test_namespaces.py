"""A cluster whose master, workers and driver have a network namespace each: nothing but a wire is common to them."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.integration.targets import ROOT, SMALL_QUERIES, ThriftTarget, write
from tests.lib.support import without_waiting_for_the_disk
from tests.server.namespaces import Network, network, reason_to_skip
from tests.server.on_clusters import FILES, START
from tests.server.standalone import EXECUTORS, Standalone
from tests.server.test_server import command

pytestmark = pytest.mark.slow

WORKERS = ("worker0", "worker1")
PORT, CONNECT_PORT = 10_000, 15_002
"""Nobody else has them in a namespace."""

QUICKLY = {
    "spark.network.timeout": "20s",
    "spark.network.timeoutInterval": "5s",
    "spark.executor.heartbeatInterval": "2s",
}
"""So that a machine without a cable is given up after seconds."""

ASK = """\
import json, sys
from tests.server.test_server import query
print(json.dumps(query(int(sys.argv[1]), *sys.argv[2:]), default=str))
"""
WAIT = "coalesce(reflect('java.lang.Thread', 'sleep', 150L), '') <> 'never'"
MODELS = {
    **{name: text for name, text in FILES.items() if name != "seeds/bid.csv" and "flink" not in name},
    "models/schema.yml": "sources:\n  - name: raw\n    schema: shop\n    tables: [{name: bid}]\n",
    # Three seconds for each file, whose twenty rows are a micro-batch.
    "models/slow.sql": "{{ config(materialized='streaming_incremental', max_files_per_trigger=1) }}\n"
    f"select id, v from {{{{ stream(source('raw', 'bid')) }}}} where {WAIT}\n",
}
FILES_TO_READ = 6


class Machines:
    """The cluster, and dbt beside its driver.

    Args:
        network: the machines.
        folder: storage that all have in common.
    """

    def __init__(self, network: Network, folder: Path) -> None:
        self.network = network
        self._folder = folder
        self.server = folder / "server"
        self.cluster = Standalone(folder / "cluster", network.address("master"), network.within("master"))
        for name in WORKERS:
            self.cluster.add_worker(network.within(name), network.address(name))
        project = write(folder / "project", MODELS)
        output = ThriftTarget(PORT, CONNECT_PORT).output("shop")
        profile = {"shop": {"target": "far", "outputs": {"far": output}}}
        (project / "profiles.yml").write_text(yaml.safe_dump(profile))

    def start(self) -> list[str]:
        """Starts the server. What it warns of."""
        conf = {**SMALL_QUERIES, **EXECUTORS, **QUICKLY}
        words = [word for name, value in conf.items() for word in ("--conf", f"{name}={value}")]
        where = ("--dir", self.server, "--port", str(PORT), "--connect-port", str(CONNECT_PORT))
        at = ("--master", self.cluster.master, "--memory", "1g", "--timeout", str(round(START)))
        done = self._run(command("start", *where, *at, *words))
        assert done.returncode == 0, done.stdout + done.stderr
        return [line for line in done.stderr.splitlines() if line.startswith("warning")]

    def stop(self) -> None:
        self._run(command("stop", "--dir", self.server))
        self.cluster.close()

    def dbt(self, *arguments: str) -> subprocess.Popen[str]:
        """Starts dbt beside the driver."""
        program = [sys.executable, "-m", "dbt.cli.main", "--no-use-colors", "--no-send-anonymous-usage-stats"]
        here = ["--project-dir", str(self._folder / "project"), "--profiles-dir", str(self._folder / "project")]
        return subprocess.Popen(
            [*self.network.within("driver"), *program, *arguments, *here],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def build(self, *arguments: str) -> None:
        dbt = self.dbt(*arguments)
        said, _ = dbt.communicate(timeout=2 * START)
        assert dbt.returncode == 0, said

    def ask(self, *statements: str) -> list[list[Any]]:
        """The rows of the last statement, with times as text."""
        done = self._run([sys.executable, "-c", ASK, str(PORT), *statements])
        assert done.returncode == 0, done.stderr
        rows: list[list[Any]] = json.loads(done.stdout)
        return rows

    def _run(self, words: list[str]) -> subprocess.CompletedProcess[str]:
        within = self.network.within("driver")
        return subprocess.run([*within, *words], capture_output=True, text=True, timeout=2 * START, cwd=ROOT)


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    if reason := reason_to_skip():
        pytest.skip(reason)
    with network("master", "driver", *WORKERS) as made, without_waiting_for_the_disk():
        machines = Machines(made, tmp_path_factory.mktemp("machines"))
        try:
            assert machines.start() == []
            yield machines
        finally:
            machines.stop()


def test_dbt_on_it(machines: Machines) -> None:
    """Windows, a stream and a function of Python, whose rows this test counts itself."""
    machines.build("build", "--exclude", "slow")
    events = [(1000 + i * 7 % 400, f"k{i % 5}", i * i % 97) for i in range(300)]
    found = machines.ask("select unix_seconds(window_start), unix_seconds(window_end), k, n, s from shop.hops")
    hops: dict[tuple[int, int, str], list[int]] = {}
    for at, key, value in events:
        for start in range(at // 30 * 30 - 90, at + 1, 30):
            hops.setdefault((start, start + 120, key), []).append(value)
    assert sorted(map(tuple, found)) == sorted((*window, len(v), sum(v)) for window, v in hops.items())
    closed = Counter((at // 60 * 60, key) for at, key, _ in events if at // 60 * 60 + 60 <= 1399 - 30)
    streamed = machines.ask("select unix_seconds(window_start), k, n from shop.streamed")
    assert sorted(map(tuple, streamed)) == sorted((*window, n) for window, n in closed.items())
    squared = machines.ask("select id, squared from shop.in_python")
    assert sorted(map(tuple, squared)) == [(i, value * value) for i, (_, _, value) in enumerate(events)]


def test_executors_are_on_two_machines(machines: Machines) -> None:
    folder = "reflect('java.lang.System', 'getProperty', 'user.dir')"
    rows = machines.ask(f"select distinct a from (select {folder} as a from range(1000))")
    assert {machines.cluster.worker_of(name) for (name,) in rows} == {"work-0", "work-1"}
    for name in WORKERS:
        assert f"{machines.network.address(name)}:" in machines.cluster.log("master")


def test_a_cable_is_pulled_in_the_middle_of_a_stream(machines: Machines) -> None:
    rows = "select /*+ coalesce(1) */ id, id * id as v from range({}, {})"
    inserts = [f"insert into shop.bid {rows.format(20 * i, 20 * i + 20)}" for i in range(FILES_TO_READ)]
    machines.ask("create table shop.bid (id bigint, v bigint) using parquet", *inserts, "select 1")
    dbt = machines.dbt("run", "--select", "slow")
    try:
        _wait(lambda: _micro_batches(machines) >= 2, dbt)
        machines.network.unplug("worker1")
        said, _ = dbt.communicate(timeout=2 * START)
    finally:
        dbt.kill()
    assert dbt.returncode == 0, said
    found = machines.ask("select id, v from shop.slow")
    assert sorted(map(tuple, found)) == [(i, i * i) for i in range(20 * FILES_TO_READ)]


def _micro_batches(machines: Machines) -> int:
    return len(list(machines.server.glob("warehouse/*/_sparkstream/slow-*/checkpoint/commits/[0-9]*")))


def _wait(holds: Callable[[], bool], dbt: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + START
    while not holds():
        assert dbt.poll() is None and time.monotonic() < deadline, "it was never in the middle"
        time.sleep(0.1)
