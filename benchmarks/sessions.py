"""Sessions with rules of their own beside plain ones, in batch.

    python -m benchmarks.sessions [--rows 2000000] [--keys 20000] [--runs 3]

Each is counted by its windows. `endless` is one session of all rows of one key, cut by its longest duration.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from dbt.adapters.sparkstream.spark.session import spark_session
from dbt.adapters.sparkstream.sql import translate

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCHEMA = {"bid": {"id": "bigint", "k": "bigint", "ts": "timestamp", "gap": "bigint", "v": "bigint"}}
COUNTS = "SELECT window_start, window_end, k, count(*) AS n FROM {} GROUP BY window_start, window_end, k"
QUERIES = {
    "Spark's session_window": "SELECT session_window(ts, '5 minutes') AS w, k, count(*) AS n FROM bid GROUP BY w, k",
    "session": COUNTS.format("session(bid PARTITION BY k, ts, '5 minutes')"),
    "Spark's session_window, own gap": (
        "SELECT session_window(ts, concat(gap, ' seconds')) AS w, k, count(*) AS n FROM bid GROUP BY w, k"
    ),
    "own gap": COUNTS.format("session(bid PARTITION BY k, ts, gap)"),
    "close_on": COUNTS.format("session(bid PARTITION BY k, ts, '5 minutes', close_on => v = 0)"),
    "max_duration": COUNTS.format("session(bid PARTITION BY k, ts, '5 minutes', max_duration => '30 minutes')"),
    "all three": COUNTS.format("session(bid PARTITION BY k, ts, gap, max_duration => '30 minutes', close_on => v = 0)"),
    "endless": COUNTS.format(
        "session((SELECT *, 1 AS one FROM bid) PARTITION BY one, ts, '1 day', max_duration => '4 hours')"
    ),
}


def make_rows(spark: SparkSession, rows: int, keys: int) -> None:
    """A view `bid` of rows over a week: bursts of rows of a key with pauses between them."""
    spark.sql(
        f"SELECT id, id % {keys} AS k, timestamp_seconds(1586937900 + (hash(id) & 2147483647) % 604800) AS ts, "
        f"60 + (hash(id, 1) & 2147483647) % 600 AS gap, (hash(id, 2) & 2147483647) % 20 AS v FROM range({rows})"
    ).write.mode("overwrite").saveAsTable("bid")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--keys", type=int, default=20_000)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        spark = spark_session({"spark.driver.memory": "3g", "spark.master": "local[2]"}, Path(folder))
        make_rows(spark, options.rows, options.keys)
        print("| query | seconds |\n|---|---|")
        for name, sql in QUERIES.items():
            query = sql if "session_window" in sql else translate(sql, schema=SCHEMA)
            taken = []
            for _ in range(options.runs + 1):  # the first one warms up
                began = time.perf_counter()
                spark.sql(query).write.format("noop").mode("overwrite").save()
                taken.append(time.perf_counter() - began)
            print(f"| {name} | {median(taken[1:]):.1f} |", flush=True)
        spark.stop()


if __name__ == "__main__":
    main()
