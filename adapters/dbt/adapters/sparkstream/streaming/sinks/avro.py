"""Rows in Avro for a topic: the schema that they are written with, and SQL that writes them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from sqlglot import exp
from sqlglot.errors import SqlglotError

from dbt.adapters.sparkstream.sql.core.literals import string_literal
from dbt.adapters.sparkstream.streaming.refusals import StreamingError
from dbt.adapters.sparkstream.streaming.sources.avro import fields_of, registry_of, schema_of
from dbt.adapters.sparkstream.streaming.sources.schema_registry import Registered, SchemaRegistry

Type = exp.DType

PLAIN: dict[Any, Any] = {
    Type.BOOLEAN: "boolean",
    Type.TINYINT: "int",
    Type.SMALLINT: "int",
    Type.INT: "int",
    Type.BIGINT: "long",
    Type.FLOAT: "float",
    Type.DOUBLE: "double",
    Type.TEXT: "string",
    Type.CHAR: "string",
    Type.VARCHAR: "string",
    Type.BINARY: "bytes",
    Type.DATE: {"type": "int", "logicalType": "date"},
    Type.TIMESTAMPTZ: {"type": "long", "logicalType": "timestamp-micros"},
    Type.TIMESTAMPNTZ: {"type": "long", "logicalType": "local-timestamp-micros"},
}
"""Type of Spark without types in it -> its type in Avro."""

ALIKE = {"enum": "string", "fixed": "bytes"}
"""Type in Avro that a given schema may have -> the type in whose place it is; Spark writes both."""

_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_SINK = "sink"


@dataclass(frozen=True)
class AvroRows:
    """Schema and registry with which the rows of a model are written in Avro.

    Attributes:
        topic: the topic, which a schema of the columns is named by.
        schema: the rows' schema as JSON, or the number of its version in the registry; None to make one of the columns.
        registry: `url` and `subjects` of a registry; none for values without a number before them.
    """

    topic: str
    schema: str | int | None = None
    registry: tuple[str, str] | None = None

    @classmethod
    def read(cls, given: Mapping[str, Any], topic: str, root: Path) -> AvroRows:
        """Schema and registry in the config of a sink, whose topic names the subject; files with schemas are read."""
        registry = None
        if given.get("schema_registry") is not None:
            # A comma in a name would make two topics of it.
            said = registry_of(given["schema_registry"], _SINK, topic)
            registry = (str(said["url"]), str(said["subjects"][0]))
        schema = given.get("schema")
        if schema is not None:
            schema = schema_of(schema, _SINK, root, registry is not None)
        return cls(topic, schema, registry)

    def sql(self, columns: Sequence[tuple[str, str]], row: str, *, registers: bool = True) -> str:
        """SQL that writes a row as bytes; `registers` gives the registry the schema, whose number comes first."""
        schema = self._schema(columns)
        written = f"to_avro({row}, {string_literal(schema)})"
        if self.registry is None or not registers:
            return written
        url, subject = self.registry
        number = self._version.id if isinstance(self.schema, int) else SchemaRegistry(url).register(subject, schema)
        return f"concat(X'00{number:08X}', {written})"

    def _schema(self, columns: Sequence[tuple[str, str]]) -> str:
        if self.schema is None:
            return json.dumps(record(columns, re.sub(r"\W|^(?=\d)", "_", self.topic, flags=re.ASCII)))
        schema = self.schema if isinstance(self.schema, str) else self._version.schema
        check(schema, columns)
        return schema

    @cached_property
    def _version(self) -> Registered:
        """The schema whose version is given, which never changes."""
        assert self.registry is not None and isinstance(self.schema, int)
        url, subject = self.registry
        return SchemaRegistry(url).version(subject, self.schema)


def record(columns: Sequence[tuple[str, str]], name: str) -> dict[str, Any]:
    """The schema of rows, each column of which may be NULL."""
    fields = []
    for column, type_ in columns:
        if not _NAME.fullmatch(column):
            raise StreamingError(
                f"the sink's value_format is avro, and {column!r} is no name of a field there\n"
                "  give the column an alias of letters, digits and _"
            )
        try:
            avro = _type(exp.DataType.build(type_, dialect="spark"), f"{name}_{column}", column)
        except SqlglotError as error:
            raise _absent(column, type_) from error
        fields.append({"name": column, "type": ["null", avro], "default": None})
    return {"type": "record", "name": name, "fields": fields}


def check(schema: str, columns: Sequence[tuple[str, str]]) -> None:
    """Checks that rows can be written with a schema, before any is in the table."""
    read = json.loads(schema)
    fields = {str(field["name"]).casefold(): field for field in fields_of(read) or []}
    names = {name.casefold() for name, _ in columns}
    only = [
        *(f"no field {name}" for name, _ in columns if name.casefold() not in fields),
        *(f"a field {field['name']} that the model hasn't" for name, field in fields.items() if name not in names),
    ]
    if only:
        raise StreamingError(
            f"the sink's schema has {only[0]}\n  the model has {', '.join(name for name, _ in columns)}: "
            "select what the schema has, or leave schema out to have one of the model's columns"
        )
    made = record(columns, "row")
    for field in made["fields"]:
        given = fields[field["name"].casefold()]
        if _form(field["type"]) != _form(given["type"]):
            raise StreamingError(
                f"the sink's schema has {json.dumps(given['type'])} for {given['name']}, and the column would be "
                f"written as {json.dumps(field['type'][1])}\n  cast the column, or write that into the schema"
            )


def _form(type_: Any) -> Any:
    """A form of a type, equal for all types as which Spark writes the same column; None for one that it can't write."""
    if isinstance(type_, list):  # a union with null; Spark takes no other
        rest = [one for one in type_ if one != "null"]
        return _form(rest[0]) if len(rest) == 1 else None
    given = type_ if isinstance(type_, dict) else {"type": type_}
    kind = given.get("type")
    if isinstance(kind, dict | list):
        return _form(kind)
    if kind == "array":
        return kind, _form(given.get("items", "null"))
    if kind == "map":
        return kind, _form(given.get("values", "null"))
    if kind == "record":
        return kind, {field["name"].casefold(): _form(field["type"]) for field in fields_of(given) or []}
    kind, logical = ALIKE.get(str(kind), kind), given.get("logicalType", "")
    if logical == "decimal":
        return kind, logical, given.get("precision", 0), given.get("scale", 0)
    # Spark writes a TIMESTAMP as milliseconds or microseconds; a long without a type would be read as a number.
    return kind, logical.removesuffix("-micros").removesuffix("-millis")


def _type(type_: exp.DataType, name: str, column: str) -> Any:
    kind = type_.this
    if kind in PLAIN:
        return PLAIN[kind]
    if kind == Type.DECIMAL:
        precision, scale = (int(part.name) for part in type_.expressions)
        return {"type": "bytes", "logicalType": "decimal", "precision": precision, "scale": scale}
    if kind == Type.ARRAY:
        return {"type": "array", "items": ["null", _type(type_.expressions[0], name, column)]}
    if kind == Type.MAP and type_.expressions[0].this == Type.TEXT:
        return {"type": "map", "values": ["null", _type(type_.expressions[1], name, column)]}
    if kind == Type.STRUCT:
        # Records have names of their own, each once in a schema.
        fields = [
            {"name": f.name, "type": ["null", _type(f.args["kind"], f"{name}_{f.name}", column)], "default": None}
            for f in type_.expressions
        ]
        return {"type": "record", "name": name, "fields": fields}
    raise _absent(column, type_.sql(dialect="spark"))


def _absent(column: str, type_: str) -> StreamingError:
    return StreamingError(
        f"the sink's value_format is avro, which has no type for {column}, a {type_.upper()}\n"
        f"  cast it, such as CAST({column} AS STRING), or leave it to the table"
    )
