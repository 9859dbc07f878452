"""Schemas of rows that are sent in Avro."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dbt.adapters.sparkstream.streaming.refusals import StreamingError
from dbt.adapters.sparkstream.streaming.sinks.avro import AvroRows, check, record
from dbt.adapters.sparkstream.streaming.sources.schema_registry import SchemaRegistry
from tests.lib.schema_registry import registry

COLUMNS = (("id", "bigint"), ("at", "timestamp"), ("item", "string"), ("money", "decimal(10,2)"))


def schema_of(**types: Any) -> str:
    return json.dumps({"type": "record", "name": "r", "fields": [{"name": n, "type": t} for n, t in types.items()]})


def test_types_of_columns() -> None:
    columns = (("a", "array<map<string,struct<x:int,y:date>>>"), ("b", "timestamp_ntz"), ("c", "varchar(3)"))
    made = record(columns, "rows")
    types = [field["type"][1] for field in made["fields"]]
    date = {"type": "int", "logicalType": "date"}
    inner = [
        {"name": "x", "type": ["null", "int"], "default": None},
        {"name": "y", "type": ["null", date], "default": None},
    ]
    struct = {"type": "record", "name": "rows_a", "fields": inner}
    assert types == [
        {"type": "array", "items": ["null", {"type": "map", "values": ["null", struct]}]},
        {"type": "long", "logicalType": "local-timestamp-micros"},
        "string",
    ]


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (("n", "void"), "no type for n, a VOID"),
        (("n", "interval day to second"), "no type for n"),
        (("n", "map<int,int>"), "no type for n, a MAP<INT, INT>"),
        (("n", "array<variant>"), "no type for n, a VARIANT"),
        (("größe", "int"), "'größe' is no name of a field"),
        (("1st", "int"), "'1st' is no name of a field"),
    ],
)
def test_what_avro_has_not(column: tuple[str, str], words: str) -> None:
    with pytest.raises(StreamingError, match=words):
        record([column], "rows")


MONEY = {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}
MILLIS = {"type": "long", "logicalType": "timestamp-millis"}


@pytest.mark.parametrize(
    "types",
    [
        {"id": "long", "at": MILLIS, "item": ["null", "string"], "money": MONEY},
        {"ID": ["long", "null"], "at": [MILLIS, "null"], "item": {"type": "string"}, "money": MONEY},
        {
            "id": "long",
            "at": MILLIS,
            "item": {"type": "enum", "name": "e", "symbols": ["a"]},
            "money": {**MONEY, "type": "fixed", "name": "f", "size": 8},
        },
    ],
)
def test_schemas_that_fit(types: dict[str, Any]) -> None:
    check(schema_of(**types), COLUMNS)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"id": "int"}, '"int" for id, and the column would be written as "long"'),
        ({"id": ["null", "long", "string"]}, "for id"),
        ({"at": "long"}, "for at"),
        ({"at": {"type": "long", "logicalType": "local-timestamp-micros"}}, "for at"),
        ({"money": {**MONEY, "scale": 3}}, "for money"),
        ({"more": "int"}, "a field more that the model hasn't"),
        ({"item": None}, "no field item"),
    ],
)
def test_schemas_that_do_not_fit(changed: dict[str, Any], words: str) -> None:
    types = {"id": "long", "at": MILLIS, "item": "string", "money": MONEY, **changed}
    with pytest.raises(StreamingError) as caught:
        check(schema_of(**{name: type_ for name, type_ in types.items() if type_ is not None}), COLUMNS)
    assert words in str(caught.value)


def test_a_registry_gets_no_schema_of_rows_that_are_only_checked() -> None:
    with registry() as fake:
        rows = AvroRows("bids", schema_of(id="long"), (fake.url, "bids-value"))
        assert rows.sql([("id", "bigint")], "struct(*)", registers=False).startswith("to_avro(struct(*), '")
        assert fake.subjects == {}
        with pytest.raises(StreamingError, match="no field at"):
            rows.sql([("id", "bigint"), ("at", "date")], "struct(*)")
        assert fake.subjects == {}


def test_a_version_is_asked_for_once() -> None:
    with registry() as fake:
        SchemaRegistry(fake.url).register("bids-value", schema_of(id="long"))
        rows = AvroRows("bids", 1, (fake.url, "bids-value"))
        checked = rows.sql([("id", "bigint")], "struct(*)", registers=False)
    assert rows.sql([("id", "bigint")], "struct(*)") == f"concat(X'0000000065', {checked})"


@pytest.mark.parametrize("fields", ['{"name": "id"}', '{"type": "long"}', '"id"', '{"name": 1, "type": "long"}'])
def test_fields_that_are_none(fields: str, tmp_path: Path) -> None:
    given = {"schema": f'{{"type": "record", "name": "r", "fields": [{fields}]}}'}
    with pytest.raises(StreamingError, match="no record of Avro"):
        AvroRows.read(given, "bids", tmp_path)


@pytest.mark.parametrize("type_", [{"type": "array"}, {"type": "map"}, {"type": "record", "name": "s", "fields": [1]}])
def test_types_that_lack_something(type_: Any) -> None:
    for column in ("array<int>", "map<string,int>", "struct<a:int>"):
        with pytest.raises(StreamingError, match="for id"):
            check(schema_of(id=type_), [("id", column)])


def test_a_registry_gets_a_schema_once() -> None:
    with registry() as fake:
        rows = AvroRows("bids.closed", None, (fake.url, "bids-value"))
        [one, other] = [rows.sql(COLUMNS, "struct(*)") for _ in range(2)]
        assert one == other
        assert one.startswith("concat(X'0000000065', to_avro(struct(*), '")
        assert fake.subjects == {"bids-value": [101]}
        assert json.loads(fake.schemas[101]["schema"])["name"] == "bids_closed"
        fake.refuses = "the field id has another type"
        with pytest.raises(StreamingError, match="bids-value: the field id has another type"):
            rows.sql(COLUMNS[1:], "struct(*)")
    with pytest.raises(StreamingError, match="can't be asked"):
        rows.sql(COLUMNS, "struct(*)")
