"""Kinds of sources: the rows that each has of all that a micro-batch has read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from dbt.adapters.sparkstream.streaming.sources.reader import source_of
from dbt.adapters.sparkstream.streaming.sources.source import Portion, Positions, Read

FILES = ("file:///in/bids/a", "file:///in/bids/b=1/c", "file:///in/bids2/a", "file:///house/bid/part-0")
RECORDS: dict[int, Positions] = {0: {"bids": {"0": 7}, "asks": {"0": 1}}, 1: {"late.bids": {"0": 2, "1": 3}}}
NEW = {"bids": {"0": 5}}


def portion(reader: Mapping[str, Any], is_only: bool = False) -> Portion | None:
    read = Read(
        FILES, RECORDS, lambda number: NEW if number == 0 else {}, is_only, lambda table: f"file:/house/{table}/"
    )
    return source_of("", "bid", reader=reader).portion(read)


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
