"""Comet at work: the operators of the plans that our SQL gets, the same rows with it and without, dbt, and a server."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

from dbt.adapters.sparkstream.sql import translate
from tests.functional.adapter.project import Project, with_package
from tests.functional.streaming.feed import Feed
from tests.functional.streaming.test_once import HOP, TUMBLE
from tests.lib.support import free_port
from tests.parts.comet.conftest import COMET

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

TYPES = {"k": "int", "v": "int", "price": "decimal(14,4)"}
SCHEMA = {"bids": {"ts": "timestamp", **TYPES}, "bids_ntz": {"ts": "timestamp_ntz", **TYPES}}
AGGREGATES = "k, COUNT(*) AS n, SUM(v) AS s, MIN(v) AS low, MAX(price) AS high"
WINDOWS = {
    "tumble": "TUMBLE(TABLE {}, DESCRIPTOR(ts), INTERVAL '1' MINUTE)",
    "hop": "HOP(TABLE {}, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '5' MINUTE)",
    "cumulate": "CUMULATE(TABLE {}, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '5' MINUTE)",
    "session": "SESSION(TABLE {} PARTITION BY k, DESCRIPTOR(ts), INTERVAL '20' SECOND)",
}
GROUPED = "SELECT window_start, window_end, {} FROM TABLE({}) GROUP BY window_start, window_end, k"
LAST = "RANGE BETWEEN INTERVAL '2' MINUTE PRECEDING AND CURRENT ROW"
OVER = (
    "SELECT ts, k, v, SUM(v) OVER w AS s, MAX(price) OVER w AS high FROM {} WINDOW w AS (PARTITION BY k ORDER BY ts {})"
)
SCAN, GROUP, EXCHANGE, WINDOW = "CometNativeScan", "CometHashAggregate", "CometExchange", "CometWindowExec"
QUERIES = {
    **{
        f"{name} {table}": (GROUPED.format(AGGREGATES, window.format(table)), {SCAN, EXCHANGE})
        for name, window in WINDOWS.items()
        for table in SCHEMA
    },
    "all of a tumble": (GROUPED.format(AGGREGATES, WINDOWS["tumble"].format("bids_ntz")), {SCAN, GROUP, EXCHANGE}),
    "a sum of slices": (GROUPED.format(AGGREGATES, WINDOWS["session"].format("bids")), {SCAN, GROUP, EXCHANGE, WINDOW}),
    "range": (OVER.format("bids", LAST), {SCAN, EXCHANGE, "CometSort"}),
    "rows": (OVER.format("bids", "ROWS BETWEEN 100 PRECEDING AND CURRENT ROW"), {SCAN, EXCHANGE, WINDOW}),
    "running": (OVER.format("bids_ntz", ""), {SCAN, EXCHANGE, WINDOW}),
}
NONE_OF_SPARK = ("all of a tumble", "rows", "running")
"""Queries whose plans have operators of Comet alone."""


@pytest.fixture(scope="module")
def bids(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A session with 20,000 rows in Parquet, of both types of time; no two of a key have the same one."""
    folder = tmp_path_factory.mktemp("bids")
    spark.sql(
        """SELECT timestamp_millis(1700000000000 + id * 217 + pmod(hash(id), 200)) AS ts,
             CAST(pmod(hash(id, 1), 30) AS INT) AS k, CAST(pmod(hash(id, 2), 1000) AS INT) AS v,
             CAST(pmod(hash(id, 3), 1000000) / 7 AS DECIMAL(14, 4)) AS price
           FROM range(0, 20000, 1, 4)"""
    ).write.parquet(f"{folder}/bids")
    spark.read.parquet(f"{folder}/bids").createOrReplaceTempView("bids")
    ntz = spark.sql("SELECT CAST(ts AS TIMESTAMP_NTZ) AS ts, k, v, price FROM bids")
    ntz.write.parquet(f"{folder}/ntz")
    spark.read.parquet(f"{folder}/ntz").createOrReplaceTempView("bids_ntz")
    yield spark
    for name in SCHEMA:
        spark.catalog.dropTempView(name)


def operators(spark: SparkSession, sql: str) -> list[str]:
    """The names of a plan's operators."""
    plan = spark.sql(sql)._jdf.queryExecution().executedPlan().toString()
    return re.findall(r"(?m)^[\s:+*()\d-]*([A-Z]\w+)", plan)


@pytest.mark.parametrize("name", QUERIES)
def test_comet_runs_and_gives_the_rows_of_spark(bids: SparkSession, name: str) -> None:
    sql, expected = QUERIES[name]
    ours = translate(sql, "flink", schema=SCHEMA)
    found = operators(bids, ours)
    assert expected <= {*found}
    if name in NONE_OF_SPARK:
        assert [one for one in found if not one.startswith("Comet")] == []
    rows = Counter(bids.sql(ours).collect())
    bids.conf.set("spark.comet.enabled", "false")
    try:
        assert not [one for one in operators(bids, ours) if one.startswith("Comet")]
        assert Counter(bids.sql(ours).collect()) == rows
    finally:
        bids.conf.unset("spark.comet.enabled")


def test_rows_that_are_in_no_file(spark: SparkSession) -> None:
    """The recorded cases and the random tables have such rows."""
    sql = "SELECT k, sum(v) FROM VALUES (1, 2), (1, 3) AS t(k, v) WHERE rand() < 2 GROUP BY k"
    assert GROUP in operators(spark, sql)


SHOP = {
    "models/bids.sql": """{{ config(materialized='table', file_format='parquet') }}
select timestamp_seconds(1700000000 + id * 7) as ts, cast(id % 3 as int) as k, cast(id as int) as v from range(100)""",
    "models/minutes.sql": """{{ config(materialized='table', file_format='parquet') }}
select window_start, window_end, k, count(*) as n, sum(v) as v
from {{ sparkstream.tumble(ref('bids'), 'ts', '1 minute') }} group by all""",
}


def test_a_project(make_project: Callable[..., Project], embedded: SparkSession) -> None:
    project = make_project(with_package(SHOP))
    project.dbt("deps")
    project.dbt("build")
    assert embedded.sql(f"SELECT sum(n), sum(v) FROM {project.schema}.minutes").collect() == [(100, 4950)]


@pytest.mark.parametrize("sql", [TUMBLE, HOP], ids=["tumble", "hop_of_slices"])
def test_a_stream(feed: Feed, sql: str) -> None:
    """A stream keeps its state in Spark; its windows are those of a query on the table."""
    feed.add("bid", [(1, 1005, "a", 1), (2, 1060, "a", 1)])
    feed.run(sql)
    feed.add("bid", [(3, 1061, "b", 2), (4, 1101, "b", 2)])
    feed.run(sql)
    closed = feed.batch(sql, "window_end <= timestamp_seconds(1091)")
    assert closed and feed.table() == closed


def test_a_server(embedded: SparkSession, tmp_path: Path) -> None:
    """A server with SQL and Spark Connect has Comet in both, and beside the plug-in that is its own."""
    from pyhive import hive

    from dbt.adapters.sparkstream.server import Server, ServerConfig

    config = ServerConfig(
        folder=tmp_path / "server",
        port=free_port(),
        connect_port=free_port(),
        master="local[2]",
        memory="1g",
        conf={name: value for name, value in COMET.items() if name not in ("spark.master", "spark.driver.memory")},
        accelerator="comet",
    )
    server = Server(config)
    try:
        server.start()
        with hive.connect("127.0.0.1", config.port, auth="NOSASL").cursor() as cursor:
            cursor.execute("EXPLAIN SELECT k, sum(v) FROM VALUES (1, 2) AS t(k, v) WHERE rand() < 2 GROUP BY k")
            assert GROUP in str(cursor.fetchall())
            cursor.execute("SELECT k, sum(v) FROM VALUES (1, 2), (1, 3) AS t(k, v) WHERE rand() < 2 GROUP BY k")
            assert cursor.fetchall() == [(1, 5)]
    finally:
        server.stop()
