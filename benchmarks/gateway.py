"""Cost of the gateway for a statement in which nothing is to be translated.

    python -m benchmarks.gateway --to 127.0.0.1:10000

asks a Thrift server (`auth: NOSASL`) the same statement by itself and through a gateway, in turns, and prints medians,
and the processor time of this process: what the gateway adds to it doesn't depend on what else the machine does.
"""

from __future__ import annotations

import statistics
import threading
import time
from contextlib import closing
from typing import Any

import click
from pyhive import hive

from dbt.adapters.sparkstream.gateway import Gateway

STATEMENT = "set spark.app.name"


def seconds(cursor: Any) -> tuple[float, float]:
    """How long a statement and its rows take, on the clock and of the processor."""
    begin = time.perf_counter(), time.process_time()
    cursor.execute(STATEMENT)
    cursor.fetchall()
    return time.perf_counter() - begin[0], time.process_time() - begin[1]


@click.command()
@click.option("--to", default="127.0.0.1:10000", show_default=True, help="Host and port of the Thrift server.")
@click.option("--runs", default=500, show_default=True, help="How often each way is asked.")
def main(to: str, runs: int) -> None:
    host, _, port = to.rpartition(":")
    gateway = Gateway((host, int(port)))
    threading.Thread(target=gateway.serve_forever, daemon=True).start()
    ways = {"Spark by itself": (host, int(port)), "through the gateway": gateway.server_address[:2]}
    measured: dict[str, list[tuple[float, float]]] = {way: [] for way in ways}
    connections = {way: hive.connect(str(h), int(p), auth="NOSASL", username="bench") for way, (h, p) in ways.items()}
    for _ in range(runs + 20):
        for way, connection in connections.items():
            with closing(connection.cursor()) as cursor:
                measured[way].append(seconds(cursor))
    for way, found in measured.items():
        taken, processor = (1000 * statistics.median(column) for column in zip(*found[20:], strict=True))
        click.echo(f"{way}: {taken:.1f} ms, {processor:.2f} ms of the processor")


if __name__ == "__main__":
    main()
