"""Kinds of sources: the rows that each has of all that a micro-batch has read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from dbt.adapters.sparkstream.sql.core.literals import exactly
from dbt.adapters.sparkstream.streaming.sources.reader import source_of
from dbt.adapters.sparkstream.streaming.sources.source import Portion, Positions, StreamSource
from dbt.adapters.sparkstream.streaming.spark.checkpoint import Portions

FILES = ("file:///in/bids/a", "file:///in/bids/b=1/c", "file:///in/bids2/a", "file:///house/[bid]/part-0")
RECORDS: tuple[Positions, ...] = ({"bids": {"0": 7}, "asks": {"0": 1}}, {"late.bids": {"0": 2, "1": 3}})
NEW = {"bids": {"0": 5}}
CHECKPOINT = "/checkpoint"
OFFSETS = ["v1", json.dumps({"batchWatermarkMs": 0, "batchTimestampMs": 0})]
STORED = {
    f"{CHECKPOINT}/offsets/0": [*OFFSETS, *map(json.dumps, RECORDS), json.dumps({"logOffset": 0})],
    f"{CHECKPOINT}/sources/0/0": ["v1", json.dumps(NEW)],
    f"{CHECKPOINT}/sources/2": [json.dumps({"path": file, "batchId": 0}) for file in FILES],
}


def folder_of(source: StreamSource) -> str | None:
    return source.folder if source.reader else exactly("file:/house/[bid]")


def portion(reader: Mapping[str, Any], is_only: bool = False) -> Portion | None:
    engine: Any = SimpleNamespace(folders=SimpleNamespace(lines=lambda path: STORED.get(path, [])))
    sources = [source_of("bid", "bid", reader=reader), source_of("other", "other")]
    read = Portions(engine, sources[: 1 if is_only else 2], CHECKPOINT, folder_of).of(0)
    return None if read is None else read[2]["bid"]


def kafka(**topics: str) -> dict[str, Any]:
    return {"format": "kafka", "options": {"kafka.bootstrap.servers": "HOST:9092", **topics}}


@pytest.mark.parametrize(
    ("reader", "files"),
    [
        ({}, FILES[3:]),
        ({"format": "csv", "path": "/in/bids"}, FILES[:2]),
        ({"format": "csv", "path": "file:/in/bids/"}, FILES[:2]),
        ({"format": "csv", "path": "file:///in/{bids,asks}"}, FILES[:2]),
        ({"format": "csv", "path": "s3a://in/bids"}, ()),
        ({"format": "csv", "path": "/in/b*"}, FILES[:3]),
        ({"format": "csv", "path": "/in/none"}, ()),
    ],
)
def test_files_of_a_source(reader: dict[str, Any], files: tuple[str, ...]) -> None:
    assert portion(reader) == Portion(files)


def test_all_files_are_those_of_the_only_folder() -> None:
    assert portion({"format": "csv", "path": "elsewhere"}, is_only=True) == Portion(FILES)


@pytest.mark.parametrize(
    ("topics", "number"),
    [
        ({"subscribe": "asks, bids"}, 0),
        ({"SUBSCRIBE": "late.bids"}, 1),
        ({"subscribePattern": "late[.].*"}, 1),
        ({"subscribePattern": r"late[.]\p{Alpha}+"}, None),  # Java's alone
        ({"assign": '{"bids": [0], "asks": [0]}'}, 0),
        ({"subscribe": "bids"}, None),  # another stream of the model has records of another topic with these
        ({"subscribePattern": ".*"}, None),  # two streams have them
    ],
)
def test_records_of_a_source(topics: dict[str, str], number: int | None) -> None:
    since = NEW if number == 0 else {}
    assert portion(kafka(**topics)) == (None if number is None else Portion(since=since, until=RECORDS[number]))


@pytest.mark.parametrize("reader", [{"format": "socket"}, {"data_source": "mine:Source", "path": "/in/bids"}])
def test_nobody_can_tell_what_other_sources_have_read(reader: dict[str, Any]) -> None:
    """Though their offsets may look like offsets of files or of Kafka."""
    assert portion(reader, is_only=True) is None
    assert not source_of("", "bid", reader=reader).has_portions
