"""The server as the driver of a standalone cluster, whose workers get killed."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dbt.adapters.sparkstream.server import Phase, Server, ServerConfig, ServerError, StartTimedOut
from tests.integration.targets import DbtProject
from tests.lib.support import without_waiting_for_the_disk
from tests.server.on_clusters import (
    a_hot_key_gives_the_rows_of_the_session,
    config_on,
    project_to_hurt,
    rows_are_the_sessions,
    stream_loses_nothing_though_a_worker_dies,
    table_is_complete_though_a_worker_dies,
    workers_at_work,
)
from tests.server.standalone import EXECUTORS, Standalone, standalone
from tests.server.test_server import query, run, state_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standalone]:
    with standalone(tmp_path_factory.mktemp("cluster") / "cluster") as cluster:
        yield cluster


@pytest.fixture(scope="module")
def running(cluster: Standalone, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerConfig]:
    config = config_on(cluster, tmp_path_factory.mktemp("driver") / "server", EXECUTORS)
    try:
        with without_waiting_for_the_disk():
            assert Server(config).start().warnings == ()
        yield config
    finally:
        Server(config).stop()


def test_dbt_gives_the_rows_of_the_session(running: ServerConfig, embedded: SparkSession, tmp_path: Path) -> None:
    rows_are_the_sessions(running, embedded, tmp_path)


def test_both_workers_take_part(running: ServerConfig, cluster: Standalone) -> None:
    assert workers_at_work(cluster, running) == {"work-0", "work-1"}
    assert Server(running).status().phase is Phase.RUNNING


def test_a_hot_key(running: ServerConfig, embedded: SparkSession) -> None:
    a_hot_key_gives_the_rows_of_the_session(running, embedded)


def test_no_executor_has_so_much_memory(cluster: Standalone, tmp_path: Path) -> None:
    config = config_on(cluster, tmp_path / "server", EXECUTORS, timeout=60, conf={"spark.executor.memory": "7g"})
    with pytest.raises(StartTimedOut, match=r"gave no executor within 60 seconds\n.* 7g of memory"):
        Server(config).start()
    assert Server(config).status().phase is Phase.STOPPED


# -- Kills ----------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def hurt(running: ServerConfig, tmp_path_factory: pytest.TempPathFactory) -> DbtProject:
    return project_to_hurt(running, tmp_path_factory.mktemp("hurt"))


def test_a_table_is_complete_though_a_worker_died(running: ServerConfig, cluster: Standalone, hurt: DbtProject) -> None:
    table_is_complete_though_a_worker_dies(running, cluster, hurt, worker=0)


def test_a_stream_loses_nothing_though_a_worker_died(
    running: ServerConfig, cluster: Standalone, hurt: DbtProject
) -> None:
    cluster.add_worker()
    stream_loses_nothing_though_a_worker_dies(running, cluster, hurt, worker=1)
    assert workers_at_work(cluster, running) == {"work-2"}


# -- The end --------------------------------------------------------------------------------------------------
def test_restart_keeps_the_cluster_and_says_what_python_lacks(running: ServerConfig, cluster: Standalone) -> None:
    again = run("restart", "--dir", running.folder, "--conf", "spark.pyspark.python=/nowhere/python3")
    assert again.returncode == 0, again.stderr
    assert "warning: executors can't run functions of this Python" in again.stderr
    assert 'Cannot run program "/nowhere/python3"' in again.stderr
    state = state_of(running.folder)
    assert (state.master, state.python) == (cluster.master, "/nowhere/python3")
    assert query(running.port, "select count(*) from hurt.slow") == [(40,)]


def test_what_runs_goes_on_without_the_master(running: ServerConfig, cluster: Standalone) -> None:
    cluster.kill_master()
    assert query(running.port, "select sum(id) from hurt.slow") == [(780,)]
    again = run("restart", "--dir", running.folder)
    assert again.returncode == 1
    assert f"can't reach Spark's master at {cluster.master}" in again.stderr
    assert Server(running).status().phase is Phase.RUNNING
    assert run("stop", "--dir", running.folder).stdout == "stopped\n"


# -- What has to be common ------------------------------------------------------------------------------------
def test_a_warehouse_that_is_not_shared(tmp_path: Path) -> None:
    """A worker sees a disk of its own where the warehouse is, as another machine would."""
    apart = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none "$0" && exec "$@"']
    folder = tmp_path / "server"
    (folder / "warehouse").mkdir(parents=True)
    (folder / "server.lock").touch()
    apart.append(str(folder / "warehouse"))
    if subprocess.run([*apart, "true"], capture_output=True).returncode:
        pytest.skip("this user can't make a mount of its own")
    with standalone(tmp_path / "cluster", workers=1) as cluster:
        cluster.add_worker(within=apart)
        config = config_on(cluster, folder, EXECUTORS, conf={"spark.cores.max": "2"})  # so that it waits for both
        with pytest.raises(ServerError, match=r"rows that executors .*wrote to .*it is not the same storage for all"):
            Server(config).start()
        assert Server(config).status().phase is Phase.STOPPED
        assert list((folder / "warehouse").iterdir()) == []
