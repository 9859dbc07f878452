"""`config(sink=...)`, and messages of mistakes in it."""

from __future__ import annotations

from typing import Any

import pytest

from dbt.adapters.sparkstream.streaming.model import StreamConfig
from dbt.adapters.sparkstream.streaming.refusals import StreamingError
from dbt.adapters.sparkstream.streaming.sinks.topic import Topic

OPTIONS = {"kafka.bootstrap.servers": "HOST:9092"}
SINK = {"format": "kafka", "topic": "bids", "options": OPTIONS}
COLUMNS = (("item", "string"), ("window_end", "timestamp"), ("raw", "binary"))


def key_of(key: Any) -> str:
    return Topic.read({**SINK, "key": key}).producer(COLUMNS, "t1").key


def test_keys() -> None:
    assert key_of(None) == "CAST(NULL AS STRING)"
    assert key_of("ITEM") == "CAST(`item` AS STRING)"
    assert key_of(["raw"]) == "`raw`"
    assert key_of(["item", "window_end"]) == "to_json(struct(`item`, `window_end`), map('ignoreNullFields', 'false'))"


def test_values() -> None:
    everything = "struct(`item`, `window_end`, `raw`)"
    values = [
        Topic.read({**SINK, **more}).producer(COLUMNS, "t1").value
        for more in ({}, {"value_format": "csv"}, {"value_options": {"ignoreNullFields": True}})
    ]
    assert values == [
        f"to_json({everything}, map('ignoreNullFields', 'false'))",
        f"to_csv({everything})",
        f"to_json({everything}, map('ignoreNullFields', 'true'))",
    ]


def test_it_is_a_config_of_a_streaming_model() -> None:
    topic = StreamConfig.read({"sink": SINK}).topic
    assert topic is not None
    assert topic.producer(COLUMNS, "t1").options == {**OPTIONS, "topic": "bids"}
    assert StreamConfig.read({}).topic is None


@pytest.mark.parametrize(
    ("sink", "words"),
    [
        ("kafka", ["sink is not a mapping", "'topic': 'bids'"]),
        ({**SINK, "topics": "bids"}, ["no 'topics'", "did you mean topic?"]),
        ({**SINK, "zzz": 1}, ["no 'zzz'", "go to options"]),
        ({**SINK, "format": "delta"}, ["can't be 'delta'", "to Kafka if you like"]),
        ({"topic": "bids", "options": OPTIONS}, ["has no format"]),
        ({**SINK, "topic": None}, ["no topic"]),
        ({**SINK, "options": None}, ["where Kafka is"]),
        ({**SINK, "options": "HOST:9092"}, ["options is not a mapping"]),
        ({**SINK, "options": {**OPTIONS, "topic": "asks"}}, ["options have a topic", "beside the options"]),
        ({**SINK, "value_format": "xml"}, ["can't be 'xml'", "json, csv, avro"]),
        ({**SINK, "value_format": "avro", "value_options": {"a": 1}}, ["value_options are those of json and csv"]),
        ({**SINK, "schema": "a int"}, ["sink's schema is for value_format 'avro'"]),
        ({**SINK, "schema_registry": "http://r"}, ["sink's schema_registry is for value_format 'avro'"]),
        ({**SINK, "value_format": "avro", "schema": "no.avsc"}, ["sink: the schema no.avsc can't be read"]),
        ({**SINK, "value_format": "avro", "schema": 1}, ["a version such as schema: 1 needs a schema_registry"]),
        ({**SINK, "value_format": "avro", "schema_registry": "r"}, ["sink: schema_registry isn't a URL"]),
        ({**SINK, "key": 5}, ["key is a column or a list of columns"]),
        ({**SINK, "key": [1]}, ["key is a column or a list of columns"]),
    ],
)
def test_mistakes(sink: Any, words: list[str]) -> None:
    with pytest.raises(StreamingError) as caught:
        StreamConfig.read({"sink": sink})
    for word in words:
        assert word in str(caught.value)


def test_a_key_that_is_no_column() -> None:
    with pytest.raises(StreamingError, match=r"a column price, and the model hasn't\n  it has item, window_end, raw"):
        key_of(["price"])
