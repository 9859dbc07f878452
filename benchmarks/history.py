"""Streaming models with 100 new rows a run, and queries written by hand: what a run costs when many were before it.

.venv/bin/python -m benchmarks.history [--at 5 --at 50 --at 200] [--compact-every 50] [--way "model, TUMBLE"]

Each line has medians of some runs, and of two runs with nothing new: seconds, seconds of processor time, jobs of Spark,
calls of the metastore, partitions that it gave, files that were listed. Below it, how many files there are.

The runs before are not run one by one, which would take hours: their files come to the source and are read by one run,
and the model's table gets a partition more for each, a copy of one that it has.
"""

from __future__ import annotations

import shutil
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
from benchmarks.streaming import Question, add_rows, by_hand, config_of, run_of

from dbt.adapters.sparkstream.spark.session import spark_session


@click.command(help=__doc__)
@click.option("--at", multiple=True, type=int, default=(5, 50, 200), show_default=True, help="Runs before each line.")
@click.option("--compact-every", default=50, show_default=True, help="The config of the model that is compacted.")
@click.option("--runs", default=5, show_default=True, help="Runs that a line has medians of.")
@click.option("--way", "only", multiple=True, help="One of those that the table's head names; all by default.")
def main(at: tuple[int, ...], compact_every: int, runs: int, only: tuple[str, ...]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        spark = spark_session({"spark.driver.memory": "4g", "spark.master": "local[2]"}, folder)
        spark.sql("CREATE SCHEMA bench")
        spark.sql("CREATE TABLE bench.bid (ts TIMESTAMP, k STRING, v BIGINT) USING parquet")
        tumble, hop = Question("tumble", None), Question("hop", None)

        def model(question: Question, name: str, **configs: Any) -> Callable[[], Any]:
            return lambda: run_of(
                spark, question, name, config_of(question, **configs, on_foreign_write="accept"), True
            )(lambda: None)

        ways: dict[str, Callable[[], Any]] = {
            "by hand, TUMBLE": lambda: by_hand(spark, tumble, 1, folder / "by_hand"),
            "model, TUMBLE": model(tumble, "model_1"),
            "model, HOP": model(hop, "model_2"),
            "model, compacted": model(tumble, "model_3", compact_every=compact_every),
        }
        ways = {way: run for way, run in ways.items() if not only or way in only}
        counters, number = Counters(spark), 0
        click.echo(f"{'runs':>4}  {'way':16}  {_HEAD}   nothing new: {_HEAD}")
        for point in at:
            before = max(point - runs, 1)
            for _ in range(number, before):
                add_rows(spark, number := number + 1)
            for run in ways.values():
                run()
            for name in ("model_1", "model_2"):
                if spark.catalog.tableExists(f"bench.{name}"):
                    _age(spark, folder, name, before)
            for run in ways.values():
                run()
            taken: dict[str, list[_Took]] = {way: [] for way in ways}
            for _ in range(number, point):
                add_rows(spark, number := number + 1)
                for way, run in ways.items():
                    taken[way].append(_timed(run, counters))
            for way, run in ways.items():
                nothing = [_timed(run, counters) for _ in range(2)]
                click.echo(f"{number:4}  {way:16}  {_medians(taken[way])}                {_medians(nothing)}")
            click.echo(f"      files: {_files(folder)}")


def _age(spark: Any, folder: Path, table: str, runs: int) -> None:
    """Gives a table as many partitions as so many runs leave."""
    [place] = folder.rglob(f"bench.db/{table}")
    found = sorted(place.glob("micro_batch=*"))
    for number in range(len(found), runs):
        shutil.copytree(found[0], place / f"micro_batch=-{number}")
    spark.sql(f"ALTER TABLE bench.{table} RECOVER PARTITIONS")


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
