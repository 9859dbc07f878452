"""One embedded Spark and one local server, each started once, when the first test asks for it."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.integration.targets import SessionTarget, Target, ThriftTarget

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def _free_port() -> int:
    with socket.socket() as trial:
        trial.bind(("127.0.0.1", 0))
        return int(trial.getsockname()[1])


@pytest.fixture(scope="session")
def thrift_port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port of a local server, which is stopped whatever happens."""
    from dbt.adapters.sparkstream.server import Server, ServerConfig

    config = ServerConfig(
        folder=tmp_path_factory.mktemp("server"),
        port=_free_port(),
        connect_port=None,
        master="local[2]",
        memory="1g",
        conf={"spark.sql.shuffle.partitions": "2"},
    )
    server = Server(config)
    try:
        server.start()
        yield config.port
    finally:
        server.stop()


# All tests of a target come one after the other, as its Spark stays busy until then.
@pytest.fixture(scope="session", params=["session", "thrift"])
def target(request: pytest.FixtureRequest) -> Target:
    """Each of the two targets."""
    if request.param == "session":
        spark: SparkSession = request.getfixturevalue("embedded")
        return SessionTarget(spark)
    return ThriftTarget(request.getfixturevalue("thrift_port"))
