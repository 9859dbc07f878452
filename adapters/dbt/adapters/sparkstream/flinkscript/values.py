"""The values of a topic's records: how a source reads them, and where the columns of a table stand in them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlglot import exp

from dbt.adapters.sparkstream.flinkscript.escapes import Variable, markdown_text
from dbt.adapters.sparkstream.flinkscript.hidden import REGISTRY_URLS
from dbt.adapters.sparkstream.flinkscript.queries import named
from dbt.adapters.sparkstream.flinkscript.readings import Reading, reading
from dbt.adapters.sparkstream.flinkscript.tables import ColumnDefinition, TableDefinition
from dbt.adapters.sparkstream.streaming.refusals import StreamingError
from dbt.adapters.sparkstream.streaming.sinks.avro import record

REGISTRY = "avro-confluent"
"""Flink's format of values in Avro with the number of their schema before them."""

CHANGES = "debezium-json"
"""Flink's format of values that describe a change of a row in a database."""

_ENVELOPE = (
    *("op string", "ts_ms bigint"),
    "source struct<ts_ms:bigint,db:string,`schema`:string,`table`:string>",
)
"""Debezium's fields of a change, apart from the rows before and after it."""

_OF_CHANGES = {
    "value.ingestion-timestamp": "timestamp_millis({}ts_ms)",
    "value.source.timestamp": "timestamp_millis({}source.ts_ms)",
    "value.source.database": "{}source.db",
    "value.source.schema": "{}source.`schema`",
    "value.source.table": "{}source.`table`",
}
"""Metadata key of `debezium-json` -> its SQL, with `{}` before the field's name."""


@dataclass(frozen=True)
class Values:
    """Reading of the values of records.

    Attributes:
        stream: keys of `meta: stream:` about them.
        item: returns the SQL of a column in the value, from the source's columns.
        metadata: Flink's key of metadata in such values -> its SQL, before the cast to the column's type.
        deletes: SQL that is true if a record deletes the row of its key; empty if values don't show that.
        notes: differences from Flink, in Markdown.
        fault: why they can't be read, in Markdown; empty if they can.
    """

    stream: dict[str, Any] = field(default_factory=dict)
    item: Callable[[ColumnDefinition], str] = lambda column: named(column.name)
    metadata: Mapping[str, str] = field(default_factory=dict)
    deletes: str = ""
    notes: tuple[str, ...] = ()
    fault: str = ""


def format_of(options: Mapping[str, str]) -> str:
    """Flink's name of the format of values."""
    return options.get("value.format", options.get("format", ""))


def values_of(table: TableDefinition, columns: Sequence[ColumnDefinition]) -> Values:
    """Reading of the values of a table's topic.

    Args:
        columns: the columns in the value, in order.
    """
    read = _FORMATS.get(format_ := format_of(table.options))
    if read is None:
        return Values(fault=unread("values", format_))
    return read(table, columns)


def unread(what: str, format_: str) -> str:
    """Reason why keys or values in a format can't be read or written."""
    return f"{what} in the format {markdown_text(format_)} need a schema, a registry or a function of your own"


def option(table: TableDefinition, name: str) -> str:
    """Option of the values' format, with or without `value.` before its name; empty by default."""
    options = table.options
    return options.get(f"value.{name}", options.get(name, ""))


def csv_options(options: Mapping[str, str]) -> dict[str, str]:
    """Spark's options for Flink's CSV: quotes are doubled, and what is malformed is an error."""
    given = {key.removeprefix("csv."): value for key, value in options.items() if key.startswith("csv.")}
    lenient = given.get("ignore-parse-errors", "").lower() == "true"
    found = {"mode": "PERMISSIVE" if lenient else "FAILFAST", "escape": given.get("escape-character", '"')}
    if "field-delimiter" in given:
        found["sep"] = given["field-delimiter"].replace("\\t", "\t")
    if given.get("disable-quote-character", "").lower() == "true":
        found["quote"] = ""
    elif "quote-character" in given:
        found["quote"] = given["quote-character"]
        found["escape"] = given.get("escape-character", given["quote-character"])
    if "null-literal" in given:
        found["nullValue"] = given["null-literal"]
    if given.get("allow-comments", "").lower() == "true":
        found["comment"] = "#"
    return found


def csv_values(options: Mapping[str, str]) -> dict[str, str]:
    """Options of Spark's from_csv and to_csv; malformed rows are kept apart in any case."""
    of_csv = {key.removeprefix("value."): value for key, value in options.items()}
    return {key: value for key, value in csv_options(of_csv).items() if key != "mode"}


def registry(table: TableDefinition) -> str | Variable | dict[str, str | Variable]:
    """The config `schema_registry` of values in Avro; empty where the script names none."""
    names = (f"{before}{name}" for name in REGISTRY_URLS for before in ("value.", ""))
    url = next((value for name in names if (value := table.value(name))), "")
    subject = option(table, f"{REGISTRY}.subject") or option(table, f"{REGISTRY}.schema-registry.subject")
    return {"url": url, "subject": subject} if url and subject else url


def registry_notes(table: TableDefinition) -> Iterator[str]:
    """Note on the setup of a schema registry with logins; none without logins."""
    given = (*table.options, *table.secrets)
    if any(f"{REGISTRY}.{kind}-auth" in key for key in given for kind in ("basic", "bearer")):
        yield "user and password of the registry stand in ~/.netrc on Spark's machines"


def _json(table: TableDefinition, columns: Sequence[ColumnDefinition]) -> Values:
    read = _reading(table, "json")
    return Values({"value_format": "json", "schema": _schema(columns, read)}, _converted(read))


def _csv(table: TableDefinition, columns: Sequence[ColumnDefinition]) -> Values:
    given, read = csv_values(table.options), _reading(table, "csv")
    stream = {"value_format": "csv", "schema": _schema(columns, read)}
    return Values({**stream, "value_options": given} if given else stream, _converted(read))


def _raw(table: TableDefinition, columns: Sequence[ColumnDefinition]) -> Values:
    if len(columns) != 1 or columns[0].type not in ("string", "binary"):
        return Values(fault="a value in the format raw is one column, of STRING or BYTES, here")
    return Values(item=lambda column: f"CAST(value AS {column.type})")


def _debezium(table: TableDefinition, columns: Sequence[ColumnDefinition]) -> Values:
    """Reading of Debezium's changes: the row before a change, the row after it, and its kind: `c`, `r`, `u` or `d`."""
    if not table.keys:
        return Values(fault=f"{CHANGES} needs a PRIMARY KEY here: each record changes the row of its key")
    read = _reading(table, "json", CHANGES)
    row = f"struct<{','.join(f'{named(c.name)}:{read.stored(c.type or str())}' for c in columns)}>"
    schema, place = ", ".join((f"before {row}", f"after {row}", *_ENVELOPE)), ""
    if option(table, f"{CHANGES}.schema-include").lower() == "true":
        fields = (f"before:{row}", f"after:{row}", *(each.replace(" ", ":", 1) for each in _ENVELOPE))
        schema, place = f"payload struct<{','.join(fields)}>", "payload."
    return Values(
        {"value_format": "json", "schema": schema},
        lambda c: read.converted(
            f"IF({place}op = 'd', {place}before.{named(c.name)}, {place}after.{named(c.name)})", c.name, c.type or ""
        ),
        {key: sql.format(place) for key, sql in _OF_CHANGES.items()},
        # Behind a deletion, Debezium sends a record without a value.
        f"coalesce({place}op = 'd', TRUE)",
    )


def _avro(table: TableDefinition, columns: Sequence[ColumnDefinition]) -> Values:
    """Reading of Avro as by Flink: by a schema that is made of the columns, with each time's unit from its digits."""
    stream: dict[str, Any] = {"value_format": "avro"}
    if format_of(table.options) == REGISTRY:
        if not (url := registry(table)):
            return Values(fault=f"WITH has no {REGISTRY}.url")
        stream["schema_registry"] = url
    try:
        schema = record([(c.name, c.type or "") for c in columns], "record")
    except StreamingError as error:
        why = str(error).splitlines()[0].partition("avro, ")[2]
        return Values(fault=f"values are in Avro, {markdown_text(why)}")
    for column, made in zip(columns, schema["fields"], strict=True):
        if column.type in ("timestamp", "timestamp_ntz"):
            type_ = made["type"][1]
            made["type"][1] = {**type_, "logicalType": type_["logicalType"].replace("micros", _unit(column))}
        elif "timestamp" in (column.type or ""):
            return Values(fault=f"the times in {markdown_text(column.name)} may be milliseconds or microseconds")
    return Values({**stream, "schema": json.dumps(schema)}, _narrowed, notes=tuple(registry_notes(table)))


def _narrowed(column: ColumnDefinition) -> str:
    """A column out of Avro, which has no integers below INT."""
    small = column.type in ("tinyint", "smallint")
    return f"CAST({named(column.name)} AS {column.type})" if small else named(column.name)


def _unit(column: ColumnDefinition) -> str:
    """Unit of a time in Avro: `millis` for a TIMESTAMP of at most 3 digits, `micros` for others."""
    digits = exp.DataType.build(column.written, dialect="spark").expressions
    return "millis" if digits and int(digits[0].name) <= 3 else "micros"


def _reading(table: TableDefinition, kind: str, format_: str = "") -> Reading:
    of_values = {key.removeprefix("value."): value for key, value in table.options.items()}
    return reading(kind, of_values, of=format_, in_files=False)


def _schema(columns: Sequence[ColumnDefinition], read: Reading) -> str:
    return ", ".join(f"{named(c.name)} {read.stored(c.type or '')}" for c in columns)


def _converted(read: Reading) -> Callable[[ColumnDefinition], str]:
    return lambda column: read.converted(named(column.name), column.name, column.type or "")


_FORMATS: dict[str, Callable[[TableDefinition, Sequence[ColumnDefinition]], Values]] = {
    "json": _json,
    "csv": _csv,
    "raw": _raw,
    CHANGES: _debezium,
    "avro": _avro,
    REGISTRY: _avro,
}
"""Format of Flink -> function that returns the reading of its values."""
