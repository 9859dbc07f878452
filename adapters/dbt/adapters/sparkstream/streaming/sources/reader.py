"""Sources that aren't tables: the keys in `meta: stream:` of a dbt source, checked."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dbt.adapters.sparkstream.sql import TranslationError
from dbt.adapters.sparkstream.sql.core.errors import did_you_mean
from dbt.adapters.sparkstream.sql.streaming import RowView
from dbt.adapters.sparkstream.streaming.refusals import StreamingError
from dbt.adapters.sparkstream.streaming.sources.avro import AVRO, FORMATS, registry_of, schema_of
from dbt.adapters.sparkstream.streaming.sources.kafka import KAFKA, Kafka
from dbt.adapters.sparkstream.streaming.sources.python import DATA_SOURCE, PythonClass
from dbt.adapters.sparkstream.streaming.sources.source import Files, StreamSource, Table
from dbt.adapters.sparkstream.streaming.spark.folders import is_relative

KEYS = (
    *("format", DATA_SOURCE, "path", "archived", "schema", "options"),
    *("value_format", "value_options", "schema_registry", "select"),
)

READ_FROM = "__read"
"""Name in FROM for the rows that a `select` reads."""


def source_of(view: str, relation: str, reader: Mapping[str, Any] | None = None, **others: Any) -> StreamSource:
    """The source of a stream, of its kind; arguments as for `StreamSource`."""
    kind: type[StreamSource] = Files if reader and "path" in reader else StreamSource
    if not reader:
        kind = Table
    elif DATA_SOURCE in reader:
        kind = PythonClass
    elif str(reader.get("format", "")).casefold() == KAFKA:
        kind = Kafka
    return kind(view, relation, reader=reader or {}, **others)


def reader_of(meta: Mapping[str, Any], relation: str, root: Path) -> dict[str, Any]:
    """Keys in `meta: stream:` of a source, checked; empty if it has none. Files with schemas are read."""
    given = meta.get("stream") or {}
    if not isinstance(given, Mapping):
        raise StreamingError(
            f"{relation}: meta's stream is not a mapping\n  write it such as stream: {{format: json, path: ...}}"
        )
    reader = dict(given)
    if not reader:
        return reader
    for key in reader:
        if key not in KEYS:
            hint = did_you_mean(key, KEYS, f"it has {', '.join(KEYS)}; what Spark has goes to options")
            raise StreamingError(f"{relation}: meta's stream has no {key!r}\n  {hint}")
    _check_kind(reader, relation)
    for key in ("options", "value_options"):
        if not isinstance(reader.get(key) or {}, Mapping):
            raise StreamingError(f"{relation}: {key} is not a mapping\n  write it such as {key}: {{name: value}}")
    if not isinstance(reader.get("path", ""), str):
        raise StreamingError(f"{relation}: path is no text: {reader['path']!r}\n  write it such as path: incoming")
    _check_values(reader, relation)
    if reader.get("value_format") == AVRO:
        if "schema_registry" in reader:
            topics = source_of("", relation, reader=reader).folded.get("subscribe", "")
            reader["schema_registry"] = registry_of(reader["schema_registry"], relation, topics)
        reader["schema"] = schema_of(reader.get("schema"), relation, root, "schema_registry" in reader)
    source_of("", relation, reader=reader).check()
    if "select" in reader:
        select = reader["select"]
        if not isinstance(select, list) or not select or not all(isinstance(item, str) for item in select):
            raise StreamingError(
                f"{relation}: select is a list of SQL expressions, and not {select!r}\n"
                "  write it such as select: ['id', 'CAST(at AS TIMESTAMP) AS at']"
            )
        row_view(select)
    return reader


def _check_kind(reader: Mapping[str, Any], relation: str) -> None:
    if "format" not in reader and DATA_SOURCE not in reader:
        raise StreamingError(
            f"{relation}: meta's stream has no format\n  write it such as stream: {{format: json, path: ...}}"
        )
    if DATA_SOURCE not in reader:
        return
    if "format" in reader:
        raise StreamingError(
            f"{relation}: format and {DATA_SOURCE} both say what the source is\n"
            f"  leave one of them out: {DATA_SOURCE} is a class in Python, format a source that Spark knows by name"
        )
    module, _, name = str(reader[DATA_SOURCE]).partition(":")
    if not (all(part.isidentifier() for part in module.split(".")) and name.isidentifier()):
        raise StreamingError(
            f"{relation}: {DATA_SOURCE} can't be {reader[DATA_SOURCE]!r}\n"
            f"  write the module and the class, such as {DATA_SOURCE}: my_package.my_module:MySource"
        )


def _check_values(reader: Mapping[str, Any], relation: str) -> None:
    format_ = reader.get("value_format")
    if format_ is None:
        if "value_options" in reader:
            raise StreamingError(f"{relation}: value_options are those of a value_format\n  write value_format: json")
        return
    if format_ not in FORMATS:
        raise StreamingError(
            f"{relation}: value_format can't be {format_!r}\n  write one of {', '.join(FORMATS)}; what is of another "
            "format can be read in a select, such as select: [\"split(CAST(value AS STRING), ';')[0] AS id\"]"
        )
    if format_ != AVRO and not isinstance(reader.get("schema"), str):
        raise StreamingError(
            f"{relation}: value_format: {format_} needs the schema of the value\n"
            "  write it such as schema: 'id bigint, at timestamp'"
        )
    if format_ != AVRO and "schema_registry" in reader:
        raise StreamingError(f"{relation}: schema_registry is for value_format: avro\n  leave it out")
    given = map(str, reader.get("value_options") or {})
    ours = ("mode", "avroschema" if format_ == AVRO else "columnnameofcorruptrecord")
    strange = next((name for name in given if name.casefold() in ours), None)
    if strange is not None:
        raise StreamingError(
            f"{relation}: value_options can't have {strange}: values that can't be read are left out, counted and kept"
            "\n  leave it out"
        )


def located(path: str, relation: str, root: Path, is_here: bool) -> str:
    """Path of a source's files: a relative path begins in the project's folder, which Spark has if it `is_here`."""
    if not is_relative(path):
        return path
    if not is_here:
        raise StreamingError(
            f"{relation}: path: {path} begins in the project's folder, and Spark is in another process, on another "
            "machine perhaps, that doesn't know this folder\n"
            "  write a path that Spark's machines share, such as /data/incoming or s3a://bucket/incoming"
        )
    return os.path.normpath(root.absolute() / path)


def row_view(select: Sequence[str]) -> RowView:
    """The query of a `select`."""
    for item in select:
        if item.strip() != "*" and item.strip().startswith("*"):
            raise StreamingError(f"select has {item!r}\n  write '*' alone for all columns, or list them")
    try:
        items = ",\n".join(select)  # one may end in a line comment
        return RowView.read(f"SELECT {items}\nFROM {READ_FROM}")
    except TranslationError as error:
        raise StreamingError(
            f"select makes each row of one row of the source, and can't be understood: {error.message}\n"
            "  put what it does into the model"
        ) from error
