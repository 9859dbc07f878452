"""Inputs of a Flink script, tables that nothing writes to: a seed, files, a topic, or an empty table."""

from __future__ import annotations

import csv
import io
import os
import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dbt.adapters.sparkstream.flinkscript.escapes import (
    Jinja,
    Variable,
    is_plain_yaml,
    jinja_value,
    markdown_code,
    markdown_text,
)
from dbt.adapters.sparkstream.flinkscript.hidden import HIDDEN
from dbt.adapters.sparkstream.flinkscript.kafka import KAFKA, UPSERT, Topic, read_from
from dbt.adapters.sparkstream.flinkscript.readings import BROKEN, Reading, reading_of
from dbt.adapters.sparkstream.flinkscript.tables import ColumnDefinition, TableDefinition
from dbt.adapters.sparkstream.flinkscript.values import csv_options
from dbt.adapters.sparkstream.sql.core.literals import string_literal

SMALLEST = 1_000_000
"""Most bytes of a CSV file that becomes a seed: dbt compares no larger files."""

FOLDER = "inputs"
"""The variable of the project that holds the folder of files with a relative path."""

_FORMATS = {"csv": "csv", "json": "json", "parquet": "parquet", "orc": "orc", "avro": "avro", "raw": "text"}

FILE_COLUMNS = {
    "file.path": "PARSE_URL(_metadata.file_path, 'PATH')",
    "file.name": "_metadata.file_name",
    "file.size": "_metadata.file_size",
    "file.modification-time": "_metadata.file_modification_time",
}
"""Metadata columns of Flink's filesystem connector, in Spark."""

_GLOB = re.compile(r"[\\*?{}\[\]]")
"""Characters with a meaning of their own in Spark's patterns of file names."""

_AS_CSV = Reading("csv", lenient=False)

_SIMPLE = ("boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "date", "string", "timestamp")

_SETUP = {
    "kafka": "let a job land the topic there, such as a Structured Streaming query that reads `format('kafka')`, "
    "parses `value` and appends to the table; or make the source a stream of its own by `meta: stream:`",
    "datagen": "Flink made up its rows; write some with `INSERT INTO ... SELECT ... FROM range(1000)`",
    "": "append the rows to it with any program that writes to Spark's tables",
}
_SETUP["upsert-kafka"] = _SETUP["kafka"] + "; of each key, only the last row counts: add a deduplicating view"


@dataclass(frozen=True)
class Input:
    """Origin of a table's rows: a seed, files, a topic, or an empty table.

    Attributes:
        format: of the table that Spark makes: `csv`, or `parquet` for a table that is empty at first.
        location: the files; None for an empty table of Spark's own.
        relative: True if the location is in the folder of the project's variable.
        options: of the format.
        columns: name and Spark type.
        seed: the text of a seed's CSV file; None for a source.
        setup: what is left to do for it to have rows, in Markdown; empty for nothing.
        notes: differences from Flink, in Markdown.
        partitions: the columns whose values are in the names of folders.
        stream: `meta: stream:` of a topic, which a model reads into a table; empty for other inputs.
        changes: True if a record of the topic can change or delete a row.
        reading: conversion of the table's columns to their types, in a view; None if they have their types.
    """

    format: str
    location: str | Variable | None
    options: dict[str, str]
    columns: tuple[tuple[str, str, str], ...]
    seed: str | None = None
    setup: str = ""
    notes: tuple[str, ...] = field(default=())
    partitions: tuple[str, ...] = ()
    stream: dict[str, Any] = field(default_factory=dict)
    changes: bool = False
    relative: bool = False
    reading: Reading | None = None

    @property
    def of_files(self) -> tuple[tuple[str, str, str], ...]:
        """The columns that are in the files, and not in the names of folders."""
        return tuple(column for column in self.columns if column[0] not in self.partitions)

    @property
    def stored(self) -> tuple[tuple[str, str, str], ...]:
        """The columns of the table that Spark makes."""
        if self.reading is None:
            return self.columns
        found = [(n, type_ if n in self.partitions else self.reading.stored(type_), c) for n, type_, c in self.columns]
        return (*found, (BROKEN, "string", "")) if self.reading.format == "json" else tuple(found)

    @property
    def place(self) -> str | Variable:
        """The files as the project's files name them."""
        if not self.relative or not isinstance(self.location, str):
            return self.location or ""
        folder = "{{ var('" + FOLDER + "')"
        if not self.location:
            return Jinja(folder + " }}")
        behind = "/" + self.location
        return Jinja(f"{folder} }}}}{behind}" if is_plain_yaml(behind) else f"{folder} ~ {jinja_value(behind)} }}}}")

    def is_bounded(self, table: TableDefinition) -> bool:
        """True if its rows come to an end: Flink reads files once, unless an option has it watch them."""
        return (self.location is not None or self.seed is not None) and "source.monitor-interval" not in table.options

    def partitions_moved(self, table: TableDefinition) -> bool:
        """True if Spark has the columns in another order than the table: it puts the columns of partitions last."""
        count = len(self.partitions)
        return bool(count) and tuple(c.name for c in table.columns[-count:]) != self.partitions


def input_of(table: TableDefinition, folder: Path) -> Input:
    """Origin of a table's rows.

    Args:
        folder: the script's folder, which relative paths are in.
    """
    path = table.value("path")
    files = table.connector == "filesystem" and table.options.get("format") in _FORMATS and path is not None
    columns = tuple(
        (c.name, c.type or "string", c.comment)
        for c in table.columns
        if c.expression is None and not (files and c.metadata in FILE_COLUMNS)
    )
    topic = read_from(table) if table.connector in (KAFKA, UPSERT) else Topic()
    if topic.stream:
        return Input(KAFKA, None, {}, columns, notes=topic.notes, stream=topic.stream, changes=topic.changes)
    if not files:
        setup = _setup(table)
        return Input("parquet", None, {}, columns, setup=f"{topic.fault}; {setup}" if topic.fault else setup)
    name = table.options["format"]
    nested = [n for n, type_, _ in columns if type_.startswith(("array", "map", "struct"))]
    if name == "csv" and nested:
        names = markdown_text(", ".join(nested))
        setup = f"Spark reads no nested values from CSV ({names}): write the files as JSON or Parquet, or "
        return Input("parquet", None, {}, columns, setup=setup + _SETUP[""])
    options = csv_options(table.options) if name == "csv" else {}
    if name == "json":
        options = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": BROKEN}
    location: str | Variable | None = path
    seed, relative = None, False
    if isinstance(path, str) and "://" not in (written := re.sub(r"\Afile:(//)?", "", path)):
        local = folder / written
        relative = not Path(written).is_absolute()
        location = written.removeprefix("./") if relative else written
        seed = _seed(table, local) if name == "csv" else None
        if os.path.isfile(local):  # Spark's streams read folders
            parent, slash, file = location.rpartition("/")
            location = parent or ("" if relative else slash)
            options["pathGlobFilter"] = _GLOB.sub(r"\\\g<0>", file)
    notes = []
    if name == "csv" and seed is None and any(type_ == "string" for _, type_, _ in columns):
        notes.append("an empty text without quotes is NULL in Spark, and '' in Flink")
    if name == "avro":
        notes.append("needs spark-avro: `spark.jars.packages` under server_side_parameters")
    made = Input(
        *(_FORMATS[name], location, options, columns, seed, "", tuple(notes), table.partitions), relative=relative
    )
    is_read = name in ("csv", "json") and seed is None and bool(made.of_files)
    return replace(made, reading=reading_of(table)) if is_read else made


def _of_database(table: TableDefinition) -> str:
    """Advice on how a table of a database comes to have rows, in Markdown."""
    given = {"url": table.options.get("url", HIDDEN), "dbtable": table.options.get("table-name", HIDDEN)}
    given |= {"user": HIDDEN, "password": HIDDEN} if table.value("username") is not None else {}
    said = ", ".join(f"{key} {string_literal(value)}" for key, value in given.items())
    return (
        "load the database's table; or drop this one, and have Spark read the database, with its driver in "
        f"spark.jars.packages: {markdown_code(f'CREATE TABLE ... USING jdbc OPTIONS ({said})')}"
    )


def _setup(table: TableDefinition) -> str:
    if table.connector == "jdbc":
        return _of_database(table)
    said = _SETUP.get(table.connector, _SETUP[""])
    if table.connector == "filesystem":
        if table.value("path") is None:
            return f"WITH has no path; {said}"
        return f"not a format that Spark reads ({markdown_text(table.options.get('format', 'none'))}); {said}"
    return said


def _seed(table: TableDefinition, path: Path) -> str | None:
    """Text of the seed of a small CSV file; None if the seed wouldn't hold the same rows.

    A seed has a line of names, takes an empty field, or `null`, for NULL, and cuts 7.9 to an INT.
    """
    options = {key for key in table.options if key.startswith("csv.")}
    if options - {"csv.field-delimiter", "csv.quote-character", "csv.null-literal"} or not _is_plain(table.columns):
        return None
    if not os.path.isfile(path) or path.stat().st_size > SMALLEST:
        return None
    null = table.options.get("csv.null-literal")
    try:
        with open(path, encoding="utf-8", newline="") as file:
            rows = list(
                csv.reader(
                    file,
                    delimiter=table.options.get("csv.field-delimiter", ",").replace("\\t", "\t"),
                    quotechar=table.options.get("csv.quote-character", '"'),
                    strict=True,
                )
            )
    except (UnicodeDecodeError, csv.Error, TypeError):
        return None
    rows = [row for row in rows if row]
    for row in rows:
        if len(row) != len(table.columns) or any(v != null and v in ("", "null") for v in row):
            return None
        if not all(v == null or _AS_CSV.is_plain(v, c.type or "") for v, c in zip(row, table.columns, strict=True)):
            return None
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([c.name for c in table.columns])
    writer.writerows([["" if null is not None and v == null else v for v in row] for row in rows])
    return out.getvalue()


def _is_plain(columns: tuple[ColumnDefinition, ...]) -> bool:
    """True if all columns are in the file, of types that a seed can have."""
    return all(
        c.expression is None and c.metadata is None and (c.type or "").startswith((*_SIMPLE, "decimal"))
        for c in columns
    )
