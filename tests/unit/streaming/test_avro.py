"""Sources with values in Avro: their options, the schemas that they find, and messages of mistakes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dbt.adapters.sparkstream.streaming.fingerprint import Definition
from dbt.adapters.sparkstream.streaming.refusals import UNKNOWN_SCHEMA, StreamingError, UnknownSchema, explained
from dbt.adapters.sparkstream.streaming.sources.avro import Schemas
from dbt.adapters.sparkstream.streaming.sources.reader import reader_of, source_of
from tests.lib.schema_registry import FakeRegistry, registry

OPTIONS = {"kafka.bootstrap.servers": "HOST:9092", "subscribe": "bids"}
RECORD: dict[str, Any] = {"type": "record", "name": "bid", "fields": [{"name": "id", "type": "long"}]}
LONGER = {**RECORD, "fields": [*RECORD["fields"], {"name": "item", "type": "string", "default": ""}]}
WITH_REGISTRY: dict[str, Any] = {"schema_registry": "http://registry:8081"}


@pytest.fixture
def fake() -> Iterator[FakeRegistry]:
    with registry() as fake:
        yield fake


def read(root: Path = Path("no/project"), **stream: Any) -> dict[str, Any]:
    given = {"format": "kafka", "options": OPTIONS, "value_format": "avro", "schema": json.dumps(RECORD), **stream}
    return reader_of({"stream": {k: v for k, v in given.items() if v is not None}}, "shop.bid", root)


def test_a_schema_is_json_or_a_file_of_the_project(tmp_path: Path) -> None:
    (tmp_path / "schemas").mkdir()
    (tmp_path / "schemas" / "bid.avsc").write_text(json.dumps(RECORD, indent=4))
    assert read(tmp_path, schema="schemas/bid.avsc")["schema"] == json.dumps(RECORD)
    assert read(schema=json.dumps(RECORD, indent=1)) == read(schema=f"\n{json.dumps(RECORD)}\n")


def test_subjects_are_those_of_the_topics_unless_one_is_named() -> None:
    url = WITH_REGISTRY["schema_registry"]
    assert read(**WITH_REGISTRY)["schema_registry"] == {"url": url, "subjects": ["bids-value"]}
    both = read(options={**OPTIONS, "subscribe": "bids, asks"}, **WITH_REGISTRY)
    assert both["schema_registry"]["subjects"] == ["bids-value", "asks-value"]
    named = read(schema=2, schema_registry={"url": url, "subject": "shop.Bid"})
    assert named["schema_registry"] == {"url": url, "subjects": ["shop.Bid"]} and named["schema"] == 2


@pytest.mark.parametrize(
    ("stream", "words"),
    [
        ({"schema": None}, ["needs the schema of the value", "schemas/bid.avsc"]),
        ({"schema": None, **WITH_REGISTRY}, ["needs the schema of the value", "schema: 1, a version in the registry"]),
        ({"schema": "id bigint"}, ["the schema is no JSON", "schemas/bid.avsc"]),
        ({"schema": '"long"'}, ["no record of Avro", '"fields"']),
        ({"schema": "schemas/none.avsc"}, ["schemas/none.avsc can't be read", "No such file", "dbt_project.yml"]),
        ({"schema": 3}, ["schema: 3 needs a schema_registry"]),
        ({"schema_registry": "registry:8081"}, ["schema_registry isn't a URL", "http://HOST:8081"]),
        ({"schema_registry": {"url": "http://r", "id": 1}}, ["schema_registry has no 'id'", "url and subject"]),
        ({"schema_registry": {"url": "http://r", "subject": 1}}, ["subject is the name of a subject"]),
        ({"schema_registry": "http://ada:secret@r"}, ["has a user or a password", "~/.netrc", "machine r"]),
        (
            {"options": {**OPTIONS, "subscribe": None, "subscribePattern": "b.*"}, **WITH_REGISTRY},
            ["which subject", "subject: ..."],
        ),
        ({"value_options": {"avroSchema": "x"}}, ["can't have avroSchema", "left out, counted and kept"]),
        ({"value_options": {"MODE": "FAILFAST"}}, ["can't have MODE"]),
        ({"value_format": "json", "schema": "id int", **WITH_REGISTRY}, ["schema_registry is for value_format: avro"]),
    ],
)
def test_mistakes(stream: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(StreamingError) as caught:
        read(**stream)
    assert "secret" not in str(caught.value)
    for word in words:
        assert word in str(caught.value)


def test_the_schemas_of_a_registry(fake: FakeRegistry) -> None:
    fake.register("bids-value", RECORD, 7)
    fake.register("bids-value", LONGER, 12)
    found = Schemas.of(read(schema=2, schema_registry=fake.url))
    assert found.read_as == json.dumps(LONGER)
    assert found.written == {7: json.dumps(RECORD), 12: json.dumps(LONGER)}
    own = Schemas.of(read(schema_registry=fake.url))
    assert own.read_as == json.dumps(RECORD) and set(own.written) == {7, 12}


def test_a_schema_that_comes_later_is_asked_for(fake: FakeRegistry) -> None:
    fake.register("bids-value", RECORD, 7)
    schemas = Schemas.of(read(schema=1, schema_registry=fake.url))
    assert "X'000000000C'" not in schemas.sql("value", {}, "shop.bid")
    fake.register("other", LONGER, 12)
    schemas.learn(12)
    schemas.learn(99)
    assert schemas.written == {7: json.dumps(RECORD), 12: json.dumps(LONGER), 99: None}
    assert "WHEN substring(value, 1, 5) = X'0000000063' THEN NULL" in schemas.sql("value", {}, "shop.bid")


@pytest.mark.parametrize(
    ("facts", "schema", "words"),
    [
        ({"schemaType": "PROTOBUF"}, 1, ["version 1 of bids-value", "is PROTOBUF"]),
        ({"references": [{"name": "x", "subject": "y", "version": 1}]}, 1, ["refers to other subjects"]),
        ({}, 4, ["no version 4 of the subject bids-value", "it has 1"]),
    ],
)
def test_what_a_registry_has_and_avro_isnt(
    fake: FakeRegistry, facts: dict[str, Any], schema: int, words: list[str]
) -> None:
    fake.register("bids-value", RECORD, 7, **facts)
    with pytest.raises(StreamingError) as caught:
        Schemas.of(read(schema=schema, schema_registry=fake.url))
    for word in words:
        assert word in str(caught.value)


def test_a_registry_without_the_subject_or_without_a_word(fake: FakeRegistry) -> None:
    with pytest.raises(StreamingError, match=r"no subject bids-value\n.*-value behind it"):
        Schemas.of(read(schema_registry=fake.url))
    with pytest.raises(StreamingError, match=r"can't be asked: .*\n.*netrc"):
        Schemas.of(read(schema_registry="http://127.0.0.1:1"))


def test_an_unknown_schema_in_sparks_words() -> None:
    said = StreamingError(f"[USER_RAISED_EXCEPTION] {UNKNOWN_SCHEMA} 17 <`my db`.`bid`> SQLSTATE: P0001")
    found = explained(said, "checkpoint")
    assert isinstance(found, UnknownSchema) and (found.id, found.relation) == (17, "`my db`.`bid`")


def test_a_schema_makes_another_stream_and_the_place_of_the_registry_none() -> None:
    def of(**stream: Any) -> str:
        source = source_of("stream_bid", "shop.bid", reader=read(**stream))
        columns = (("id", "bigint"),)
        return Definition("select * from stream_bid", "spark", (source,), columns, False, "UTC").fingerprint

    assert of(**WITH_REGISTRY) == of(schema_registry="https://other:8081")
    assert len({of(), of(**WITH_REGISTRY), of(schema=json.dumps(LONGER)), of(schema=1, **WITH_REGISTRY)}) == 4
