"""A streaming model that is left running, with a small file for each micro-batch: does it get slower, or larger?

.venv/bin/python -m benchmarks.soak [--batches 2000] [--window hop] [--every 200]

A file of 100 rows, a row a second, comes when the micro-batch that has read the one before is reported. Prints memory
while the model runs: what Java's heap holds after a full garbage collection, and what the processes of Java and Python
have of the machine's. Then, of so many micro-batches each: seconds that half of them, and 99 of 100, took at most, as
Spark reports them.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from benchmarks.streaming import ROWS_OF_FILE, WINDOWS, Question, add_rows, config_of, noted_of, run_of

from dbt.adapters.sparkstream.spark.session import spark_session
from dbt.adapters.sparkstream.sql.core.interval import Interval

MB = 1024 * 1024


class Feeder:
    """Writes a file for each micro-batch that has read one, in a thread of its own.

    Args:
        spark: the Spark.
        files: how many.
    """

    def __init__(self, spark: Any, files: int) -> None:
        self._spark = spark
        self._left = files
        self._due = threading.Semaphore(1)
        self._thread = threading.Thread(target=self._write, daemon=True)
        self._thread.start()

    def told(self, line: str) -> None:
        """Hears what a run reports."""
        if f" {ROWS_OF_FILE} rows " in line:
            self._due.release()

    @property
    def is_done(self) -> bool:
        return not self._thread.is_alive()

    def _write(self) -> None:
        for number in range(self._left):
            self._due.acquire()
            add_rows(self._spark, number)


@click.command(help=__doc__)
@click.option("--batches", default=2000, show_default=True, help="Micro-batches, half of which read a file.")
@click.option("--window", type=click.Choice(list(WINDOWS)), default="tumble", show_default=True)
@click.option("--every", default=200, show_default=True, help="Micro-batches for each line that is printed.")
def main(batches: int, window: str, every: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        spark = spark_session({"spark.driver.memory": "2g", "spark.master": "local[2]"}, Path(name))
        spark.sql("CREATE SCHEMA bench")
        spark.sql("CREATE TABLE bench.bid (ts TIMESTAMP, k STRING, v BIGINT) USING parquet")
        feeder, memory, seen = Feeder(spark, batches // 2), Memory(spark), 0

        def report(line: str) -> None:
            nonlocal seen
            feeder.told(line)
            seen += line.startswith("micro-batch ")
            if seen % every == 0 and line.startswith("micro-batch "):
                click.echo(f"{seen:6} micro-batches: {memory.now()}")

        question = Question(window, 1)
        config = config_of(question, interval=Interval.parse("100 milliseconds"))
        run = run_of(
            spark, question, "model", config, True, report=report, stopping=lambda: feeder.is_done and seen >= batches
        )
        run(lambda: None)
        took = [row[0] / 1000 for row in noted_of(spark, "model").orderBy("batch").select("duration_ms").collect()]
        for first in range(0, len(took), every):
            click.echo(f"{first:6} and later: {_spread(took[first : first + every])}")
        spark.stop()


class Memory:
    """What Java and this process take.

    Args:
        spark: a Spark in this process.
    """

    def __init__(self, spark: Any) -> None:
        self._java = spark._jvm.java.lang
        self._pids = (int(self._java.ProcessHandle.current().pid()), os.getpid())

    def now(self) -> str:
        """In words."""
        self._java.System.gc()
        heap = self._java.management.ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed()
        java, python = map(_resident, self._pids)
        return f"heap {heap / MB:.0f} MB, Java {java:.0f} MB, Python {python:.0f} MB"


def _resident(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="utf-8").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / MB


def _spread(seconds: Sequence[float]) -> str:
    cuts = statistics.quantiles(seconds, n=100, method="inclusive") if len(seconds) > 1 else [*seconds] * 99
    return f"p50 {cuts[49]:.2f} s, p99 {cuts[98]:.2f} s of {len(seconds)}"


if __name__ == "__main__":
    main()
