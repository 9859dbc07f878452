"""NEXMark's queries as streaming models: events in random chunks and out of order give the rows of batch."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import astuple, fields
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

import jinja2
import pytest
from benchmarks.nexmark import generator
from benchmarks.nexmark.generator import RATE, Auction, Bid, Event, Generator, Person
from benchmarks.nexmark.results import Result, recorded, result
from benchmarks.nexmark.run import PROJECT

from dbt.adapters.sparkstream.sql import TranslationError, translate
from tests.functional.streaming.feed import Feed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TYPES = {"int": "bigint", "str": "string", "datetime": "timestamp_ntz"}
TABLES = {
    name: {field.name: TYPES[str(field.type)] for field in fields(rows)} for name, rows in generator.TABLES.items()
}
STREAMS = {name: columns for name, columns in TABLES.items() if name != "side_input"}
WATERMARK = 10
"""Seconds; events come less late than that."""

AS_THEY_ARE = ("q0", "q1", "q2", "q3", "q5", "q7", "q8", "q10", "q11", "q13", "q14", "q20", "q21", "q22")
BY_DAY = ("q15", "q16", "q17")
ON_OFFERS = ("q4", "q6", "q9")
WITHOUT_END = ("q3", "q20")
"""Joins that no time bounds: what they keep only grows."""


def query(path: str, **tables: str) -> str:
    """A model's SQL with the names of tables in it: those given, and the names themselves."""
    text = (PROJECT / path).read_text(encoding="utf-8")
    return jinja2.Template(text).render(ref=lambda name: tables.get(name, name), config=lambda **_: "")


def streamed_query(name: str, schema: str) -> str:
    """The SQL of a streaming model: its own where it has one, else that of the batch."""
    own = f"streams/{name}.sql"
    path = own if (PROJECT / own).exists() else f"models/queries/{name}.sql"
    return query(path, side_input=f"{schema}.side_input")


@contextmanager
def streamed(
    spark: SparkSession, events: Sequence[Event], names: Sequence[str], number: int, runs: int
) -> Iterator[Feed]:
    """Models that have read events in random chunks, each of them up to some seconds late, over some runs."""
    chance = random.Random(number)
    arrival = sorted(range(len(events)), key=lambda i: i / RATE + chance.uniform(0, WATERMARK - 1))
    cuts = sorted(chance.sample(range(1, len(events)), runs - 1))
    chunks = [[events[i] for i in arrival[a:b]] for a, b in zip([0, *cuts], [*cuts, len(events)], strict=True)]
    feed = Feed(spark, STREAMS, "flink")
    try:
        if "q13" in names:
            add(feed, "side_input", list(generator.side_input()))
        for i, chunk in enumerate(chunks):
            for table, rows in (("person", Person), ("auction", Auction), ("bid", Bid)):
                add(feed, table, [event for event in chunk if isinstance(event, rows)])
            with ThreadPoolExecutor(2) as threads:
                list(threads.map(partial(run, feed, i == len(chunks) - 1), names))
        yield feed
    finally:
        feed.drop()


def run(feed: Feed, last: bool, name: str) -> None:
    feed.run(streamed_query(name, feed.schema), name, event_time="dateTime", flush=last)


def add(feed: Feed, table: str, rows: Sequence[Any]) -> None:
    if rows:
        types = ", ".join(f"`{name}` {type_}" for name, type_ in TABLES[table].items())
        frame = feed.spark.createDataFrame([astuple(row) for row in rows], types).coalesce(1)
        frame.write.mode("append").format("parquet").saveAsTable(f"{feed.schema}.{table}")


def found(feed: Feed, sql: str) -> Result:
    """What a query gives, with the times of streams as those of the clock."""
    rows = feed.spark.sql(sql).drop("micro_batch")
    times = [f"CAST(`{f.name}` AS TIMESTAMP_NTZ) AS `{f.name}`" for f in rows.schema.fields]
    clock = [
        time if f.dataType.typeName() == "timestamp" else f"`{f.name}`"
        for f, time in zip(rows.schema.fields, times, strict=True)
    ]
    return result(rows.columns, rows.selectExpr(*clock).collect())


def table(feed: Feed, name: str) -> str:
    """A query for a streaming model's rows, or for those of a table over such a model."""
    if name not in ON_OFFERS:
        return f"SELECT * FROM {feed.schema}.{name}"
    offers = feed.spark.table(f"{feed.schema}.offers").schema
    schema = {f"{feed.schema}.offers": {field.name: field.dataType.simpleString() for field in offers}}
    return translate(query(f"streams/tables/{name}.sql", offers=f"{feed.schema}.offers"), "flink", schema=schema)


def batch(feed: Feed, name: str) -> str:
    tables = {table: f"{feed.schema}.{table}" for table in TABLES}
    schema = {f"{feed.schema}.{table}": columns for table, columns in TABLES.items()}
    return translate(query(f"models/queries/{name}.sql", **tables), "flink", schema=schema)


@pytest.mark.full
def test_a_few_events_as_a_stream(embedded: SparkSession) -> None:
    names = ("q11", "offers")
    with streamed(embedded, list(islice(Generator(), 600)), names, number=3, runs=2) as feed:
        for name in ("q11", "q9"):
            assert found(feed, table(feed, name)) == found(feed, batch(feed, name)), name
        assert [feed.state(name) for name in names] == [0, 0]


@pytest.mark.full
def test_every_query_as_a_stream_gives_what_is_recorded(embedded: SparkSession) -> None:
    streams = (*AS_THEY_ARE, *BY_DAY, "offers")
    expected = recorded(20_000)
    with streamed(embedded, list(islice(Generator(), 20_000)), streams, number=1, runs=3) as feed:
        wrong = [
            f"{name}: {rows}; expected {expected[name]}"
            for name in (*AS_THEY_ARE, *BY_DAY, *ON_OFFERS)
            if (rows := found(feed, table(feed, name))) != expected[name]
        ]
        assert not wrong, "\n".join(wrong)
        assert [name for name in streams if feed.state(name)] == list(WITHOUT_END)


def test_no_auction_is_open_for_longer_than_the_stream_waits() -> None:
    auctions = [event for event in islice(Generator(), 100_000) if isinstance(event, Auction)]
    assert max((auction.expires - auction.dateTime).total_seconds() for auction in auctions) < 3600


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("q4", "needs the end of a window"),
        ("q6", "this query joins"),
        ("q9", "this query joins"),
        ("q12", "PROCTIME(), which has no meaning"),
        ("q18", "is ordered by time"),
        ("q19", "is ordered by time"),
    ],
)
def test_what_no_stream_can_do_is_refused(name: str, message: str) -> None:
    with pytest.raises(TranslationError, match=message.replace("(", r"\(").replace(")", r"\)")):
        translate(query(f"models/queries/{name}.sql"), "flink", mode="stream", schema=TABLES)
