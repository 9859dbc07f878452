"""The server as the driver of executors that a YARN starts, whose nodes get killed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pyspark
import pytest

from dbt.adapters.sparkstream.server import Phase, Server, ServerConfig, ServerDied, StartTimedOut
from dbt.adapters.sparkstream.server.launch import find_spark
from tests.integration.targets import DbtProject
from tests.lib.support import without_waiting_for_the_disk
from tests.parts.yarn.cluster import JARS, SETTINGS, Yarn, yarn
from tests.server.on_clusters import (
    config_on,
    project_to_hurt,
    rows_are_the_sessions,
    stream_loses_nothing_though_a_worker_dies,
    table_is_complete_though_a_worker_dies,
    workers_at_work,
)
from tests.server.test_server import query, run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Yarn]:
    if not any(JARS.glob("*.jar")):
        pytest.skip("the jars of YARN are not in parts/jars; `make parts` fetches them")
    if pyspark.__version__ < "4.2":
        pytest.skip(f"Spark {pyspark.__version__} has an older client of Hadoop than this YARN")
    folder = tmp_path_factory.mktemp("yarn")
    with yarn(folder / "cluster") as cluster, pytest.MonkeyPatch.context() as patch:
        patch.setenv("HADOOP_CONF_DIR", str(cluster.conf))
        yield cluster


@pytest.fixture(scope="module")
def executors(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Settings for executors, which have the jars of this machine's Spark: a copy for each of them takes long."""
    return {
        **SETTINGS,
        "spark.yarn.jars": f"local:{find_spark().home}/jars/*",
        "spark.yarn.stagingDir": tmp_path_factory.mktemp("staging").as_uri(),
    }


@pytest.fixture(scope="module")
def running(
    cluster: Yarn, executors: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ServerConfig]:
    config = config_on(cluster, tmp_path_factory.mktemp("driver") / "server", executors)
    try:
        with without_waiting_for_the_disk():
            assert Server(config).start().warnings == ()
        yield config
    finally:
        Server(config).stop()


def test_dbt_gives_the_rows_of_the_session(running: ServerConfig, embedded: SparkSession, tmp_path: Path) -> None:
    rows_are_the_sessions(running, embedded, tmp_path)


def test_both_nodes_take_part(running: ServerConfig, cluster: Yarn) -> None:
    assert workers_at_work(cluster, running) == {"work-0", "work-1"}
    assert Server(running).status().phase is Phase.RUNNING


def test_yarn_starts_no_container_as_large(cluster: Yarn, executors: dict[str, str], tmp_path: Path) -> None:
    config = config_on(cluster, tmp_path / "server", executors, timeout=120, conf={"spark.executor.memory": "7g"})
    with pytest.raises(ServerDied, match="YARN starts no container as large as that: take less with --conf"):
        Server(config).start()
    assert Server(config).status().phase is Phase.STOPPED


# -- Kills ----------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def hurt(running: ServerConfig, tmp_path_factory: pytest.TempPathFactory) -> DbtProject:
    return project_to_hurt(running, tmp_path_factory.mktemp("hurt"))


def test_a_table_is_complete_though_a_node_died(running: ServerConfig, cluster: Yarn, hurt: DbtProject) -> None:
    """One of the two nodes that get killed has the application's own process."""
    table_is_complete_though_a_worker_dies(running, cluster, hurt, worker=0)


def test_a_stream_loses_nothing_though_a_node_died(running: ServerConfig, cluster: Yarn, hurt: DbtProject) -> None:
    cluster.add_worker()
    stream_loses_nothing_though_a_worker_dies(running, cluster, hurt, worker=1)
    assert workers_at_work(cluster, running) == {"work-2"}


# -- No room --------------------------------------------------------------------------------------------------
def test_no_room_for_another_application(
    running: ServerConfig, cluster: Yarn, executors: dict[str, str], tmp_path: Path
) -> None:
    """The node that is left is full."""
    config = config_on(cluster, tmp_path / "server", executors, timeout=60)
    with pytest.raises(StartTimedOut, match="YARN may have no room for the application's own process"):
        Server(config).start()
    assert query(running.port, "select sum(id) from hurt.slow") == [(780,)]


def test_no_room_for_an_executor(
    running: ServerConfig, cluster: Yarn, executors: dict[str, str], tmp_path: Path
) -> None:
    """What was killed frees the node. Its application is there, and has no room for what it wants."""
    Server(running).stop()
    config = config_on(cluster, tmp_path / "server", executors, timeout=90, conf={"spark.executor.memory": "1200m"})
    with pytest.raises(StartTimedOut, match=r"YARN gave no executor within 90 seconds\n.* 1200m of memory"):
        Server(config).start()


def test_restart_asks_for_the_settings(running: ServerConfig, cluster: Yarn) -> None:
    without = {name: value for name, value in os.environ.items() if name != "HADOOP_CONF_DIR"}
    with without_waiting_for_the_disk():
        Server(running).start()
    again = run("restart", "--dir", running.folder, env=without)
    assert again.returncode == 1
    assert "HADOOP_CONF_DIR is not set" in again.stderr
    assert Server(running).status().phase is Phase.RUNNING
    assert query(running.port, "select sum(id) from hurt.slow") == [(780,)]
