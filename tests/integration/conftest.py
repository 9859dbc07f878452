"""One embedded Spark and one local server, each started once, when the first test asks for it."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from tests.integration.targets import SMALL_QUERIES, SessionTarget, Target, ThriftTarget

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from dbt.adapters.sparkstream.server import ServerConfig


def _free_port() -> int:
    with socket.socket() as trial:
        trial.bind(("127.0.0.1", 0))
        return int(trial.getsockname()[1])


@contextmanager
def _quick_java() -> Iterator[None]:
    """Java that is started here compiles in one step: these runs end before the second one would pay."""
    before = os.environ.get("JAVA_TOOL_OPTIONS")
    os.environ["JAVA_TOOL_OPTIONS"] = f"{before or ''} -XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m".strip()
    try:
        yield
    finally:
        if before is None:
            del os.environ["JAVA_TOOL_OPTIONS"]
        else:
            os.environ["JAVA_TOOL_OPTIONS"] = before


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerConfig]:
    """A local server, which is stopped whatever happens."""
    from dbt.adapters.sparkstream.server import Server, ServerConfig

    config = ServerConfig(
        folder=tmp_path_factory.mktemp("server"),
        port=_free_port(),
        connect_port=_free_port(),
        master="local[2]",
        memory="1g",
        conf=SMALL_QUERIES,
    )
    server = Server(config)
    try:
        with _quick_java():
            server.start()
        yield config
    finally:
        server.stop()


# All tests of a target come one after the other, as its Spark stays busy until then.
@pytest.fixture(scope="session", params=["session", "thrift"])
def target(request: pytest.FixtureRequest) -> Target:
    """Each of the two targets."""
    if request.param == "session":
        with _quick_java():
            spark: SparkSession = request.getfixturevalue("embedded")
        return SessionTarget(spark)
    config: ServerConfig = request.getfixturevalue("server")
    return ThriftTarget(config.port, config.connect_port)
