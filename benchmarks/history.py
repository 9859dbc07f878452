"""Streaming models, and queries written by hand, run again and again with 100 new rows: what a run costs after many.

.venv/bin/python -m benchmarks.history [--runs 500] [--every 50] [--compact-every 50] [--way "model, TUMBLE"]

Each line has the median seconds of the runs since the line before and of a run with nothing new, and how many files
there are.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from benchmarks.streaming import Question, as_model, by_hand

from dbt.adapters.sparkstream.session import spark_session

ROWS = 100
"""New rows of a run; a row a second, so that a run closes one window or two."""


@click.command()
@click.option("--runs", default=500, show_default=True)
@click.option("--every", default=50, show_default=True, help="Runs for each line that is printed.")
@click.option("--compact-every", default=50, show_default=True, help="The config of the model that is compacted.")
@click.option("--way", "only", multiple=True, help="One of those that the table's head names; all by default.")
def main(runs: int, every: int, compact_every: int, only: tuple[str, ...]) -> None:
    """Prints seconds of a run and counts of files, by how many runs there were before."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        spark = spark_session({"spark.driver.memory": "4g", "spark.master": "local[2]"}, folder)
        spark.sql("CREATE SCHEMA bench")
        spark.sql("CREATE TABLE bench.bid (ts TIMESTAMP, k STRING, v BIGINT) USING parquet")
        ways: dict[str, Callable[[], Any]] = {
            "by hand, TUMBLE": lambda: by_hand(spark, Question("tumble", None), 1, folder / "by_hand"),
            "model, TUMBLE": lambda: as_model(spark, Question("tumble", None), 1, optimize=True),
            "model, HOP": lambda: as_model(spark, Question("hop", None), 2, optimize=True),
            "model, compacted": lambda: as_model(
                spark, Question("tumble", None), 3, optimize=True, compact_every=compact_every
            ),
        }
        ways = {way: run for way, run in ways.items() if not only or way in only}
        seconds: dict[str, list[float]] = {way: [] for way in ways}
        click.echo(
            "runs  "
            + "  ".join(f"{way:>16}  nothing new" for way in ways)
            + "  files: table  compacted  kept  runs  source"
        )
        for number in range(1, runs + 1):
            _add_rows(spark, number)
            for way, run in ways.items():
                seconds[way].append(_timed(run))
            if number % every == 0 or number == 5:
                figures = [(statistics.median(seconds[way][-every:]), _timed(run)) for way, run in ways.items()]
                seconds = {way: [] for way in ways}
                click.echo(
                    f"{number:4}  "
                    + "  ".join(f"{median:16.2f}  {nothing:11.2f}" for median, nothing in figures)
                    + _files(folder)
                )


def _timed(run: Callable[[], Any]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def _add_rows(spark: Any, number: int) -> None:
    first = number * ROWS
    spark.range(first, first + ROWS, 1, 1).selectExpr(
        "timestamp_seconds(id) AS ts", "CAST(id % 10 AS STRING) AS k", "id AS v"
    ).write.insertInto("bench.bid")


def _files(folder: Path) -> str:
    """How many files the tables of the model TUMBLE and of the compacted one have, what is kept, the notes, the source.

    The files that a compaction has left for queries that run count, too.
    """
    warehouse = next(folder.rglob("bench.db"))
    found = [path.relative_to(warehouse) for path in warehouse.rglob("*") if path.is_file()]

    def count(*parts: str) -> int:
        return sum(1 for path in found if all(part in str(path) for part in parts) and not path.name.startswith("."))

    table, compacted = count("model_1/"), count("model_3/") + count("model_3__compacted/")
    kept = count("_sparkstream", "model_1-")
    return f"  {table:12}  {compacted:9}  {kept:4}  {count('sparkstream_runs/'):4}  {count('bid/'):6}"


if __name__ == "__main__":
    main()
