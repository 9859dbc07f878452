"""Frames of one key with most of the rows: split by time (`skewed`), beside the same that aren't.

    python -m benchmarks.hot_key [--rows 2000000] [--skew 0.9] [--runs 5]

A table of ROWS rows of 160 keys in a week, of which one key has the part SKEW. Prints for each question the median of
its runs in seconds, unsplit and split, the median of the ratios of neighbouring runs, and the same ratio by an estimate
that other work on the machine doesn't change: the time on two cores, by the processor time of tasks. Runs take turns.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import uuid
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from dbt.adapters.sparkstream.spark.session import spark_session
from dbt.adapters.sparkstream.sql import translate

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

KEYS, WEEK, CORES = 160, 7 * 86_400_000_000, 2
FRAME = "SELECT k, ts, {} FROM t WINDOW w AS (PARTITION BY k ORDER BY ts {})"
LAST = "RANGE BETWEEN INTERVAL '20' MINUTE PRECEDING AND CURRENT ROW"
QUESTIONS = {
    "RANGE of 20 minutes: average of DECIMAL, count": (
        "flink", FRAME.format("AVG(d) OVER w AS a, COUNT(*) OVER w AS n", LAST),
    ),
    "RANGE of 20 minutes: maximum, sum of DOUBLE": (
        "spark", FRAME.format("max(f) OVER w AS a, sum(f) OVER w AS s", LAST),
    ),
    "ROWS_RANGE of 20 minutes: sum of INT": (
        "openmldb", FRAME.format("sum(i) OVER w AS s", "ROWS_RANGE BETWEEN 20m PRECEDING AND CURRENT ROW"),
    ),
}  # fmt: skip
"""What is asked -> dialect, SQL."""


def make_table(spark: SparkSession, folder: Path, rows: int, skew: float) -> dict[str, str]:
    """The table `t` in parquet, with random rows; gives its columns' types."""
    spark.range(rows).selectExpr(
        f"IF(rand(1) < {skew}, 0, CAST(floor(rand(2) * {KEYS}) AS INT)) AS k",
        f"timestamp_micros(1700000000000000 + CAST(floor(rand(3) * {WEEK}) AS BIGINT)) AS ts",
        "CAST(floor(rand(4) * 100) AS INT) AS i",
        "CAST(rand(5) * 100 AS DECIMAL(10,2)) AS d",
        "rand(6) AS f",
    ).write.parquet(str(folder / "t"))
    spark.read.parquet(str(folder / "t")).createOrReplaceTempView("t")
    return dict(spark.table("t").dtypes)


def measured(spark: SparkSession, sql: str) -> tuple[float, float]:
    """Seconds that a query takes, and that its tasks would take on cores without other work."""
    group = str(uuid.uuid4())
    spark.sparkContext.setJobGroup(group, group)
    start = time.perf_counter()
    spark.sql(sql).write.format("noop").mode("overwrite").save()
    taken = time.perf_counter() - start
    time.sleep(0.5)  # until Spark has the figures of the last task
    return taken, sum(map(longest, stages(spark, group)))


def stages(spark: SparkSession, group: str) -> list[list[float]]:
    """The processor time of each task of each stage."""
    context = spark.sparkContext
    tracker, store = context.statusTracker(), context._jsc.sc().statusStore()
    jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(group)]
    found = []
    for stage in {stage for job in jobs if job for stage in job.stageIds}:
        if tracker.getStageInfo(stage) is None:  # skipped, as its rows were there
            continue
        tasks = store.taskList(stage, 0, 100_000)
        metrics = [tasks.apply(i).taskMetrics() for i in range(tasks.length())]
        found.append([m.get().executorCpuTime() / 1e9 for m in metrics if m.isDefined()])
    return found


def longest(tasks: list[float]) -> float:
    """When the last core has done its tasks, the longest tasks first."""
    cores = [0.0] * CORES
    for task in sorted(tasks, reverse=True):
        cores[cores.index(min(cores))] += task
    return max(cores)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--skew", type=float, default=0.9)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        settings = {"spark.master": f"local[{CORES}]", "spark.driver.memory": "3g", "spark.sql.shuffle.partitions": "8"}
        settings["spark.sql.window.segmentTree.enabled"] = "true"  # as the adapter sets it
        spark = spark_session(settings, Path(folder))
        schema = {"t": make_table(spark, Path(folder), options.rows, options.skew)}
        print(f"{options.rows:,} rows, {options.skew:.0%} of them of one key")
        print("| question | whole | split | times as fast | by processor time |\n|---|---|---|---|---|")
        for name, (dialect, sql) in QUESTIONS.items():
            ways = [translate(sql, dialect, schema=schema, skewed=skewed) for skewed in (False, True)]
            runs = [[measured(spark, way) for way in ways] for _ in range(options.runs + 1)][1:]  # the first warms up
            whole, split = (median(run[way][0] for run in runs) for way in (0, 1))
            wall, cores = (median(run[0][i] / run[1][i] for run in runs) for i in (0, 1))
            print(f"| {name} | {whole:.2f} | {split:.2f} | {wall:.2f} | {cores:.2f} |", flush=True)
        spark.stop()


if __name__ == "__main__":
    main()
