"""Streaming models, and queries written by hand, run again and again with 100 new rows: what a run costs after many.

.venv/bin/python -m benchmarks.history [--at 5 --at 50 --at 200] [--compact-every 50] [--way "model, TUMBLE"]

Each line has medians of five runs, and of two runs with nothing new: seconds, seconds of processor time, jobs of Spark,
calls of the metastore, partitions that it gave, files that were listed. Below it, how many files there are. The runs
before these five are one run with a micro-batch for each file, which leaves what they would leave.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from benchmarks.counters import Counters, Counts
from benchmarks.streaming import Question, add_rows, as_model, by_hand

from dbt.adapters.sparkstream.session import spark_session

MEASURED = 5
"""Runs for each line."""


@click.command(help=__doc__)
@click.option("--at", multiple=True, type=int, default=(5, 50, 200), show_default=True, help="Runs before each line.")
@click.option("--compact-every", default=50, show_default=True, help="The config of the model that is compacted.")
@click.option("--way", "only", multiple=True, help="One of those that the table's head names; all by default.")
def main(at: tuple[int, ...], compact_every: int, only: tuple[str, ...]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        spark = spark_session({"spark.driver.memory": "4g", "spark.master": "local[2]"}, folder)
        spark.sql("CREATE SCHEMA bench")
        spark.sql("CREATE TABLE bench.bid (ts TIMESTAMP, k STRING, v BIGINT) USING parquet")
        tumble, hop = Question("tumble", 1), Question("hop", 1)
        ways: dict[str, Callable[[], Any]] = {
            "by hand, TUMBLE": lambda: by_hand(spark, tumble, 1, folder / "by_hand"),
            "model, TUMBLE": lambda: as_model(spark, tumble, 1, optimize=True),
            "model, HOP": lambda: as_model(spark, hop, 2, optimize=True),
            "model, compacted": lambda: as_model(spark, tumble, 3, optimize=True, compact_every=compact_every),
        }
        ways = {way: run for way, run in ways.items() if not only or way in only}
        counters, number = Counters(spark), 0
        click.echo(f"{'runs':>4}  {'way':16}  {_HEAD}   nothing new: {_HEAD}")
        for point in at:
            while number < point - MEASURED:
                add_rows(spark, number := number + 1)
            for run in ways.values():
                run()
            taken: dict[str, list[_Took]] = {way: [] for way in ways}
            while number < point:
                add_rows(spark, number := number + 1)
                for way, run in ways.items():
                    taken[way].append(_timed(run, counters))
            for way, run in ways.items():
                nothing = [_timed(run, counters) for _ in range(2)]
                click.echo(f"{number:4}  {way:16}  {_medians(taken[way])}                {_medians(nothing)}")
            click.echo(f"      files: {_files(folder)}")


_HEAD = "      s   proc.   jobs  calls  part.  listed"


@dataclass(frozen=True)
class _Took:
    """Seconds of a run, and what it did."""

    seconds: float
    counts: Counts


def _medians(taken: list[_Took]) -> str:
    def median(name: str) -> float:
        return statistics.median(getattr(took.counts, name) for took in taken)

    seconds = statistics.median(took.seconds for took in taken)
    return (
        f"{seconds:7.2f} {median('processor'):7.2f} {median('jobs'):6.0f} {median('calls'):6.0f} "
        f"{median('partitions'):6.0f} {median('listed'):7.0f}"
    )


def _timed(run: Callable[[], Any], counters: Counters) -> _Took:
    before, start = counters.now(), time.perf_counter()
    run()
    seconds = time.perf_counter() - start
    return _Took(seconds, counters.now() - before)


def _files(folder: Path) -> str:
    """How many files there are in each folder of the warehouse.

    Those that a compaction has left for queries that run count, too.
    """
    warehouse = next(folder.rglob("bench.db"))
    found = [path.relative_to(warehouse) for path in warehouse.rglob("*") if path.is_file() and path.name[0] != "."]
    found_in = Counter(_place(path) for path in found)
    return ", ".join(f"{place} {number}" for place, number in sorted(found_in.items()))


def _place(path: Path) -> str:
    """A table's name; of what is kept beside a table, the folder in it."""
    if path.parts[0] != "_sparkstream":
        return path.parts[0]
    kept = path.parts[2:-1][:2]
    return f"{path.parts[1].partition('-')[0]}/{'/'.join(kept)}"


if __name__ == "__main__":
    main()
