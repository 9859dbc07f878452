"""Tables of Flink's connector to Kafka: the stream that a source of the project is, and the sink of a model."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from dbt.adapters.sparkstream.flinkscript.formats import csv_options
from dbt.adapters.sparkstream.flinkscript.queries import named
from dbt.adapters.sparkstream.flinkscript.tables import ColumnDefinition, TableDefinition

KAFKA = "kafka"
UPSERT = "upsert-kafka"

_PROPERTIES = "properties."
_NOT_SPARKS = ("bootstrap.servers", "group.id", "auto.offset.reset", "client.id.prefix")
"""Properties of Flink's client that Spark has no use for, or that have a place of their own."""

_METADATA = {
    "topic": "topic",
    "partition": "partition",
    "offset": "offset",
    "timestamp": "timestamp",
    "headers": "headers",
}
"""Metadata key of Flink -> column of Spark's source; `headers` is a list of pairs there, and a map in Flink."""

_OF_TIMES = {
    "SQL": "yyyy-MM-dd HH:mm:ss.SSS",
    "ISO-8601": "yyyy-MM-dd'T'HH:mm:ss.SSS",
}
"""`json.timestamp-format.standard` -> how Spark writes such a time."""


@dataclass(frozen=True)
class Topic:
    """What the project has of a topic.

    Attributes:
        stream: what `meta: stream:` of the source says, or a model's config `sink`; empty where it can't be said.
        fault: why it can't be said; empty where it can.
        notes: what is different from Flink.
    """

    stream: dict[str, Any] = field(default_factory=dict)
    fault: str = ""
    notes: tuple[str, ...] = ()


def connector_package() -> str:
    """Spark's package for Kafka, of the Spark that is installed here."""
    try:
        installed = version("pyspark")
    except PackageNotFoundError:
        installed = "4.2.0"
    return f"org.apache.spark:spark-sql-kafka-0-10_2.13:{installed}"


def read_from(table: TableDefinition) -> Topic:
    """The stream of a table that nothing in the script writes to."""
    options = table.options
    fault = _fault(table, ("topic", "topic-pattern"), ("json", "csv", "raw"))
    if fault:
        return Topic(fault=fault)
    value_format, keys = _format(options), _keys(table)
    columns = [c for c in table.columns if c.expression is None]
    of_value = [c for c in columns if c.metadata is None and c.name not in keys]
    if value_format == "raw" and (len(of_value) != 1 or of_value[0].type not in ("string", "binary")):
        return Topic(fault="a value in the format raw is one column, of STRING or BYTES, here")
    of_kafka = "" if value_format == "raw" else "kafka_"
    notes = [*_begin_notes(options), *_notes(table, value_format)]
    items = []
    for column in columns:
        if column.metadata is not None:
            items.append(_metadata(column, of_kafka, notes))
        elif column.name in keys:
            items.append(_key(column, of_kafka, options))
        elif value_format == "raw":
            items.append(f"CAST(value AS {column.type}) AS {named(column.name)}")
        else:
            items.append(named(column.name))
    stream: dict[str, Any] = {"format": KAFKA, "options": {**_client(options), **_where(options), **_begin(options)}}
    if value_format != "raw":
        stream["value_format"] = value_format
        stream["schema"] = ", ".join(f"{named(c.name)} {c.type}" for c in of_value)
    if value_format == "csv" and (given := _csv(options)):
        stream["value_options"] = given
    if any(c.metadata == "headers" for c in columns):
        stream["options"]["includeHeaders"] = "true"
    if items != [named(c.name) for c in of_value]:
        stream["select"] = items
    return Topic(stream, notes=tuple(notes))


def sent_to(table: TableDefinition) -> Topic:
    """The `sink` of a model with the rows of a table that the script writes to."""
    options = table.options
    fault = _fault(table, ("topic",), ("json", "csv"))
    if not fault and ";" in options["topic"]:
        fault = "Flink chooses between several topics by a metadata column, and a sink has one topic"
    if fault:
        return Topic(fault=fault)
    value_format = _format(options)
    sink: dict[str, Any] = {"format": KAFKA, "topic": options["topic"]}
    keys = list(table.keys) if table.connector == UPSERT else _listed(options.get("key.fields", ""))
    if keys:
        sink["key"] = keys[0] if len(keys) == 1 else keys
    if value_format != "json":
        sink["value_format"] = value_format
    if given := dict(_json_times(table) if value_format == "json" else _csv(options)):
        sink["value_options"] = given
    sink["options"] = _client(options)
    notes = []
    if len(keys) == 1 and options.get("key.format") == "json":
        notes.append("a key of one column is written as text, and not as JSON")
    if options.get("value.fields-include") == "EXCEPT_KEY" or "key.fields-prefix" in options:
        notes.append("values have all columns, those of the key too, under the names of the columns")
    if any(c.metadata is not None and not c.virtual for c in table.columns):
        notes.append("metadata columns are fields of the value, and don't set what Kafka knows of a record")
    if "exactly-once" in (options.get("sink.delivery-guarantee"), options.get("sink.semantic")):
        notes.append("the topic has each row at least once; the table has it exactly once")
    return Topic(sink, notes=tuple(notes))


def _fault(table: TableDefinition, topics: tuple[str, ...], formats: tuple[str, ...]) -> str:
    """Why records of a table can't be read or written."""
    options = table.options
    if not any(options.get(name) for name in topics):
        return "WITH has no topic"
    if not options.get(f"{_PROPERTIES}bootstrap.servers"):
        return "WITH has no properties.bootstrap.servers"
    value_format = _format(options)
    if value_format not in formats:
        return f"values in the format {value_format} need a schema, a registry or a function of your own"
    return ""


def _format(options: Mapping[str, str]) -> str:
    return options.get("value.format", options.get("format", ""))


def _keys(table: TableDefinition) -> list[str]:
    """The columns that only the key of a record has: values of other columns win over the key's."""
    if table.options.get("value.fields-include") != "EXCEPT_KEY":
        return []
    return _listed(table.options.get("key.fields", ""))


def _listed(text: str) -> list[str]:
    return [name.strip() for name in text.split(";") if name.strip()]


def _client(options: Mapping[str, str]) -> dict[str, str]:
    """The settings of Kafka's client, under Spark's names."""
    found = {"kafka.bootstrap.servers": options[f"{_PROPERTIES}bootstrap.servers"]}
    for key, value in options.items():
        name = key.removeprefix(_PROPERTIES)
        if name != key and name not in _NOT_SPARKS:
            found[f"kafka.{name}"] = value
    return found


def _where(options: Mapping[str, str]) -> dict[str, str]:
    if "topic" in options:
        return {"subscribe": ",".join(_listed(options["topic"]))}
    return {"subscribePattern": options["topic-pattern"]}


def _begin(options: Mapping[str, str]) -> dict[str, str]:
    """Where the first run begins."""
    mode = options.get("scan.startup.mode", "group-offsets")
    if mode == "latest-offset" or (mode == "group-offsets" and _resets(options) == "latest"):
        return {"startingOffsets": "latest"}
    if mode == "timestamp":
        # Where no record is as late, Flink begins behind the last one.
        at = options.get("scan.startup.timestamp-millis", "0")
        return {"startingTimestamp": at, "startingOffsetsByTimestampStrategy": "latest"}
    if mode == "specific-offsets":
        offsets = dict(_offsets(options.get("scan.startup.specific-offsets", "")))
        return {"startingOffsets": json.dumps({options.get("topic", ""): offsets})}
    return {"startingOffsets": "earliest"}


def _resets(options: Mapping[str, str]) -> str:
    return options.get(f"{_PROPERTIES}auto.offset.reset", "")


def _offsets(text: str) -> Iterator[tuple[str, int]]:
    """`partition:0,offset:42;partition:1,offset:300` as pairs."""
    for part in _listed(text):
        pairs = dict(pair.split(":", 1) for pair in part.split(",") if ":" in pair)
        if pairs.get("partition", "").strip().isdigit() and pairs.get("offset", "").strip().isdigit():
            yield pairs["partition"].strip(), int(pairs["offset"])


def _begin_notes(options: Mapping[str, str]) -> Iterator[str]:
    mode = options.get("scan.startup.mode", "group-offsets")
    if mode == "group-offsets" and _resets(options) not in ("earliest", "latest"):
        yield "Spark goes by no consumer group: the first run begins at the earliest record"
    if mode == "specific-offsets":
        yield "startingOffsets has to name each partition of the topic"
    if options.get("scan.bounded.mode", "unbounded") != "unbounded":
        yield "each run reads what is there by then, and the next one goes on"


def _notes(table: TableDefinition, value_format: str) -> Iterator[str]:
    options = table.options
    if value_format != "raw" and not any(
        options.get(f"{head}{value_format}.ignore-parse-errors", "").lower() == "true" for head in ("", "value.")
    ):
        yield "a value that can't be read is set aside and counted, where Flink's job fails"
    if any("password" in key or "jaas" in key for key in options):
        yield "a secret of the script stands in models/inputs.yml: put it into a file on Spark's machines"


def _metadata(column: ColumnDefinition, prefix: str, notes: list[str]) -> str:
    found = _METADATA.get(column.metadata or "")
    if found is None:
        notes.append(f"{column.name} is NULL: Spark doesn't know {column.metadata!r} of a record")
        return f"CAST(NULL AS {column.type}) AS {named(column.name)}"
    value = f"{prefix}{found}"
    if found == "headers":
        value = f"map_from_entries({value})"
    return f"CAST({value} AS {column.type}) AS {named(column.name)}"


def _key(column: ColumnDefinition, prefix: str, options: Mapping[str, str]) -> str:
    """A column that the key of a record has."""
    name = column.name.removeprefix(options.get("key.fields-prefix", ""))
    text = f"CAST({prefix}key AS STRING)"
    kind = options.get("key.format", "")
    if kind == "json":
        return f"from_json({text}, '{named(name)} {column.type}').{named(name)} AS {named(column.name)}"
    if kind == "csv":
        fields = ", ".join(f"f{number} STRING" for number in range(len(_listed(options["key.fields"]))))
        at = _listed(options["key.fields"]).index(column.name)
        return f"CAST(from_csv({text}, '{fields}').f{at} AS {column.type}) AS {named(column.name)}"
    return f"CAST({text} AS {column.type}) AS {named(column.name)}"


def _csv(options: Mapping[str, str]) -> dict[str, str]:
    """Options of Spark's from_csv and to_csv; what is malformed is set aside in any case."""
    named_csv = {key.removeprefix("value."): value for key, value in options.items()}
    return {key: value for key, value in csv_options(named_csv).items() if key != "mode"}


def _json_times(table: TableDefinition) -> Iterator[tuple[str, str]]:
    """How times are written in JSON: as Flink does, and not as Spark would."""
    options = table.options
    key = "json.timestamp-format.standard"
    standard = options.get(key) or options.get(f"value.{key}", "SQL")
    form = _OF_TIMES.get(standard, _OF_TIMES["SQL"])
    types = " ".join(c.type or "" for c in table.columns)
    if "timestamp_ntz" in types:
        yield "timestampNTZFormat", form
    if "timestamp" in types.replace("timestamp_ntz", ""):
        yield "timestampFormat", f"{form}'Z'"
        yield "timeZone", "UTC"
