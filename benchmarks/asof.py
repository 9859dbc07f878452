"""What `asof_join` costs beside sorting both sides, Spark's own ASOF JOIN, a range join and DuckDB.

    python -m benchmarks.asof [ROWS]

Trades and quotes with ROWS rows each (2,000,000 unless said) and 100 keys, in memory. A second pair has 90 % of its
rows in one key, a third one quote for every 10,000 trades. The range join and Spark's own ASOF JOIN compare each trade
with all quotes of its key, so they run on a twentieth of the rows, and `asof_join` on as many. Prints the shortest and
the longest of five interleaved runs in seconds, and how many times the first line of its group the shortest is. Reads
every row of the result and writes nothing.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
from tests.macros import macros

from dbt.adapters.sparkstream.session import spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RUNS = 5
KEYS = 100
START = 1_700_000_000
OWN = "spark.sql.join.asofJoin.enabled"

Work = Callable[[], object]


def make_table(spark: SparkSession, name: str, rows: int, seconds: int, *, hot: bool, value: str, seed: int) -> None:
    """A table in memory: key, time and value; `hot` gives nine rows of ten to one key."""
    key = f"CAST(floor(rand({seed}) * {KEYS}) AS INT)"
    chosen = f"if(rand({seed + 1}) < 0.9, 0, {key})" if hot else key
    frame = spark.range(rows).selectExpr(
        f"{chosen} AS sym",
        f"timestamp_millis({START}000 + CAST(floor(rand({seed + 2}) * {seconds}000) AS BIGINT)) AS ts",
        f"rand({seed + 3}) AS {value}",
    )
    frame.cache().count()
    frame.createOrReplaceTempView(name)


def make_pair(spark: SparkSession, name: str, left: int, right: int, *, hot: bool = False) -> None:
    seconds = max(60, left // KEYS)
    make_table(spark, f"{name}_trades", left, seconds, hot=hot, value="px", seed=1)
    make_table(spark, f"{name}_quotes", right, seconds, hot=hot, value="bid", seed=5)


def read(spark: SparkSession, sql: str) -> Work:
    return lambda: spark.sql(sql).write.format("noop").mode("overwrite").save()


def sorted_sides(spark: SparkSession, name: str) -> Work:
    """What any join by sorting has to do: both sides, exchanged by key and sorted by key and time."""

    def work() -> None:
        for table in (f"{name}_trades", f"{name}_quotes"):
            frame = spark.table(table).repartition("sym").sortWithinPartitions("sym", "ts")
            frame.write.format("noop").mode("overwrite").save()

    return work


def asof(spark: SparkSession, name: str) -> Work:
    sides = f"{name}_trades", f"{name}_quotes"
    columns = {"bid": "bid", "ts": "bid_ts"}
    call = macros().call("asof_join", *sides, on="sym", left_time="ts", right_time="ts", columns=columns)
    return read(spark, f"SELECT * FROM {call}")


def own(spark: SparkSession, name: str) -> Work:
    return read(
        spark,
        f"SELECT l.*, r.bid, r.ts AS bid_ts FROM {name}_trades l LEFT ASOF JOIN {name}_quotes r "
        "MATCH_CONDITION (l.ts >= r.ts) ON l.sym = r.sym",
    )


def range_join(spark: SparkSession, name: str) -> Work:
    numbered = f"SELECT *, monotonically_increasing_id() AS id FROM {name}_trades"
    return read(
        spark,
        f"SELECT l.id, max_by(r.bid, r.ts) AS bid FROM ({numbered}) l LEFT JOIN {name}_quotes r "
        "ON l.sym = r.sym AND r.ts <= l.ts GROUP BY l.id",
    )


def in_duckdb(spark: SparkSession, name: str) -> Work:
    connection = duckdb.connect(config={"threads": 2})
    for table in (f"{name}_trades", f"{name}_quotes"):
        arrow = spark.table(table).toArrow()
        connection.register("arrow", arrow)
        connection.execute(f"CREATE TABLE {table} AS SELECT * FROM arrow")
        connection.unregister("arrow")
    sql = (
        f"SELECT l.*, r.bid, r.ts AS bid_ts FROM {name}_trades l ASOF LEFT JOIN {name}_quotes r "
        "ON l.sym = r.sym AND l.ts >= r.ts"
    )
    return lambda: connection.execute(f"CREATE OR REPLACE TEMP TABLE result AS {sql}")


def measure(title: str, works: dict[str, Work]) -> None:
    """Runs all works in turn, several times, after once for warming up."""
    for work in works.values():
        work()
    taken: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(RUNS):
        for name, work in works.items():
            start = time.perf_counter()
            work()
            taken[name].append(time.perf_counter() - start)
    base = min(next(iter(taken.values())))
    print(title)
    for name, seconds in taken.items():
        print(f"  {name:24} {min(seconds):7.2f} s  to {max(seconds):6.2f} s  {min(seconds) / base:6.2f}", flush=True)


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000_000
    settings = {"spark.master": "local[2]", "spark.driver.memory": "4g", "spark.sql.shuffle.partitions": "4"}
    with tempfile.TemporaryDirectory() as folder:
        spark = spark_session(settings, Path(folder))
        spark.conf.set(OWN, "true")
        few = rows // 20
        for name, title, right, hot in (
            ("even", f"{rows:,} trades, {rows:,} quotes, {KEYS} keys", rows, False),
            ("hot", "the same, 90 % of the rows in one key", rows, True),
            ("sparse", f"{rows:,} trades, {rows // 10_000:,} quotes", rows // 10_000, False),
        ):
            make_pair(spark, name, rows, right, hot=hot)
            works = {
                "sorting both sides": sorted_sides(spark, name),
                "asof_join": asof(spark, name),
                "DuckDB": in_duckdb(spark, name),
            }
            measure(title, works)
            spark.catalog.clearCache()
        make_pair(spark, "few", few, few)
        works = {"asof_join": asof(spark, "few"), "range join": range_join(spark, "few")}
        if spark.version >= "4.3":
            works["Spark's ASOF JOIN"] = own(spark, "few")
        measure(f"{few:,} trades, {few:,} quotes, {KEYS} keys", works)
        spark.stop()


if __name__ == "__main__":
    main()
