"""`meta: stream:` of a source, and messages of mistakes in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dbt.adapters.sparkstream.sql.core.interval import Interval
from dbt.adapters.sparkstream.streaming.fingerprint import Definition
from dbt.adapters.sparkstream.streaming.refusals import StreamingError
from dbt.adapters.sparkstream.streaming.sources.reader import located, reader_of, source_of
from dbt.adapters.sparkstream.streaming.sources.source import given_options
from dbt.adapters.sparkstream.streaming.spark.checkpoint import _offset

ROOT = Path("no/project")
OPTIONS = {"kafka.bootstrap.servers": "HOST:9092", "subscribe": "bids"}
KAFKA = {"format": "kafka", "options": OPTIONS}
JSON = {"value_format": "json", "schema": "id bigint"}


@pytest.mark.parametrize(
    "stream",
    [
        {"format": "json", "path": "incoming", "schema": "id bigint", "options": {"multiLine": True}},
        {"format": "rate"},
        {"data_source": "my_package.my_module:MySource", "path": "x", "options": {"city": "Vienna"}},
        KAFKA,
        {**KAFKA, **JSON, "value_options": {"timestampFormat": "yyyy"}, "select": ["*", "kafka_offset"]},
        {**KAFKA, "select": ["CAST(value AS STRING) AS text", "timestamp AS at"]},
        {"format": "text", "path": "lines", **JSON},
        {"format": "csv", "path": "incoming", "archived": True},
    ],
)
def test_what_is_right(stream: dict[str, Any]) -> None:
    assert reader_of({"stream": stream}, "shop.bid", ROOT) == stream


def test_no_reader() -> None:
    assert reader_of({}, "shop.bid", ROOT) == {}
    assert reader_of({"stream": None, "owner": "ada"}, "shop.bid", ROOT) == {}


@pytest.mark.parametrize(
    ("stream", "words"),
    [
        ("kafka", ["stream is not a mapping", "format: json"]),
        ({"path": "incoming"}, ["has no format"]),
        ({"format": "json", "data_source": "m:C"}, ["format and data_source both say"]),
        (
            {"data_source": "my_module.MySource"},
            ["can't be 'my_module.MySource'", "data_source: my_package.my_module:"],
        ),
        ({"data_source": "my-module:MySource"}, ["can't be 'my-module:MySource'"]),
        ({"fromat": "json"}, ["no 'fromat'", "did you mean format?"]),
        ({"format": "json", "zzz": 1}, ["no 'zzz'", "what Spark has goes to options"]),
        ({"format": "json", "path": 7}, ["path is no text"]),
        ({"format": "json", "path": "in", "archived": "yes"}, ["archived can't be 'yes'", "true or false"]),
        ({**KAFKA, "archived": True}, ["archived says that files go", "has none"]),
        ({"format": "json", "options": "header"}, ["options is not a mapping"]),
        (
            {**KAFKA, "value_format": "protobuf", "schema": "id int"},
            ["can't be 'protobuf'", "json, csv, avro", "select"],
        ),
        ({**KAFKA, "value_format": "json"}, ["needs the schema of the value", "schema: 'id bigint"]),
        ({**KAFKA, "value_options": {"sep": ";"}}, ["value_options", "value_format: json"]),
        ({**KAFKA, **JSON, "value_options": {"mode": "FAILFAST"}}, ["can't have mode", "left out, counted and kept"]),
        ({**KAFKA, **JSON, "value_options": {"MODE": "FAILFAST"}}, ["can't have MODE"]),
        ({**KAFKA, "path": "bids"}, ["kafka has no path", "subscribe: bids"]),
        ({**KAFKA, "schema": "id bigint"}, ["nothing says how it is written", "value_format"]),
        ({"format": "kafka", "options": {"subscribe": "bids"}}, ["where Kafka is", "kafka.bootstrap.servers"]),
        (
            {"format": "kafka", "options": {"kafka.bootstrap.servers": "h:1"}},
            ["which topics", "subscribe"],
        ),
        ({"format": "kafka", "options": {**OPTIONS, "assign": "{}"}}, ["subscribe and assign both say"]),
        ({"format": "kafka", "options": {**OPTIONS, "failOnDataLoss": False}}, ["failOnDataLoss can't be false"]),
        ({"format": "kafka", "options": {**OPTIONS, "endingOffsets": "latest"}}, ["no end"]),
        ({**KAFKA, "select": "id"}, ["select is a list", "and not 'id'"]),
        ({**KAFKA, "select": []}, ["select is a list"]),
        ({**KAFKA, "select": ["count(*) AS n"]}, ["has an aggregate", "into the model"]),
        ({**KAFKA, "select": ["lag(a) OVER (ORDER BY b)"]}, ["has OVER"]),
        ({**KAFKA, "select": ["* EXCEPT (a)"]}, ["'*' alone"]),
    ],
)
def test_mistakes(stream: Any, words: list[str]) -> None:
    with pytest.raises(StreamingError) as caught:
        reader_of({"stream": stream}, "shop.bid", ROOT)
    for word in words:
        assert word in str(caught.value)


def test_options_as_spark_wants_them() -> None:
    assert given_options({"options": {"a": True, "b": 1, "c": None}}) == {"a": "true", "b": "1"}


def test_where_kafka_is_makes_no_other_stream() -> None:
    def of(**options: Any) -> str:
        reader = {"format": "kafka", "options": {**OPTIONS, **options}, **JSON}
        source = source_of("stream_bid", "shop.bid", reader, event_time="at", watermark=Interval.parse("1 hour"))
        columns = (("id", "bigint"),)
        return Definition("select * from stream_bid", "spark", (source,), columns, False, "UTC").fingerprint

    assert of() == of(**{"kafka.bootstrap.servers": "OTHER:9092", "maxOffsetsPerTrigger": 10})
    assert len({of(), of(subscribe="asks"), of(startingOffsets="earliest")}) == 3


def test_offsets_in_a_checkpoint() -> None:
    assert _offset('{"logOffset":3}') == 3
    assert _offset('{"logOffset":{"0":7}}') == {"logOffset": {"0": 7}}  # a topic may have this name
    assert _offset('{"bids":{"0":7,"1":0}}') == {"bids": {"0": 7, "1": 0}}
    assert [_offset("-"), _offset("5"), _offset('{"at": 4}'), _offset("{}")] == [None] * 4


def test_where_a_relative_path_begins() -> None:
    """In the project's folder, wherever dbt is started; a Spark elsewhere doesn't know that folder."""
    assert located("incoming/../in", "shop.bid", Path("/work/shop"), True) == "/work/shop/in"
    for path in ("/data/in", "s3a://shop/in", "file:/data/in"):
        assert located(path, "shop.bid", Path("/work/shop"), False) == path
    with pytest.raises(StreamingError, match="begins in the project's folder") as error:
        located("incoming", "shop.bid", Path("/work/shop"), False)
    assert "s3a://bucket/incoming" in str(error.value)


def test_the_place_of_a_project_and_of_an_archive_make_no_other_query() -> None:
    def prints(reader: dict[str, Any], path: str | None) -> str:
        source = source_of("s", "t", reader=reader, path=path)
        return Definition("SELECT 1", "spark", (source,), (), False, "UTC").fingerprint

    was = prints({"format": "csv", "path": "incoming"}, None)
    assert prints({"format": "csv", "path": "/a/incoming"}, "incoming") == was
    assert prints({"format": "csv", "path": "/b/incoming", "archived": True}, "incoming") == was
    assert prints({"format": "csv", "path": "/b/incoming"}, None) != was


@pytest.mark.parametrize(
    ("reader", "expected"),
    [
        ({"archived": True}, True),
        ({"archived": False}, False),
        ({"options": {"cleanSource": "archive", "sourceArchiveDir": "/old"}}, True),
        ({"options": {"cleansource": "DELETE"}}, True),
        ({"options": {"cleanSource": "off"}}, False),
        ({}, False),
    ],
)
def test_files_that_go(reader: dict[str, Any], expected: bool) -> None:
    assert source_of("", "shop.bid", reader={"format": "csv", "path": "/in", **reader}).is_archived is expected
