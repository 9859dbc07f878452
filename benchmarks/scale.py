"""Windows over 1, 10 and 100 million rows on executors of a gigabyte: does the time grow with the rows, and no faster?

.venv/bin/python -m benchmarks.scale [--millions 1 --millions 10 --millions 100] [--only TUMBLE] [--skew 0.9] [--plans]

It starts a standalone cluster here: a master and two workers, each with a core and an executor of a gigabyte.
A thousand keys have a row a minute, so that more rows are more days. A line has the rows that came in and out; seconds;
seconds of processor time in the executors, which neighbours on the machine change less, and microseconds of it for each
row; what was written to disk as it found no room in memory; and how many executors died. With a skew of 0.9, one key
has nine of ten rows.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from benchmarks.windows.data import Data
from tests.server.standalone import standalone

from dbt.adapters.sparkstream.credentials import SEGMENT_TREE
from dbt.adapters.sparkstream.spark.session import spark_session
from dbt.adapters.sparkstream.sql import translate

MILLION = 1_000_000
KEYS = 1_000
SCHEMA = {"events": {"ts": "timestamp", "k": "int", "v": "int", "price": "double"}}
_FRAME = "OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL '20' MINUTE PRECEDING AND CURRENT ROW)"
_RESTING = "(SELECT * FROM events WHERE pmod(minute(ts), 20) < 10)"


def _grouped(window: str) -> str:
    return (
        "SELECT window_start, window_end, k, count(*) AS n, sum(v) AS v, max(price) AS price "
        f"FROM {window} GROUP BY window_start, window_end, k"
    )


QUESTIONS = {
    "TUMBLE 10 min": _grouped("TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '10' MINUTE)"),
    "HOP 10 min / 5 h": _grouped("HOP(TABLE events, DESCRIPTOR(ts), INTERVAL '10' MINUTE, INTERVAL '5' HOUR)"),
    "CUMULATE 1 h / 1 day": _grouped("CUMULATE(TABLE events, DESCRIPTOR(ts), INTERVAL '1' HOUR, INTERVAL '1' DAY)"),
    "SESSION 7 min": _grouped(f"SESSION({_RESTING} PARTITION BY k, DESCRIPTOR(ts), INTERVAL '7' MINUTE)"),
    "OVER RANGE 20 min": f"SELECT k, ts, sum(v) {_FRAME} AS v, max(price) {_FRAME} AS price FROM events",
}


@dataclass(frozen=True)
class Work:
    """What executors have done.

    Attributes:
        processor: seconds of processor time.
        spilled: bytes that they wrote to disk as there was no room in memory.
        died: executors that are gone.
    """

    processor: float
    spilled: int
    died: int


class Executors:
    """The executors of a Spark.

    Args:
        spark: its session.
    """

    def __init__(self, spark: Any) -> None:
        self._store = spark._jsc.sc().statusStore()
        java = spark._jvm
        self._all = (java.java.util.ArrayList(), False, False, spark.sparkContext._gateway.new_array(java.double, 0))
        self._of_tasks = java.java.util.ArrayList()
        self._seen = -1

    def work(self) -> Work:
        """Of the stages that weren't there at the last call."""
        stages = [
            stage for stage in _of(self._store.stageList(*self._all, self._of_tasks)) if stage.stageId() > self._seen
        ]
        self._seen = max([self._seen, *(stage.stageId() for stage in stages)])
        return Work(
            processor=sum(stage.executorCpuTime() for stage in stages) / 1e9,
            spilled=sum(stage.diskBytesSpilled() for stage in stages),
            died=sum(not executor.isActive() for executor in _of(self._store.executorList(False))),
        )


def _of(items: Any) -> list[Any]:
    """The items of a Scala sequence."""
    return [items.apply(number) for number in range(items.size())]


@click.command(help=__doc__)
@click.option("--millions", multiple=True, type=int, default=(1, 10, 100), show_default=True, help="Rows, in millions.")
@click.option("--only", multiple=True, help="The first word of a question; all by default.")
@click.option("--partitions", default=200, show_default=True, help="Of a shuffle; few are more than memory holds.")
@click.option("--skew", default=0.0, show_default=True, help="The part of the rows that one key has.")
@click.option("--plans", is_flag=True, help="Spark's plan of each question, too.")
def main(millions: tuple[int, ...], only: tuple[str, ...], partitions: int, skew: float, plans: bool) -> None:
    asked = {name: sql for name, sql in QUESTIONS.items() if not only or name.split()[0] in only}
    queries = {name: translate(sql, schema=SCHEMA) for name, sql in asked.items()}
    with tempfile.TemporaryDirectory() as folder, standalone(Path(folder) / "cluster") as cluster:
        settings = {
            "spark.master": cluster.master,
            "spark.driver.memory": "1g",
            "spark.executor.memory": "1g",
            "spark.executor.cores": "1",
            "spark.sql.shuffle.partitions": str(partitions),
            "spark.sql.session.timeZone": "UTC",
            "spark.ui.showConsoleProgress": "false",
            SEGMENT_TREE: "true",  # as with `optimize: true`
        }
        spark = spark_session(settings, Path(folder))
        executors = Executors(spark)
        for number in millions:
            data = Data(rows=number * MILLION, keys=KEYS, minutes=number * MILLION // KEYS, skew=skew)
            for table, path in data.tables(spark, Path(folder)).items():
                spark.read.parquet(str(path)).createOrReplaceTempView(table)
            for question, query in queries.items():
                if plans:
                    print(spark.sql(f"EXPLAIN {query}").collect()[0][0])
                executors.work()
                began = time.perf_counter()
                rows = spark.sql(query)
                # All columns are counted, as Spark doesn't compute what nobody reads.
                [[counted, *_]] = rows.selectExpr("count(*)", *(f"count({name})" for name in rows.columns)).collect()
                seconds, work = time.perf_counter() - began, executors.work()
                print(
                    f"{question:22} {number:4} M to {counted / MILLION:7.2f} M rows {seconds:8.1f} s, processor "
                    f"{work.processor:7.1f} s, {work.processor / number:5.2f} us a row, "
                    f"spilled {work.spilled / 1e9:5.1f} GB, {work.died} died",
                    flush=True,
                )
        spark.stop()


if __name__ == "__main__":
    main()
