"""A Kafka and a Spark that can read it, each started once for the tests of this folder."""

from __future__ import annotations

import importlib.util
import itertools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pyspark
import pytest

from tests.functional.adapter.project import PARAMETERS
from tests.lib.support import embedded_spark
from tests.parts.kafka.broker import PARTS, Broker

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def _jars() -> list[str]:
    """Those of the folder whose connector to Kafka is of the Spark here; none where there is no such folder."""
    version = pyspark.__version__.rpartition(".")[0]
    for folder in (PARTS / "kafka", PARTS / "avro"):
        if any(folder.glob(f"spark-sql-kafka-*-{version}.*.jar")):
            return sorted(map(str, folder.glob("*.jar")))
    return []


JARS = _jars()
_numbers = itertools.count()


@pytest.fixture(scope="package")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    if not JARS or not any((PARTS / "broker").glob("*.jar")):
        pytest.skip("Kafka's jars for this Spark are not in parts/jars; `make parts` fetches them")
    if importlib.util.find_spec("kafka") is None:
        pytest.skip("the client kafka-python is not installed; `make parts` does it")
    broker = Broker(tmp_path_factory.mktemp("kafka"))
    yield broker
    broker.stop()


@pytest.fixture(scope="package")
def embedded(tmp_path_factory: pytest.TempPathFactory, broker: Broker) -> Iterator[SparkSession]:
    """The Spark that `method: session` makes, with Spark's connector to Kafka."""
    profile = {"server_side_parameters": {**PARAMETERS, "spark.jars": ",".join(JARS)}}
    with embedded_spark(profile, tmp_path_factory.mktemp("embedded")) as session:
        yield session


@pytest.fixture
def topic(broker: Broker) -> Callable[..., str]:
    """Makes topics, each with a name of its own: `topic(partitions=3)`."""

    def make(partitions: int = 1, **configs: object) -> str:
        name = f"topic-{next(_numbers)}"
        broker.create(name, partitions, **configs)
        return name

    return make
