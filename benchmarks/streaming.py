"""TUMBLE as a streaming model beside the same query written by hand with Spark's Structured Streaming, in turns.

.venv/bin/python -m benchmarks.streaming [--rows 40000000] [--files 8] [--runs 3]
"""

from __future__ import annotations

import statistics
import tempfile
import time
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


def by_hand(spark: Any, number: int, checkpoint: Path) -> float:
    """Seconds of the hand-written query."""
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
    writer.trigger(availableNow=True).toTable(f"bench.hand_{number}").awaitTermination()
    return time.perf_counter() - start


def as_model(spark: Any, number: int) -> float:
    """Seconds of a run of the model, with all that it checks and notes."""
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
    return time.perf_counter() - start


@click.command()
@click.option("--rows", default=40_000_000, show_default=True)
@click.option("--files", default=8, show_default=True)
@click.option("--runs", default=3, show_default=True)
def main(rows: int, files: int, runs: int) -> None:
    """Prints seconds of both, and the ratio of their throughputs."""
    with tempfile.TemporaryDirectory() as folder:
        spark = spark_session({"spark.driver.memory": "4g", "spark.master": "local[2]"}, Path(folder))
        spark.sql("CREATE SCHEMA bench")
        spark.range(0, rows, 1, files).selectExpr(
            "timestamp_millis(id) AS ts", "CAST(hash(id) % 100 AS STRING) AS k", "id AS v"
        ).write.saveAsTable("bench.bid")
        seconds: dict[str, list[float]] = {"by hand": [], "as a model": []}
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
        for name, values in seconds.items():
            best = statistics.median(values)
            click.echo(f"{name:10}  {best:6.2f} s  {rows / best:12,.0f} rows/s   {[round(v, 2) for v in values]}")
        ratio = statistics.median(h / m for h, m in zip(*seconds.values(), strict=True))
        click.echo(f"ratio of throughputs, model to hand: {ratio:.2f}")
        spark.stop()


if __name__ == "__main__":
    main()
