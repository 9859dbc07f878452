"""NEXMark's windows as streaming models, beside the same by hand with Structured Streaming, and in Flink.

    python -m benchmarks.nexmark_streams [--events 1000000] [--files 10] [--runs 3] [--only 5] [--flink PYTHON]

All read the same rows of CSV files: Spark a file of each table in a micro-batch, in one run that goes on from the first
to the last; Flink two files, each from the first row to the last, as it reads one in each of its two tasks. A model's
rows are compared with those by hand. Prints events a second, and the most that Spark kept for open windows.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import click
from benchmarks.compare.nexmark import TWELVE, rendered
from benchmarks.nexmark import generator
from benchmarks.nexmark.run import PROJECT
from benchmarks.streaming import noted_of, run_of_sql
from benchmarks.windows.data import AUCTIONS
from benchmarks.windows.flink import Flink

from dbt.adapters.sparkstream.spark.session import spark_session
from dbt.adapters.sparkstream.sql.core.interval import Interval
from dbt.adapters.sparkstream.streaming.model import StreamConfig

WATERMARK = "10 seconds"
TABLES = {
    table: {column: type_.removesuffix("_ntz") for column, type_ in columns.items()}
    for table, columns in AUCTIONS.items()
}
"""NEXMark's tables -> column -> Spark's type: Structured Streaming takes no watermark of TIMESTAMP_NTZ."""
_OF_PRICES = ("", "price < 10000", "price >= 10000 AND price < 1000000", "price >= 1000000")


def _tumbling(seconds: int, table: str = "bid") -> str:
    return f"window({table}.`dateTime`, '{seconds} seconds')"


def _counts_of_prices(counted: str) -> str:
    return ", ".join(counted.format(condition or "true") for condition in _OF_PRICES)


BY_HAND = {
    5: """
        SELECT w.start, w.end, auction, num
        FROM (
          SELECT w, inline(filter(counts, c -> c.num = most)) AS (auction, num)
          FROM (
            SELECT w, max(num) AS most, collect_list(struct(auction, num)) AS counts
            FROM (
              SELECT window(`dateTime`, '10 seconds', '2 seconds') AS w, auction, count(*) AS num
              FROM bid GROUP BY 1, auction
            )
            GROUP BY w
          )
        )""",
    7: f"""
        SELECT auction, bidder, price, time, extra
        FROM (
          SELECT * EXCEPT (`dateTime`), `dateTime` + INTERVAL '0' SECOND AS time, {_tumbling(10)} AS w FROM bid
        ) AS bid
        JOIN (SELECT {_tumbling(10)} AS w, max(price) AS most FROM bid GROUP BY 1) AS best
          ON bid.w = best.w AND price = most""",
    8: f"""
        SELECT id, name, P.w.start
        FROM (SELECT id, name, {_tumbling(10, "person")} AS w FROM person GROUP BY id, name, 3) AS P
        JOIN (SELECT seller, {_tumbling(10, "auction")} AS w FROM auction GROUP BY seller, 2) AS A
          ON id = seller AND P.w = A.w""",
    11: """
        SELECT bidder, n, w.start, w.end
        FROM (
          SELECT bidder, session_window(`dateTime`, '10 seconds') AS w, count(*) AS n FROM bid GROUP BY bidder, 2
        )""",
    12: f"""
        SELECT bidder, w.start, w.end, n
        FROM (SELECT bidder, {_tumbling(10)} AS w, count(*) AS n FROM bid GROUP BY bidder, 2)""",
    16: f"""
        SELECT channel, date_format(w.start, 'yyyy-MM-dd'), * EXCEPT (channel, w)
        FROM (
          SELECT
            channel, {_tumbling(86400)} AS w, max(date_format(`dateTime`, 'HH:mm')),
            {_counts_of_prices("count_if({})")},
            {_counts_of_prices("size(collect_set(CASE WHEN {} THEN bidder END))")},
            {_counts_of_prices("size(collect_set(CASE WHEN {} THEN auction END))")}
          FROM bid GROUP BY channel, 2
        )""",
    17: f"""
        SELECT auction, date_format(w.start, 'yyyy-MM-dd'), * EXCEPT (auction, w)
        FROM (
          SELECT
            auction, {_tumbling(86400)} AS w, {_counts_of_prices("count_if({})")},
            min(price), max(price), CAST(sum(price) DIV count(*) AS BIGINT), sum(price)
          FROM bid GROUP BY auction, 2
        )""",
}
"""Question -> the best SQL that we know a user would write for Structured Streaming, over streams with a watermark."""


def model_sql(number: int) -> str:
    """The text of a streaming model: NEXMark's query in Flink SQL; with the day as a window where it is about days."""
    if number == 12:
        return TWELVE
    own = PROJECT / "streams" / f"q{number}.sql"
    return rendered(own if own.exists() else PROJECT / "models" / "queries" / own.name)


@dataclass(frozen=True)
class Took:
    """A run of a question.

    Attributes:
        whole: its seconds.
        batches: seconds of the micro-batches in it.
        state: the most bytes that Spark kept for open windows.
    """

    whole: float
    batches: float
    state: int


@dataclass(frozen=True)
class Streams:
    """NEXMark's streams in files, and the Spark that reads them.

    Attributes:
        spark: the Spark.
        folder: the folder of the files and of checkpoints.
        names: the tables that are streams.
    """

    spark: Any
    folder: Path
    names: Sequence[str] = tuple(TABLES)

    def write(self, events: int, rate: float, files: int) -> None:
        """Writes the files, and makes the tables of those that Spark reads."""
        generator.write(self.folder / "whole", events, rate)
        for name, columns in TABLES.items():
            lines = (self.folder / "whole" / f"{name}.csv").read_text(encoding="utf-8").splitlines(keepends=True)[1:]
            size = -(-len(lines) // files)
            parts = {f"spark/{name}/{i:04}.csv": lines[i * size : (i + 1) * size] for i in range(files)}
            parts |= {f"flink/{name}/{i}.csv": lines[i::2] for i in range(2)}
            for path, part in parts.items():
                file = self.folder / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text("".join(part), encoding="utf-8")
                time.sleep(0.01)  # Spark reads files in the order of their times
            typed = ", ".join(f"`{column}` {type_}" for column, type_ in columns.items())
            place = self.folder / "spark" / name
            self.spark.sql(
                f"CREATE TABLE bench.{name} ({typed}) USING csv "
                f"OPTIONS (timestampFormat 'yyyy-MM-dd HH:mm:ss.SSS') LOCATION '{place}'"
            )

    def by_hand(self, number: int, run: int) -> Took:
        """A run of a question's hand-written query."""
        session = self.spark.newSession()
        for name in self.names:
            rows = session.readStream.option("maxFilesPerTrigger", 1).table(f"bench.{name}")
            rows.withWatermark("dateTime", WATERMARK).createOrReplaceTempView(name)
        start = time.perf_counter()
        found = session.sql(BY_HAND[number])
        found = found.toDF(*(f"c{i}" for i in range(len(found.columns))))
        writer = found.writeStream.outputMode("append").trigger(availableNow=True)
        query = writer.option("checkpointLocation", str(self.folder / f"hand_{number}_{run}")).toTable(
            f"bench.hand_{number}_{run}"
        )
        query.awaitTermination()
        whole = time.perf_counter() - start
        progress = query.recentProgress
        state = max(sum(each.memoryUsedBytes for each in one.stateOperators) for one in progress)
        return Took(whole, sum(one.batchDuration for one in progress) / 1000, state)

    def as_model(self, number: int, run: int) -> Took:
        """A run of a question's streaming model, with all that it checks and records."""
        name, sql = f"model_{number}_{run}", model_sql(number)
        streams = {stream: TABLES[stream] for stream in self.names if stream in sql}
        config = StreamConfig(event_time="dateTime", watermark=Interval.parse(WATERMARK), max_files_per_trigger=1)
        start = time.perf_counter()
        run_of_sql(self.spark, sql, "flink", streams, name, config)(lambda: None)
        whole = time.perf_counter() - start
        seconds, state = (
            noted_of(self.spark, name).selectExpr("sum(duration_ms) / 1000", "max(state_bytes)").collect()[0]
        )
        return Took(whole, seconds, state or 0)

    def rows(self, table: str) -> tuple[int, int]:
        """The number of a table's rows, and a checksum of them that minds neither names nor order."""
        names = [name for name in self.spark.table(f"bench.{table}").columns if name != "micro_batch"]
        columns = ", ".join(f"CAST(`{name}` AS STRING)" for name in names)
        checksum = f"sum(CAST(xxhash64(array({columns})) AS DECIMAL(38, 0)))"
        return tuple(self.spark.sql(f"SELECT count(*), {checksum} FROM bench.{table}").collect()[0])


def flink_of(python: str, folder: Path) -> Flink:
    """A Flink that has the streams' files as tables with watermarks."""
    flink = Flink(python, cores=2, memory="3g", streaming=True)
    for name, columns in TABLES.items():
        flink.read(
            name,
            folder / "flink" / name,
            columns,
            f"`dateTime` - INTERVAL {WATERMARK.replace(' seconds', '')!r} SECOND",
        )
    return flink


def report(number: int, events: int, taken: Mapping[str, Sequence[Took]]) -> Iterator[str]:
    """Lines about a question: events a second of each, and their ratios to those by hand."""
    for name, runs in taken.items():
        whole, batches = (statistics.median(getattr(run, kind) for run in runs) for kind in ("whole", "batches"))
        ratio = statistics.median(hand.whole / run.whole for hand, run in zip(taken["by hand"], runs, strict=True))
        state = max(run.state for run in runs) / 2**20
        yield (
            f"{number:3} {name:8} {whole:7.2f} s {events / whole:10,.0f} events/s {ratio:6.2f} of by hand; "
            f"micro-batches {batches:6.2f} s, state {state:6.1f} MB"
        )


@click.command()
@click.option("--events", default=1_000_000, show_default=True)
@click.option("--rate", default=200.0, show_default=True, help="Events a second, by their own times.")
@click.option("--files", default=10, show_default=True, help="Files of each table, and so micro-batches.")
@click.option("--runs", default=3, show_default=True, help="Runs that count, after one to warm up.")
@click.option("--only", type=int, multiple=True, help="A question; all by default.")
@click.option("--flink", "python", help="A Python that has apache-flink.")
def main(events: int, rate: float, files: int, runs: int, only: Sequence[int], python: str | None) -> None:
    """Measures each question in turns, and prints what came out."""
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        spark = spark_session({"spark.driver.memory": "4g", "spark.master": "local[2]"}, folder)
        stack.callback(spark.stop)
        spark.sql("CREATE SCHEMA bench")
        streams = Streams(spark, folder)
        streams.write(events, rate, files)
        flink = flink_of(python, folder) if python else None
        for number in only or BY_HAND:
            ways: dict[str, Callable[[int], Took]] = {
                "by hand": partial(streams.by_hand, number),
                "model": partial(streams.as_model, number),
            }
            if flink is not None:
                text = model_sql(number)
                ways["Flink"] = lambda run, flink=flink, text=text: Took(flink.seconds(text), 0.0, 0)  # type: ignore[misc]
            taken: dict[str, list[Took]] = {way: [] for way in ways}
            for run in range(runs + 1):
                for way in list(ways)[:: 1 if run % 2 else -1]:  # each goes first in turn
                    took = ways[way](run)
                    if run:
                        taken[way].append(took)
            hand, model = (streams.rows(f"{way}_{number}_0") for way in ("hand", "model"))
            for line in report(number, events, taken):
                click.echo(line)
            click.echo(
                f"    {model[0]:,} rows, {'as by hand' if hand == model else f'by hand {hand[0]:,}: OTHER ROWS'}"
            )


if __name__ == "__main__":
    main()
