"""Cost of the frames of docs/frames.md on Spark, beside a frame that Spark has itself.

    python benchmarks/frames.py [ROWS]

A table of trades (500,000 rows unless said, 500 keys, about two rows for every second and key) and one of quotes, a
fifth as many rows. Prints for every frame the shortest of three runs in seconds, and how many times the first one that
is. Reads every row of the result and writes nothing.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from dbt.adapters.sparkstream.spark.session import spark_session
from dbt.adapters.sparkstream.sql import translate

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

KEYS = 500
RUNS = 3
SPEC = "PARTITION BY sym ORDER BY ts"
BASE = "ROWS"
FRAMES = {
    BASE: ("sum(qty)", f"{SPEC} ROWS BETWEEN 99 PRECEDING AND CURRENT ROW"),
    "Spark's RANGE 60 s": ("sum(qty)", f"{SPEC} RANGE BETWEEN INTERVAL '60' SECOND PRECEDING AND CURRENT ROW"),
    "ROWS_RANGE": ("sum(qty)", f"{SPEC} ROWS_RANGE BETWEEN 60s PRECEDING AND CURRENT ROW"),
    "offset": ("sum(qty)", f"{SPEC} ROWS_RANGE BETWEEN 60s PRECEDING AND 10s PRECEDING"),
    "open": ("sum(qty)", f"{SPEC} ROWS_RANGE BETWEEN 60s OPEN PRECEDING AND 0s OPEN PRECEDING"),
    "unbounded": ("sum(qty)", f"{SPEC} ROWS_RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"),
    "EXCLUDE CURRENT_ROW": ("sum(qty)", f"{SPEC} ROWS_RANGE BETWEEN 60s PRECEDING AND CURRENT ROW EXCLUDE CURRENT_ROW"),
    "EXCLUDE CURRENT_TIME": (
        "sum(qty)",
        f"{SPEC} ROWS_RANGE BETWEEN 60s PRECEDING AND CURRENT ROW EXCLUDE CURRENT_TIME",
    ),
    "MAXSIZE 50": ("sum(qty)", f"{SPEC} ROWS_RANGE BETWEEN 60s PRECEDING AND CURRENT ROW MAXSIZE 50"),
    "UNION": ("sum(qty)", f"UNION quotes {SPEC} ROWS_RANGE BETWEEN 60s PRECEDING AND CURRENT ROW"),
    "INSTANCE_NOT_IN_WINDOW": (
        "sum(qty)",
        f"UNION quotes {SPEC} ROWS_RANGE BETWEEN 60s PRECEDING AND CURRENT ROW INSTANCE_NOT_IN_WINDOW",
    ),
    "distinct_count, ROWS_RANGE": ("distinct_count(qty)", f"{SPEC} ROWS_RANGE BETWEEN 60s PRECEDING AND CURRENT ROW"),
    "top(qty, 3), ROWS_RANGE": ("top(qty, 3)", f"{SPEC} ROWS_RANGE BETWEEN 60s PRECEDING AND CURRENT ROW"),
}
"""Name -> call, window; those named after Spark are Spark SQL as it is, the others OpenMLDB's."""


def make_table(spark: SparkSession, name: str, rows: int, seed: int) -> dict[str, str]:
    """A table in memory with random rows; gives its columns' types."""
    seconds = max(1, rows // KEYS // 2)
    frame = spark.range(rows).selectExpr(
        f"'s' || CAST(floor(rand({seed}) * {KEYS}) AS INT) AS sym",
        f"timestamp_seconds(1700000000 + CAST(floor(rand({seed + 1}) * {seconds}) AS INT)) AS ts",
        f"CAST(floor(rand({seed + 2}) * 100) AS INT) AS qty",
    )
    frame.cache().count()
    frame.createOrReplaceTempView(name)
    return dict(frame.dtypes)


def seconds(spark: SparkSession, sql: str) -> float:
    """The shortest of some runs of a query."""
    found = []
    for _ in range(RUNS):
        start = time.perf_counter()
        spark.sql(sql).write.format("noop").mode("overwrite").save()
        found.append(time.perf_counter() - start)
    return min(found)


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 500_000
    with tempfile.TemporaryDirectory() as folder:
        settings = {"spark.master": "local[2]", "spark.driver.memory": "3g", "spark.sql.shuffle.partitions": "4"}
        spark = spark_session(settings, Path(folder))
        schema = {"trades": make_table(spark, "trades", rows, 1), "quotes": make_table(spark, "quotes", rows // 5, 4)}
        base = 0.0
        seconds(spark, f"SELECT {FRAMES[BASE][0]} OVER w AS y FROM trades WINDOW w AS ({FRAMES[BASE][1]})")  # warms up
        print(f"{rows:,} rows of trades, {rows // 5:,} of quotes")
        for name, (call, window) in FRAMES.items():
            sql = f"SELECT sym, ts, {call} OVER w AS y FROM trades WINDOW w AS ({window})"
            text = sql if name.startswith("Spark's") else translate(sql, "openmldb", schema=schema)
            taken = seconds(spark, text)
            base = base or taken
            print(f"{name:28} {taken:6.2f} s  {taken / base:5.1f}", flush=True)
        spark.stop()


if __name__ == "__main__":
    main()
