"""TUMBLE as a streaming model beside the same query written by hand with Spark's Structured Streaming, in turns.

.venv/bin/python -m benchmarks.streaming [--rows 40000000] [--files 8] [--runs 3]
"""

from __future__ import annotations

import statistics
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from dbt.adapters.sparkstream.session import spark_session
from dbt.adapters.sparkstream.sql.interval import Interval
from dbt.adapters.sparkstream.sql.streaming import plan
from dbt.adapters.sparkstream.streaming.config import StreamConfig
from dbt.adapters.sparkstream.streaming.engine import Engine
from dbt.adapters.sparkstream.streaming.run import Model, Run
from dbt.adapters.sparkstream.streaming.source import StreamSource

SQL = """\
SELECT window_start, window_end, k, count(*) AS n, sum(v) AS s
FROM tumble(bid, ts, '1 minute') GROUP BY window_start, window_end, k"""


@dataclass(frozen=True)
class Took:
    """Seconds of a run, and of the micro-batches in it."""

    whole: float
    batches: float


def by_hand(spark: Any, number: int, checkpoint: Path) -> Took:
    """The hand-written query."""
    from pyspark.sql import functions as f

    start = time.perf_counter()
    windows = (
        spark.readStream.table("bench.bid")
        .withWatermark("ts", "10 seconds")
        .groupBy(f.window("ts", "1 minute"), "k")
        .agg(f.count("*").alias("n"), f.sum("v").alias("s"))
        .select("window.start", "window.end", "k", "n", "s")
    )
    writer = windows.writeStream.outputMode("append").option("checkpointLocation", str(checkpoint))
    query = writer.trigger(availableNow=True).toTable(f"bench.hand_{number}")
    query.awaitTermination()
    whole = time.perf_counter() - start
    return Took(whole, sum(progress.batchDuration for progress in query.recentProgress) / 1000)


def as_model(spark: Any, number: int) -> Took:
    """A run of the model, with all that it checks and notes."""
    model = Model(
        unique_id="model.bench.tumble",
        identifier=f"model_{number}",
        relation=f"bench.model_{number}",
        runs="bench.sparkstream_runs",
        sql=SQL,
        dialect="spark",
        config=StreamConfig(event_time="ts", watermark=Interval.parse("10 seconds")),
        sources=(StreamSource(view="bid", relation="bench.bid"),),
    )
    start = time.perf_counter()
    engine = Engine(spark.newSession())
    Run(model, plan(SQL, streams=["bid"], utc=engine.is_utc()), engine)(lambda: None)
    whole = time.perf_counter() - start
    spark.catalog.refreshTable(model.runs)
    noted = spark.table(model.runs).where(f"relation = '{model.relation}'").selectExpr("sum(duration_ms) / 1000")
    return Took(whole, noted.collect()[0][0])


@click.command()
@click.option("--rows", default=40_000_000, show_default=True)
@click.option("--files", default=8, show_default=True)
@click.option("--runs", default=3, show_default=True)
def main(rows: int, files: int, runs: int) -> None:
    """Prints seconds of both, and the ratios of their throughputs: of whole runs, and of the micro-batches in them."""
    with tempfile.TemporaryDirectory() as folder:
        spark = spark_session({"spark.driver.memory": "4g", "spark.master": "local[2]"}, Path(folder))
        spark.sql("CREATE SCHEMA bench")
        spark.range(0, rows, 1, files).selectExpr(
            "timestamp_millis(id) AS ts", "CAST(hash(id) % 100 AS STRING) AS k", "id AS v"
        ).write.saveAsTable("bench.bid")
        seconds: dict[str, list[Took]] = {"by hand": [], "as a model": []}
        for number in range(runs + 1):
            took = {}
            for name in list(seconds)[:: 1 if number % 2 else -1]:  # each goes first in turn
                hand = name == "by hand"
                checkpoint = Path(folder) / f"checkpoint_{number}"
                took[name] = by_hand(spark, number, checkpoint) if hand else as_model(spark, number)
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
            ratio = statistics.median(h / m for h, m in zip(*taken.values(), strict=True))
            click.echo(f"{what:7} ratio of throughputs, model to hand: {ratio:.2f}")
        spark.stop()


if __name__ == "__main__":
    main()
