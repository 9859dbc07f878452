"""Gap filling of a table of windows, beside writing as many rows.

    python -m benchmarks.gapfill [--rows 1000000] [--keys 1000] [--runs 3]

A key has every tenth of its windows, so that ten times as many rows come out. Both queries write a table of Parquet:
one fills the gaps, the other copies the rows that came out.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from statistics import median

from tests.lib.macros import macros

from dbt.adapters.sparkstream.spark.session import spark_session


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--keys", type=int, default=1_000)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    fill = {"n": 0, "price": "linear", "state": "locf"}
    with tempfile.TemporaryDirectory() as folder:
        spark = spark_session({"spark.driver.memory": "3g", "spark.master": "local[2]"}, Path(folder))
        start = f"timestamp_seconds(1577836800 + id DIV {options.keys} * 6000)"
        spark.sql(
            f"SELECT id % {options.keys} AS k, {start} AS window_start, {start} + INTERVAL '10' MINUTE AS window_end, "
            f"hash(id) % 50 AS n, hash(id, 1) % 1000 / 8D AS price, concat('state', hash(id, 2) % 9) AS state "
            f"FROM range({options.rows})"
        ).write.mode("overwrite").saveAsTable("windows")
        queries = {
            "gapfill": f"SELECT * FROM {macros('spark').call('gapfill', 'windows', 'k', '10 minutes', fill=fill)}",
            "writing": "SELECT * FROM gapfill",
        }
        taken: dict[str, list[float]] = {name: [] for name in queries}
        for _ in range(options.runs + 1):  # the first one warms up
            for name, query in queries.items():
                began = time.perf_counter()
                spark.sql(query).write.mode("overwrite").saveAsTable(name)
                taken[name].append(time.perf_counter() - began)
        rows = spark.table("writing").count()
        seconds = {name: median(found[1:]) for name, found in taken.items()}
        print(f"{options.rows} windows to {rows} rows: {seconds['gapfill']:.1f} s; ", end="")
        print(f"writing these: {seconds['writing']:.1f} s; {seconds['gapfill'] / seconds['writing']:.2f} times as long")
        spark.stop()


if __name__ == "__main__":
    main()
