"""A window as a streaming model beside the same query written by hand with Spark's Structured Streaming, in turns.

.venv/bin/python -m benchmarks.streaming [--window hop] [--rows 40000000] [--hours 24] [--files 8] [--batches 1]
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from dbt.adapters.sparkstream.spark.environments.base import apply_settings
from dbt.adapters.sparkstream.spark.session import spark_session
from dbt.adapters.sparkstream.sql.core.interval import Interval
from dbt.adapters.sparkstream.sql.streaming import plan
from dbt.adapters.sparkstream.streaming.model import Model, StreamConfig
from dbt.adapters.sparkstream.streaming.run import Run
from dbt.adapters.sparkstream.streaming.sources.reader import source_of
from dbt.adapters.sparkstream.streaming.spark.engine import SETTINGS, Engine

WINDOWS = {
    "tumble": ("tumble(bid, ts, '1 minute')", ("1 minute",)),
    "hop": ("hop(bid, ts, '1 minute', '1 hour')", ("1 hour", "1 minute")),
}
"""How each is written in a model, and for Spark's window()."""

ROWS_OF_FILE = 100
"""Rows of a small file."""


@dataclass(frozen=True)
class Question:
    """What is measured.

    Attributes:
        window: which window.
        files: how many files a micro-batch reads; None for all.
    """

    window: str
    files: int | None

    @property
    def sql(self) -> str:
        bounds = "window_start, window_end"
        window = WINDOWS[self.window][0]
        return f"SELECT {bounds}, k, count(*) AS n, sum(v) AS s FROM {window} GROUP BY {bounds}, k"


@dataclass(frozen=True)
class Took:
    """Seconds of a run, and of the micro-batches in it."""

    whole: float
    batches: float


def add_rows(spark: Any, number: int) -> None:
    """Adds a small file to the source: a row a second, so that each file closes a window of a minute or two.

    Args:
        spark: the Spark that has the source.
        number: of the file.
    """
    first = number * ROWS_OF_FILE
    spark.range(first, first + ROWS_OF_FILE, 1, 1).selectExpr(
        "timestamp_seconds(id) AS ts", "CAST(id % 10 AS STRING) AS k", "id AS v"
    ).write.insertInto("bench.bid")


def by_hand(spark: Any, question: Question, number: int, checkpoint: Path) -> Took:
    """The hand-written query."""
    from pyspark.sql import functions as f

    start = time.perf_counter()
    rows = spark.readStream
    if question.files is not None:
        rows = rows.option("maxFilesPerTrigger", question.files)
    windows = (
        rows.table("bench.bid")
        .withWatermark("ts", "10 seconds")
        .groupBy(f.window("ts", *WINDOWS[question.window][1]), "k")
        .agg(f.count("*").alias("n"), f.sum("v").alias("s"))
        .select("window.start", "window.end", "k", "n", "s")
    )
    writer = windows.writeStream.outputMode("append").option("checkpointLocation", str(checkpoint))
    query = writer.trigger(availableNow=True).toTable(f"bench.hand_{number}")
    query.awaitTermination()
    whole = time.perf_counter() - start
    return Took(whole, sum(progress.batchDuration for progress in query.recentProgress) / 1000)


def run_of(spark: Any, question: Question, name: str, config: StreamConfig, optimize: bool, **hooks: Any) -> Run:
    """A run of the model, by the name of its table.

    Args:
        spark: the Spark that has the rows.
        question: the model's query.
        name: its table.
        config: its configs.
        optimize: True if windows are put together from slices.
        hooks: what Run takes beside.
    """
    streams = {"bid": {"ts": "timestamp", "k": "string", "v": "bigint"}}
    return run_of_sql(spark, question.sql, "spark", streams, name, config, optimize, **hooks)


def run_of_sql(
    spark: Any,
    sql: str,
    dialect: str,
    streams: Mapping[str, Mapping[str, str]],
    name: str,
    config: StreamConfig,
    optimize: bool = True,
    **hooks: Any,
) -> Run:
    """A run of a model by its text; further arguments as of `run_of`.

    Args:
        sql: its query.
        dialect: what that is written in.
        streams: the tables that it reads, by their names in the schema `bench` -> column -> type.
    """
    model = Model(
        unique_id=f"model.bench.{name}",
        identifier=name,
        relation=f"bench.{name}",
        runs="bench.sparkstream_runs",
        sql=sql,
        dialect=dialect,
        config=config,
        sources=tuple(source_of(view=stream, relation=f"bench.{stream}") for stream in streams),
    )
    session = spark.newSession()
    apply_settings(session, SETTINGS)
    engine = Engine(session)
    planned = plan(sql, dialect, streams=list(streams), schema=streams, utc=engine.is_utc(), optimize=optimize)
    return Run(model, planned, engine, **hooks)


def config_of(question: Question, **others: Any) -> StreamConfig:
    """The configs of the model."""
    return StreamConfig(
        event_time="ts", watermark=Interval.parse("10 seconds"), max_files_per_trigger=question.files, **others
    )


def noted_of(spark: Any, name: str) -> Any:
    """What `sparkstream_runs` has of a model's micro-batches."""
    spark.catalog.refreshTable("bench.sparkstream_runs")
    return spark.table("bench.sparkstream_runs").where(f"relation = 'bench.{name}'")


def as_model(spark: Any, question: Question, number: int, optimize: bool, compact_every: int | None = None) -> Took:
    """A run of the model, with all that it checks and notes."""
    name = f"{'model' if optimize else 'plain'}_{number}"
    start = time.perf_counter()
    run_of(spark, question, name, config_of(question, compact_every=compact_every), optimize)(lambda: None)
    whole = time.perf_counter() - start
    noted = noted_of(spark, name).selectExpr("sum(duration_ms) / 1000")
    return Took(whole, noted.collect()[0][0])


@click.command()
@click.option("--window", type=click.Choice(list(WINDOWS)), default="tumble", show_default=True)
@click.option("--rows", default=40_000_000, show_default=True)
@click.option("--hours", type=float, help="Time that the rows span; a millisecond for each by default.")
@click.option("--files", default=8, show_default=True)
@click.option("--batches", default=1, show_default=True, help="Micro-batches that the files are read in.")
@click.option("--runs", default=3, show_default=True)
def main(window: str, rows: int, hours: float | None, files: int, batches: int, runs: int) -> None:
    """Prints seconds of each, and ratios of throughputs: of whole runs, and of the micro-batches in them."""
    question = Question(window, files // batches if batches > 1 else None)
    micros = 1000 if hours is None else hours * 3.6e9 / rows
    with tempfile.TemporaryDirectory() as folder:
        spark = spark_session({"spark.driver.memory": "4g", "spark.master": "local[2]"}, Path(folder))
        spark.sql("CREATE SCHEMA bench")
        spark.range(0, rows, 1, files).selectExpr(
            f"timestamp_micros(CAST(id * {micros} AS BIGINT)) AS ts", "CAST(hash(id) % 100 AS STRING) AS k", "id AS v"
        ).write.saveAsTable("bench.bid")
        ways: dict[str, Callable[[int], Took]] = {
            "by hand": lambda number: by_hand(spark, question, number, Path(folder) / f"checkpoint_{number}"),
            "model": lambda number: as_model(spark, question, number, optimize=True),
        }
        if window == "hop":
            ways["no slices"] = lambda number: as_model(spark, question, number, optimize=False)
        seconds: dict[str, list[Took]] = {name: [] for name in ways}
        for number in range(runs + 1):
            took = {}
            for name in list(ways)[:: 1 if number % 2 else -1]:  # each goes first in turn
                took[name] = ways[name](number)
            if number:  # the first of each warms up
                for name, value in took.items():
                    seconds[name].append(value)
        hand, model = (
            spark.table(name).selectExpr("count(*)", "sum(n)", "sum(s)").collect()[0]
            for name in ("bench.hand_0", "bench.model_0")
        )
        assert tuple(hand) == tuple(model), (hand, model)
        for what in ("whole", "batches"):
            taken = {name: [getattr(took, what) for took in values] for name, values in seconds.items()}
            for name, values in taken.items():
                middle = statistics.median(values)
                each = [round(v, 2) for v in values]
                click.echo(f"{what:7} {name:10}  {middle:6.2f} s  {rows / middle:12,.0f} rows/s   {each}")
            for name in list(ways)[1:]:
                ratio = statistics.median(h / m for h, m in zip(taken["by hand"], taken[name], strict=True))
                click.echo(f"{what:7} ratio of throughputs, {name} to hand: {ratio:.2f}")
        spark.stop()


if __name__ == "__main__":
    main()
