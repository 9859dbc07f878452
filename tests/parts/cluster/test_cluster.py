"""Delta and Kafka on a standalone cluster: dbt speaks to its driver by Thrift and Connect, and a worker gets killed."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pyspark
import pytest
import yaml

from dbt.adapters.sparkstream.server import Server, ServerConfig
from tests.integration.targets import DbtProject, SessionTarget, ThriftTarget, write
from tests.parts.delta.conftest import reason_to_skip
from tests.parts.kafka.broker import Broker
from tests.parts.kafka.conftest import JARS, broker
from tests.parts.kafka.shop import BIDS, sources
from tests.parts.parameters import DELTA, delta_parameters
from tests.server.standalone import Standalone, standalone
from tests.server.test_cluster import FILES, TABLES, config_on, folders_of_executors, killed_in_the_middle
from tests.support import without_waiting_for_the_disk

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["broker"]

START = datetime(2020, 4, 15, 8, tzinfo=timezone.utc)
RECORDS = 300
AT_ONCE = 30
"""Records of a micro-batch."""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standalone]:
    if reason := reason_to_skip(DELTA, pyspark.__version__):
        pytest.skip(reason)
    with standalone(tmp_path_factory.mktemp("cluster") / "cluster") as cluster:
        yield cluster


@pytest.fixture(scope="module")
def running(cluster: Standalone, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerConfig]:
    """The driver, with the jars of Delta and of Kafka, which executors get from it."""
    delta = delta_parameters()
    conf = {**delta, "spark.jars": ",".join([delta["spark.jars"], *JARS])}
    config = config_on(cluster, tmp_path_factory.mktemp("driver") / "server", conf=conf)
    try:
        with without_waiting_for_the_disk():
            Server(config).start()
        yield config
    finally:
        Server(config).stop()


@pytest.fixture(scope="module")
def target(running: ServerConfig) -> ThriftTarget:
    return ThriftTarget(running.port, running.connect_port)


def in_delta(files: dict[str, str]) -> dict[str, str]:
    """A project whose tables are all in Delta."""
    given = yaml.safe_load(files["dbt_project.yml"])
    given |= {kind: {"+file_format": "delta"} for kind in ("models", "seeds")}
    return {**files, "dbt_project.yml": yaml.safe_dump(given)}


def test_tables_and_streams_in_delta_are_those_in_files(
    target: ThriftTarget, embedded: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> None:
    session = SessionTarget(embedded)
    for where, files in ((session, FILES), (target, in_delta(FILES))):
        project = DbtProject(write(tmp_path_factory.mktemp(where.name), files), where, schema="shop")
        where.drop_schema("shop")
        project.dbt("build")
    for table in TABLES:
        assert target.rows(f"select * from shop.{table}") == session.rows(f"select * from shop.{table}")
    found = target.rows("select * from shop.streamed")
    assert found == session.rows("select * except (micro_batch) from shop.streamed")
    assert len(found) > 20
    # Only a table in Delta has a history.
    assert len(target.rows("select count(*) from shop.streamed version as of 1")) == 1


def test_kafka_into_delta_loses_nothing_though_a_worker_dies(
    running: ServerConfig,
    cluster: Standalone,
    target: ThriftTarget,
    broker: Broker,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    broker.create("bids", partitions=3)
    rows = [
        (number, START + timedelta(seconds=17 * number), "abc"[number % 3], number % 7) for number in range(RECORDS)
    ]
    values: list[dict[str, Any]] = [
        {"id": number, "at": at.isoformat(), "item": item, "price": price} for number, at, item, price in rows
    ]
    broker.send("bids", [(value["item"], value) for value in values])
    files = {
        "dbt_project.yml": FILES["dbt_project.yml"],
        "models/bids.sql": BIDS,
        "models/schema.yml": sources(broker, "bids", {"maxOffsetsPerTrigger": AT_ONCE}),
    }
    project = DbtProject(write(tmp_path_factory.mktemp("kafka"), in_delta(files)), target, schema="kafka")

    def third_micro_batch() -> bool:
        return any(running.folder.glob("warehouse/**/_sparkstream/bids-*/checkpoint/commits/2"))

    killed_in_the_middle(cluster, project, "bids", third_micro_batch, worker=1)
    assert folders_of_executors(running) == {"work-0"}
    until = rows[-1][1] - timedelta(minutes=10)
    windows: dict[tuple[datetime, str], list[int]] = {}
    for _, at, item, price in rows:
        start = at - timedelta(minutes=at.minute % 10, seconds=at.second)
        if start + timedelta(minutes=10) <= until:
            windows.setdefault((start, item), []).append(price)
    expected = {(f"{start:%Y-%m-%d %H:%M:%S}", item, len(all_), sum(all_)) for (start, item), all_ in windows.items()}
    found = target.rows("select window_start, item, n, total from kafka.bids")
    assert set(found) == expected and len(found) == len(expected) > 15
    assert target.rows("select sum(rows_read) > 0 and count(*) >= 10 from kafka.sparkstream_runs") == [(True,)]
