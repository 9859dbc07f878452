"""Topics as source and sink on a server with Kafka's connector: one on this machine, and the driver of a cluster."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.integration.targets import SMALL_QUERIES, DbtProject, ThriftTarget, write
from tests.lib.support import free_port, without_waiting_for_the_disk
from tests.parts.kafka.broker import Broker
from tests.parts.kafka.conftest import JARS
from tests.parts.kafka.shop import BIDS, ROWS, bid, sources
from tests.parts.kafka.test_sink import WINDOWS, model
from tests.server.standalone import EXECUTORS, standalone
from tests.server.test_server import SMALL, run

PROJECT = "name: shop\nversion: '1.0'\nprofile: shop\nflags: {send_anonymous_usage_stats: false}\n"


@contextmanager
def server(folder: Path, options: Sequence[str]) -> Iterator[ThriftTarget]:
    """A server with Kafka's connector, and the way to it."""
    ports = [free_port(), free_port()]
    conf = {**SMALL_QUERIES, "spark.sql.session.timeZone": "UTC"}
    words = [word for name, value in conf.items() for word in ("--conf", f"{name}={value}")]
    where = ("--port", str(ports[0]), "--connect-port", str(ports[1]), "--jars", ",".join(JARS))
    try:
        with without_waiting_for_the_disk():
            begun = run("start", "--dir", folder, *where, *words, *options)
        assert begun.returncode == 0, begun.stderr
        yield ThriftTarget(*ports)
    finally:
        run("stop", "--dir", folder)


def check(target: ThriftTarget, folder: Path, broker: Broker, topic: Callable[..., str]) -> None:
    """Two runs: windows of the times in the values, in a table and in a topic; and each record once."""
    bids, closed = topic(partitions=2), topic()
    select = ["*", "kafka_partition AS place", "kafka_offset AS at_offset"]
    files = {
        "dbt_project.yml": PROJECT,
        "models/closed.sql": model(WINDOWS, broker, closed, key="item").replace("sink=", "late_rows='keep', sink="),
        "models/bids.sql": BIDS,
        "models/rows.sql": ROWS,
        "models/schema.yml": sources(broker, bids, {"maxOffsetsPerTrigger": 3}, select=select),
    }
    shop = DbtProject(write(folder, files), target, schema="shop")

    def message(name: str) -> str:
        return {result.node.name: result.message for result in shop.dbt("run").results}[name]

    def sent() -> list[tuple[str, str, int, int]]:
        rows = [json.loads(value) for _, value, _ in broker.read(closed)]
        return sorted((row["window_start"][11:16], row["item"], row["n"], row["total"]) for row in rows)

    first: list[Any] = [
        bid(1, "08:01", "a", 4),
        bid(2, "08:02", "b", 2),
        b"broken",
        bid(3, "08:08", "a"),
        bid(4, "08:11"),
    ]
    broker.send(bids, [(None, value) for value in first], partition=0)
    assert "1 unreadable row" in message("rows")
    windows = [("08:00", "a", 2, 5), ("08:00", "b", 1, 2)]
    windows_of = "select date_format(window_start, 'HH:mm') as at, item, n, total from shop.{}"
    assert target.rows(windows_of.format("closed")) == sent() == windows
    assert target.rows(windows_of.format("bids")) == []
    assert target.rows("select cast(value as string) as v from shop.rows__unreadable") == [("broken",)]

    broker.send(bids, [(None, bid(5, "08:12", "a", 7)), (None, bid(6, "08:31", "c"))], partition=1)
    broker.send(bids, [(None, bid(7, "08:09", "b"))], partition=0)
    shop.dbt("run")
    windows.append(("08:10", "a", 2, 8))
    assert target.rows(windows_of.format("closed")) == sent() == windows
    rows = target.rows("select id, place, at_offset from shop.rows")
    assert rows == [(1, 0, 0), (2, 0, 1), (3, 0, 3), (4, 0, 4), (5, 1, 0), (6, 1, 1), (7, 0, 5)]
    windows[1] = ("08:00", "b", 2, 3)  # ten minutes later, so 08:09 isn't late
    assert target.rows(windows_of.format("bids")) == windows
    assert target.rows("select id from shop.closed__late") == [(7,)]
    assert "nothing new" in message("closed")


def test_on_a_server(tmp_path: Path, broker: Broker, topic: Callable[..., str]) -> None:
    with server(tmp_path / "server", SMALL) as target:
        check(target, tmp_path / "shop", broker, topic)


@pytest.mark.slow
def test_before_a_cluster(tmp_path: Path, broker: Broker, topic: Callable[..., str]) -> None:
    conf = [word for name, value in EXECUTORS.items() for word in ("--conf", f"{name}={value}")]
    with (
        standalone(tmp_path / "cluster") as cluster,
        server(
            tmp_path / "server", ("--master", cluster.master, "--memory", "1g", "--timeout", "300", *conf)
        ) as target,
    ):
        check(target, tmp_path / "shop", broker, topic)
