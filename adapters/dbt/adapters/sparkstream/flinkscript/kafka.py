"""Tables of Flink's connector to Kafka: the stream that a source of the project is, and the sink of a model."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from dbt.adapters.sparkstream.flinkscript.escapes import Variable, markdown_code, markdown_text
from dbt.adapters.sparkstream.flinkscript.hidden import PROPERTIES
from dbt.adapters.sparkstream.flinkscript.queries import named
from dbt.adapters.sparkstream.flinkscript.readings import reading
from dbt.adapters.sparkstream.flinkscript.tables import ColumnDefinition, TableDefinition
from dbt.adapters.sparkstream.flinkscript.values import (
    REGISTRY,
    csv_values,
    format_of,
    option,
    registry,
    registry_notes,
    unread,
    values_of,
)
from dbt.adapters.sparkstream.sql.core.literals import string_literal

KAFKA = "kafka"
UPSERT = "upsert-kafka"

OFFSET, DELETED = "kafka_offset", "kafka_deleted"
"""Columns of the model with all changes of a topic: a record's offset, and True if the record deletes its key."""

_NOT_SPARKS = ("bootstrap.servers", "group.id", "auto.offset.reset", "client.id.prefix")
"""Properties of Flink's client that Spark has no use for, or that have a place of their own."""

_METADATA = ("topic", "partition", "offset", "timestamp", "headers")
"""Metadata of Flink, named as Spark's source has it; `headers` is a list of pairs there, and a map in Flink."""

_EARLIEST = {"startingOffsets": "earliest"}
_CHANGES_NOTES = (
    "a model keeps each change, and a view of the table's name has the newest row of each key",
    "a record that deletes a key takes its row from the view, and no version from joins FOR SYSTEM_TIME AS OF",
)

_OF_TIMES = {
    "SQL": "yyyy-MM-dd HH:mm:ss.SSS",
    "ISO-8601": "yyyy-MM-dd'T'HH:mm:ss.SSS",
}
"""`json.timestamp-format.standard` -> how Spark writes such a time."""


@dataclass(frozen=True)
class Topic:
    """A topic in the project: as the stream of a source, or as the sink of a model.

    Attributes:
        stream: `meta: stream:` of the source, or a model's config `sink`; empty with a fault.
        fault: why the topic can't be read or written, in Markdown; empty if it can.
        notes: differences from Flink, in Markdown.
        changes: True if a record can change or delete the row of its key.
    """

    stream: dict[str, Any] = field(default_factory=dict)
    fault: str = ""
    notes: tuple[str, ...] = ()
    changes: bool = False


def packages(streams: Iterable[Mapping[str, Any]]) -> list[str]:
    """Spark's packages for Kafka, and for Avro if a source or a sink has it, of the Spark that is installed here."""
    try:
        installed = version("pyspark")
    except PackageNotFoundError:
        installed = "4.2.0"
    formats = {stream.get("value_format") for stream in streams}
    names = ["sql-kafka-0-10", *(["avro"] if "avro" in formats else [])]
    return [f"org.apache.spark:spark-{name}_2.13:{installed}" for name in names]


def read_from(table: TableDefinition) -> Topic:
    """The stream of a table that nothing in the script writes to."""
    options = table.options
    upserts = table.connector == UPSERT
    alone = options.get("value.fields-include") == "EXCEPT_KEY"
    keys = table.keys if upserts else _listed(options.get("key.fields", ""))
    # Values of other columns win over the key's; a record that deletes has no value.
    of_key = keys if upserts or alone else ()
    columns = [c for c in table.columns if c.expression is None]
    values = values_of(table, [c for c in columns if c.metadata is None and not (alone and c.name in keys)])
    fault = _fault(table, ("topic", "topic-pattern")) or values.fault or _fault_of_keys(table, of_key)
    of_kafka = "kafka_" if values.stream else ""
    deletes = f"{of_kafka}value IS NULL" if upserts else values.deletes
    if deletes and not fault:
        fault = _fault_of_changes(table)
    if fault:
        return Topic(fault=fault)
    notes = [*(() if upserts else _begin_notes(options)), *(_CHANGES_NOTES if deletes else ())]
    notes += [*values.notes, *_notes(table)]
    items = []
    for column in columns:
        if column.metadata is not None:
            items.append(_metadata(column, of_kafka, values.metadata, notes))
        elif column.name in of_key:
            items.append(_key(column, of_kafka, options, keys))
        else:
            items.append(_as(values.item(column), column))
    if deletes:
        items += [OFFSET if of_kafka else f"offset AS {OFFSET}", f"{deletes} AS {DELETED}"]
    begin = _EARLIEST if upserts else _begin(options)
    stream: dict[str, Any] = {"format": KAFKA, "options": {**_client(table), **_where(table), **begin}}
    stream |= values.stream
    if any(c.metadata == "headers" for c in columns):
        stream["options"]["includeHeaders"] = "true"
    if not values.stream or items != [named(c.name) for c in columns]:
        stream["select"] = items
    return Topic(stream, notes=tuple(notes), changes=bool(deletes))


def sent_to(table: TableDefinition) -> Topic:
    """The `sink` of a model with the rows of a table that the script writes to."""
    options = table.options
    value_format = format_of(options)
    fault = _fault(table, ("topic",)) or _fault_of_sink(table, value_format)
    if fault:
        return Topic(fault=fault)
    sink: dict[str, Any] = {"format": KAFKA, "topic": table.value("topic")}
    keys = list(table.keys) if table.connector == UPSERT else _listed(options.get("key.fields", ""))
    if keys:
        sink["key"] = keys[0] if len(keys) == 1 else keys
    notes = list(registry_notes(table))
    if value_format != "json":
        sink["value_format"] = "avro" if value_format == REGISTRY else value_format
    if value_format == REGISTRY:
        sink["schema_registry"] = registry(table)
        notes.append("the schema is made of the columns: a TIMESTAMP is a local-timestamp-micros")
    elif given := dict(_json_times(table)) if value_format == "json" else csv_values(options):
        sink["value_options"] = given
    sink["options"] = _client(table)
    if len(keys) == 1 and options.get("key.format") == "json":
        notes.append("a key of one column is written as text, and not as JSON")
    if options.get("value.fields-include") == "EXCEPT_KEY" or "key.fields-prefix" in options:
        notes.append("values have all columns, those of the key too, under the names of the columns")
    if any(c.metadata is not None and not c.virtual for c in table.columns):
        notes.append("metadata columns are fields of the value, and don't set what Kafka knows of a record")
    if "exactly-once" in (options.get("sink.delivery-guarantee"), options.get("sink.semantic")):
        notes.append("the topic has each row at least once; the table has it exactly once")
    return Topic(sink, notes=tuple(notes))


def _fault(table: TableDefinition, topics: tuple[str, ...]) -> str:
    """Reason why records of a table can't be read or written at all; empty if there is none."""
    if not any(table.value(name) for name in topics):
        return "WITH has no topic"
    if not table.value(f"{PROPERTIES}bootstrap.servers"):
        return "WITH has no properties.bootstrap.servers"
    return ""


def _fault_of_sink(table: TableDefinition, value_format: str) -> str:
    """Reason why rows can't be written to the topic of a table; empty if there is none."""
    if ";" in table.options.get("topic", ""):
        return "Flink chooses between several topics by a metadata column, and a sink has one topic"
    if value_format not in ("json", "csv", REGISTRY):
        return unread("values", value_format)
    return f"WITH has no {REGISTRY}.url" if value_format == REGISTRY and not registry(table) else ""


def _fault_of_keys(table: TableDefinition, keys: Sequence[str]) -> str:
    """Reason why columns can't be read from the keys of records; empty if there is none."""
    if keys and (format_ := table.options.get("key.format", "")) not in ("json", "csv", "raw"):
        return unread("keys", format_)
    return ""


def _fault_of_changes(table: TableDefinition) -> str:
    """Reason why the newest row of each key can't be found; empty if there is none."""
    names = {column.name.casefold() for column in table.columns}
    if not table.keys:
        return f"{table.connector} needs a PRIMARY KEY"
    if taken := [name for name in (OFFSET, DELETED) if name in names]:
        return f"the columns {OFFSET} and {DELETED} are added to its changes, and it has {taken[0]}"
    return ""


def _listed(text: str) -> list[str]:
    return [name.strip() for name in text.split(";") if name.strip()]


def _client(table: TableDefinition) -> dict[str, str | Variable | None]:
    """The settings of Kafka's client, under Spark's names."""
    found = {"kafka.bootstrap.servers": table.value(f"{PROPERTIES}bootstrap.servers")}
    for key in (*table.options, *table.secrets):
        name = key.removeprefix(PROPERTIES)
        if name != key and name not in _NOT_SPARKS:
            found[f"kafka.{name}"] = table.value(key)
    return found


def _where(table: TableDefinition) -> dict[str, str | Variable | None]:
    topic = table.value("topic")
    if topic is None:
        return {"subscribePattern": table.value("topic-pattern")}
    return {"subscribe": ",".join(_listed(topic)) if isinstance(topic, str) else topic}


def _begin(options: Mapping[str, str]) -> dict[str, str]:
    """Options of Spark's source for the place where the first run begins."""
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
    return _EARLIEST


def _resets(options: Mapping[str, str]) -> str:
    return options.get(f"{PROPERTIES}auto.offset.reset", "")


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


def _notes(table: TableDefinition) -> Iterator[str]:
    value_format = format_of(table.options)
    if value_format != "raw" and option(table, f"{value_format}.ignore-parse-errors").lower() != "true":
        yield "a value that isn't of the format is set aside and counted, where Flink's job fails"


def _metadata(column: ColumnDefinition, prefix: str, of_values: Mapping[str, str], notes: list[str]) -> str:
    key = column.metadata or ""
    if key in of_values:
        return _as(f"CAST({of_values[key]} AS {column.type})", column)
    if key not in _METADATA:
        notes.append(f"{markdown_text(column.name)} is NULL: Spark doesn't know {markdown_code(key)} of a record")
        return _as(f"CAST(NULL AS {column.type})", column)
    value = f"map_from_entries({prefix}{key})" if key == "headers" else f"{prefix}{key}"
    return _as(f"CAST({value} AS {column.type})", column)


def _key(column: ColumnDefinition, prefix: str, options: Mapping[str, str], keys: Sequence[str]) -> str:
    """Item of SELECT for a column in the key of a record."""
    name = column.name.removeprefix(options.get("key.fields-prefix", ""))
    text = f"CAST({prefix}key AS STRING)"
    kind = options.get("key.format", "")
    if kind == "json":
        read = reading(kind, {k.removeprefix("key."): v for k, v in options.items()}, in_files=False)
        schema = string_literal(f"{named(name)} {read.stored(column.type or '')}")
        value = f"from_json({text}, {schema}).{named(name)}"
        return _as(read.converted(value, column.name, column.type or ""), column)
    if kind == "csv":
        fields = ", ".join(f"f{number} STRING" for number in range(len(keys)))
        at = keys.index(column.name)
        return _as(f"CAST(from_csv({text}, '{fields}').f{at} AS {column.type})", column)
    return _as(text if column.type == "string" else f"CAST({text} AS {column.type})", column)


def _as(item: str, column: ColumnDefinition) -> str:
    return item if item == named(column.name) else f"{item} AS {named(column.name)}"


def _json_times(table: TableDefinition) -> Iterator[tuple[str, str]]:
    """Options, name and value, by which Spark writes times in JSON as Flink does."""
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
