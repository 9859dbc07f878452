"""Fixtures of several suites: dbt projects, a Spark and a local server, each started once when a test asks for it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest
from dbt_common.tests import enable_test_caching
from hypothesis import HealthCheck, settings

from tests.functional.adapter.project import PARAMETERS, ROOT, Project
from tests.integration.targets import SMALL_QUERIES, ClusterTarget, ConnectTarget, SessionTarget, Target, ThriftTarget
from tests.lib.support import (
    MARKS,
    QUICK_JAVA,
    TARGETS,
    embedded_spark,
    free_port,
    java_options,
    without_waiting_for_the_disk,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from xdist.remote import Producer

    from dbt.adapters.sparkstream.server import ServerConfig
    from tests.lib.scheduling import Groups


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: starts processes of its own that take long; left out of `make test`")
    config.addinivalue_line("markers", "long: takes ten seconds and more; in `make test-long`, and not in `make test`")
    config.addinivalue_line("markers", "full: the same as another test, on far more; left out of `make test`")
    # dbt's own, for tests: each of the seven hundred macros of a project is parsed once in a process.
    enable_test_caching()
    # A machine with more to do than this is slow at times, and no example is wrong for that.
    settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("patient")
    config.addinivalue_line("markers", "spark: uses the Spark of this process; left out of `make unit`")


@pytest.fixture(scope="session", autouse=True)
def _quick_java() -> Iterator[None]:
    """Every Java that tests start, also in processes of their own."""
    with java_options(QUICK_JAVA):
        yield


@pytest.fixture(autouse=True)
def _no_loggers_of_earlier_tests() -> Iterator[None]:
    """dbt's loggers go with the test that has run it: pytest closes the streams that they write to."""
    yield
    if dbt_events := sys.modules.get("dbt_common.events.event_manager_client"):
        dbt_events.cleanup_event_logger()


PROCESSES = ("browser", "docs", "functional", "integration", "kill", "server")
"""Folders with tests that start processes, or wait for them."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks each test that asks for the embedded Spark, and has a test of processes that fails run once more.

    Other work of the machine may starve a process. A test that passes then is counted as a rerun at the end.
    """
    for item in items:
        if item.path.relative_to(ROOT / "tests").parts[0] in PROCESSES:
            item.add_marker(pytest.mark.flaky(reruns=1))
        if "embedded" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.spark)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Groups:
    from tests.lib.scheduling import Groups

    return Groups(config, log)


@pytest.fixture(scope="session")
def profile() -> dict[str, Any]:
    """Keys of a project's profile for its Spark; folders of tests with another Spark have their own."""
    return {"server_side_parameters": PARAMETERS}


@pytest.fixture(scope="session")
def embedded(profile: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """The Spark that `method: session` makes, in a folder of its own, as long as the tests run."""
    with embedded_spark(profile, tmp_path_factory.mktemp("embedded")) as session:
        yield session


@pytest.fixture(scope="module")
def make_project(
    embedded: SparkSession, profile: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[..., Project]]:
    """Makes dbt projects: `make_project({"models/a.sql": "select 1 as x"}, type="spark", ...)`."""

    def make(files: dict[str, str], **target: Any) -> Project:
        return Project(tmp_path_factory.mktemp("shop"), embedded, files, {**profile, **target})

    yield make
    embedded.conf.unset("spark.sql.session.timeZone")  # a project may have set it


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerConfig]:
    """A local server, which is stopped whatever happens."""
    from dbt.adapters.sparkstream.server import Server, ServerConfig

    config = ServerConfig(
        folder=tmp_path_factory.mktemp("server"),
        port=free_port(),
        connect_port=free_port(),
        master="local[2]",
        memory="1g",
        conf=SMALL_QUERIES,
    )
    server = Server(config)
    try:
        with without_waiting_for_the_disk():
            server.start()
        yield config
    finally:
        server.stop()


@pytest.fixture(scope="session")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerConfig]:
    """A server on a cluster of two workers."""
    from dbt.adapters.sparkstream.server import Server, ServerConfig
    from tests.server.standalone import EXECUTORS, standalone

    folder = tmp_path_factory.mktemp("cluster")
    with standalone(folder / "cluster") as cluster:
        config = ServerConfig(
            folder=folder / "server",
            port=free_port(),
            connect_port=free_port(),
            master=cluster.master,
            memory="1g",
            conf={**SMALL_QUERIES, **EXECUTORS},
            timeout=400,
        )
        try:
            with without_waiting_for_the_disk():
                Server(config).start()
            yield config
        finally:
            Server(config).stop()


_SERVERS = {
    "thrift": ("server", ThriftTarget),
    "connect": ("server", ConnectTarget),
    "cluster": ("driver", ClusterTarget),
}


# All tests of a target come one after the other, as its Spark stays busy until then.
@pytest.fixture(scope="session", params=[pytest.param(name, marks=MARKS[name]) for name in TARGETS])
def target(request: pytest.FixtureRequest) -> Target:
    """Each of the targets."""
    if request.param == "session":
        spark: SparkSession = request.getfixturevalue("embedded")
        return SessionTarget(spark)
    fixture, kind = _SERVERS[request.param]
    config: ServerConfig = request.getfixturevalue(fixture)
    return kind(config.port, config.connect_port)
