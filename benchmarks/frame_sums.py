"""Cost of sums over sliding frames beside a frame from the first row, as plain frames and by `frame-sums`.

    python benchmarks/frame_sums.py [ROWS] [RUNS]

A table of ROWS rows (a million unless said) of 160 keys in a day. Prints for every question the shortest of RUNS runs
(three unless said) in seconds, and how many times that of the frame from the first row it is: Spark's own frame without
and with its segment tree, and as the optimiser writes it ("-" where it leaves it as it is). The runs of all take turns,
so that other work on the machine distorts them alike. Reads every row of the result and writes nothing.
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

KEYS = 160
TREE = "spark.sql.window.segmentTree.enabled"
FIRST = "BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"
MINUTE, LAST_20, LAST_6_HOURS = (
    f"BETWEEN INTERVAL '{n}' {unit} PRECEDING AND CURRENT ROW"
    for n, unit in ((1, "MINUTE"), (20, "MINUTE"), (6, "HOUR"))
)
QUESTIONS = {
    "SUM of INT, 1 minute": ("flink", "SUM(i) OVER w AS s", "RANGE", MINUTE),
    "SUM of INT, 20 minutes": ("flink", "SUM(i) OVER w AS s", "RANGE", LAST_20),
    "SUM of INT, 6 hours": ("flink", "SUM(i) OVER w AS s", "RANGE", LAST_6_HOURS),
    "COUNT, AVG and SUM of INT, 20 minutes": (
        "flink", "COUNT(i) OVER w AS c, AVG(i) OVER w AS a, SUM(i) OVER w AS s", "RANGE", LAST_20,
    ),
    "SUM of BIGINT, 20 minutes": ("flink", "SUM(b) OVER w AS s", "RANGE", LAST_20),
    "SUM of DECIMAL(10,2), 20 minutes": ("flink", "SUM(d) OVER w AS s", "RANGE", LAST_20),
    "SUM of DOUBLE, 20 minutes": ("flink", "SUM(f) OVER w AS s", "RANGE", LAST_20),
    "MIN of INT, 20 minutes": ("flink", "MIN(i) OVER w AS s", "RANGE", LAST_20),
    "SUM of INT, 100 rows": ("flink", "SUM(i) OVER w AS s", "ROWS", "BETWEEN 99 PRECEDING AND CURRENT ROW"),
    "SUM of INT, 2,000 rows": ("flink", "SUM(i) OVER w AS s", "ROWS", "BETWEEN 1999 PRECEDING AND CURRENT ROW"),
    "ROWS_RANGE, sum of INT, 20 minutes": (
        "openmldb", "sum(i) OVER w AS s", "ROWS_RANGE", "BETWEEN 20m PRECEDING AND CURRENT ROW",
    ),
}  # fmt: skip
"""What is asked -> dialect, calls, kind of frame, frame."""


def make_table(spark: SparkSession, rows: int) -> dict[str, str]:
    """The table `t` in memory, with random rows; gives its columns' types."""
    frame = spark.range(rows).selectExpr(
        f"CAST(floor(rand(1) * {KEYS}) AS INT) AS k",
        "timestamp_micros(1700000000000000 + CAST(floor(rand(2) * 86400000000) AS BIGINT)) AS ts",
        "CAST(floor(rand(3) * 100) AS INT) AS i",
        "CAST(floor(rand(3) * 100) AS BIGINT) AS b",
        "CAST(rand(3) * 100 AS DECIMAL(10,2)) AS d",
        "rand(4) AS f",
    )
    frame.cache().count()
    frame.createOrReplaceTempView("t")
    return dict(frame.dtypes)


def ways(question: tuple[str, str, str, str], schema: dict[str, str]) -> dict[str, tuple[str, bool]]:
    """The ways to compute a question: the SQL, and whether the segment tree is on."""
    dialect, calls, kind, frame = question

    def sql(frame: str, optimize: bool) -> str:
        text = f"SELECT k, ts, {calls} FROM t WINDOW w AS (PARTITION BY k ORDER BY ts {kind} {frame})"
        return translate(text, dialect, schema={"t": schema}, optimize=optimize)

    plain = sql(frame, False)
    found = {"first": (sql(FIRST, False), True), "plain": (plain, False), "tree": (plain, True)}
    optimised = sql(frame, True)
    return found if optimised == plain else {**found, "optimised": (optimised, True)}


def main() -> None:
    rows, runs = (int(sys.argv[i]) if len(sys.argv) > i else default for i, default in ((1, 1_000_000), (2, 3)))
    with tempfile.TemporaryDirectory() as folder:
        settings = {"spark.master": "local[2]", "spark.driver.memory": "4g", "spark.sql.shuffle.partitions": "4"}
        spark = spark_session(settings, Path(folder))
        schema = make_table(spark, rows)
        print(f"{rows:,} rows of {KEYS} keys in a day")
        print(f"{'':38}{'first':>8}{'plain':>15}{'tree':>15}{'optimised':>15}")
        for name, question in QUESTIONS.items():
            taken: dict[str, list[float]] = {}
            for _ in range(runs + 1):
                for way, (sql, tree) in ways(question, schema).items():
                    spark.conf.set(TREE, str(tree).lower())
                    start = time.perf_counter()
                    spark.sql(sql).write.format("noop").mode("overwrite").save()
                    taken.setdefault(way, []).append(time.perf_counter() - start)
            best = {way: min(found[1:]) for way, found in taken.items()}  # the first run warms up
            cells = (
                f"{best[way]:8.2f} {best[way] / best['first']:6.2f}" if way in best else f"{'-':>15}"
                for way in ("plain", "tree", "optimised")
            )
            print(f"{name:38}{best['first']:8.2f}{''.join(cells)}", flush=True)
        spark.stop()


if __name__ == "__main__":
    main()
