"""Cost of a table with many partitions to a run of a streaming model: its files listed, a new partition written.

.venv/bin/python -m benchmarks.listing [--partitions 200 --partitions 500] [--runs 3]

Prints medians of seconds of processor time. Seconds on the clock would tell more of neighbours on the machine.
"""

from __future__ import annotations

import shutil
import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from benchmarks.counters import Counters

from dbt.adapters.sparkstream.spark.session import spark_session
from dbt.adapters.sparkstream.streaming.spark.engine import SETTINGS, Engine
from dbt.adapters.sparkstream.streaming.worker.sink import overwrite

TASKS = "spark.sql.sources.parallelPartitionDiscovery.parallelism"


class Table:
    """A table with a partition for each micro-batch."""

    def __init__(self, spark: Any, folder: Path) -> None:
        self._spark = spark
        self._folder = folder
        self._batch = -1
        spark.sql("CREATE TABLE t (x BIGINT, micro_batch BIGINT) USING parquet PARTITIONED BY (micro_batch)")

    def write(self) -> None:
        """Writes the next micro-batch, as a sink does."""
        self._batch += 1
        rows = self._spark.range(0, 5, 1, 1).selectExpr("id AS x", f"CAST({self._batch} AS BIGINT) AS micro_batch")
        overwrite(rows, "t")

    def age(self, partitions: int) -> None:
        """Gives it partitions of earlier micro-batches."""
        [first] = self._folder.rglob("warehouse/t/micro_batch=0")
        for number in range(1, partitions):
            earlier = first.with_name(f"micro_batch=-{number}")
            if not earlier.exists():
                shutil.copytree(first, earlier)
        self._spark.sql("ALTER TABLE t RECOVER PARTITIONS")

    def files(self, tasks: str | None, is_new: bool = False, scheme: str = "") -> None:
        """Lists its files, as a run does: without a job where `scheme` says that they are on a disk."""
        if tasks is None:
            self._spark.conf.unset(TASKS)
        else:
            self._spark.conf.set(TASKS, tasks)
        self._spark.sql("REFRESH TABLE t")
        with Engine(self._spark).listing(f"{scheme}{self._folder}"):
            rows = self._spark.table("t")
            (rows.where(f"micro_batch >= {self._batch}") if is_new else rows).inputFiles()


@click.command(help=__doc__)
@click.option("--partitions", multiple=True, type=int, default=(200, 500), show_default=True)
@click.option("--runs", default=3, show_default=True)
def main(partitions: tuple[int, ...], runs: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        spark = spark_session({"spark.driver.memory": "2g", "spark.master": "local[2]"}, folder)
        counters, table = Counters(spark), Table(spark, folder)

        def show(what: str, act: Callable[[], None]) -> None:
            taken = []
            for _ in range(runs):
                before = counters.now()
                act()
                taken.append((counters.now() - before).processor)
            click.echo(f"{what:45} {statistics.median(taken):5.2f}  of {', '.join(f'{s:.2f}' for s in sorted(taken))}")

        for _ in range(3):  # warms up
            table.write()
        show("a new partition, of few", table.write)
        for many in partitions:
            table.age(many)
            show(f"a new partition, of {many}", table.write)
            show(f"all files of {many}, a task for each", lambda: table.files(None))
            show(f"all files of {many}, in a store", lambda: table.files(SETTINGS[TASKS]))
            show(f"all files of {many}, on a disk", lambda: table.files(SETTINGS[TASKS], scheme="file:"))
            show(f"new files of {many}", lambda: table.files(SETTINGS[TASKS], is_new=True))
        spark.stop()


if __name__ == "__main__":
    main()
