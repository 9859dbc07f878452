"""What a table of the script that nothing writes to becomes: a seed, files, a topic, or an empty table."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dbt.adapters.sparkstream.flinkscript.formats import csv_options, json_options
from dbt.adapters.sparkstream.flinkscript.kafka import KAFKA, UPSERT, Topic, read_from
from dbt.adapters.sparkstream.flinkscript.tables import ColumnDefinition, TableDefinition

SMALLEST = 1_000_000
"""Bytes up to which a CSV file becomes a seed: dbt compares no larger ones."""

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
    """Where the rows of a table come from.

    Attributes:
        format: of the table that Spark makes: `csv`, or `parquet` for one that is empty at first.
        location: the files, with Jinja; None for an empty table of Spark's own.
        options: of the format.
        columns: name and Spark type.
        seed: the text of a seed's CSV file; None for a source.
        setup: what is left to do for it to have rows; empty if nothing is.
        notes: what is different from Flink.
        partitions: the columns whose values are in the names of folders.
        stream: what `meta: stream:` says of a topic, which a model reads into a table; empty of other inputs.
        changes: whether a record of the topic can change or delete a row.
    """

    format: str
    location: str | None
    options: dict[str, str]
    columns: tuple[tuple[str, str, str], ...]
    seed: str | None = None
    setup: str = ""
    notes: tuple[str, ...] = field(default=())
    partitions: tuple[str, ...] = ()
    stream: dict[str, Any] = field(default_factory=dict)
    changes: bool = False

    def is_bounded(self, table: TableDefinition) -> bool:
        """Whether its rows come to an end: Flink reads files that it isn't told to watch once, and ends."""
        return (self.location is not None or self.seed is not None) and "source.monitor-interval" not in table.options

    def partitions_moved(self, table: TableDefinition) -> bool:
        """Whether Spark has the columns in another order: it puts the columns of partitions last."""
        count = len(self.partitions)
        return bool(count) and tuple(c.name for c in table.columns[-count:]) != self.partitions


def input_of(table: TableDefinition, folder: Path) -> Input:
    """Where the rows of a table come from.

    Args:
        folder: that relative paths are in: the script's.
    """
    files = table.connector == "filesystem" and table.options.get("format") in _FORMATS and "path" in table.options
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
    path = table.options["path"]
    local = folder / _local(path)
    seed = _seed(table, local) if name == "csv" and "://" not in _local(path) else None
    options = csv_options(table.options) if name == "csv" else json_options(table.options) if name == "json" else {}
    location = _location(path)
    if "://" not in _local(path) and local.is_file():  # Spark's streams read folders
        location, _, options["pathGlobFilter"] = location.rpartition("/")
    notes = []
    if name == "csv":
        nested = [n for n, type_, _ in columns if type_.startswith(("array", "map", "struct"))]
        columns = tuple((n, "string" if n in nested else t, c) for n, t, c in columns)
        if nested:
            notes.append(f"{', '.join(nested)}: a CSV file of Spark has no nested values, so these are STRING")
        if seed is None and any(t == "string" for _, t, _ in columns):
            notes.append("an empty text without quotes is NULL in Spark, and '' in Flink")
    if name == "avro":
        notes.append("needs spark-avro: `spark.jars.packages` under server_side_parameters")
    return Input(_FORMATS[name], location, options, columns, seed, "", tuple(notes), table.partitions)


def _of_database(options: dict[str, str]) -> str:
    """How a table of a database comes to have rows."""
    given = {"url": options.get("url", "..."), "dbtable": options.get("table-name", "...")}
    given |= {"user": "...", "password": "..."} if "username" in options else {}
    said = ", ".join(f"{key} '{value}'" for key, value in given.items())
    return (
        "load the database's table; or drop this one, and have Spark read the database, with its driver in "
        f"spark.jars.packages: `CREATE TABLE ... USING jdbc OPTIONS ({said})`"
    )


def _setup(table: TableDefinition) -> str:
    if table.connector == "jdbc":
        return _of_database(table.options)
    said = _SETUP.get(table.connector, _SETUP[""])
    if table.connector == "filesystem":
        missing = (
            "path" if "path" not in table.options else f"a format that Spark reads ({table.options.get('format')})"
        )
        return f"WITH has no {missing}; {said}" if "path" not in table.options else f"not {missing}; {said}"
    return said


def _local(path: str) -> str:
    """A path without `file:`."""
    for scheme in ("file://", "file:"):
        if path.startswith(scheme):
            return path.removeprefix(scheme)
    return path


def _location(path: str) -> str:
    local = _local(path)
    if "://" in local or Path(local).is_absolute():
        return local
    return "{{ var('" + FOLDER + "') }}/" + local.removeprefix("./")


def _seed(table: TableDefinition, path: Path) -> str | None:
    """The rows of a small CSV file as dbt has them; None where a seed wouldn't hold the same rows.

    A seed has a line of names, and takes an empty field, or `null`, for NULL.
    """
    options = {key for key in table.options if key.startswith("csv.")}
    if options - {"csv.field-delimiter", "csv.quote-character", "csv.null-literal"} or not _is_plain(table.columns):
        return None
    if not path.is_file() or path.stat().st_size > SMALLEST:
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
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([c.name for c in table.columns])
    writer.writerows([["" if null is not None and v == null else v for v in row] for row in rows])
    return out.getvalue()


def _is_plain(columns: tuple[ColumnDefinition, ...]) -> bool:
    """Whether all columns are in the file, of types that a seed can have."""
    return all(
        c.expression is None and c.metadata is None and (c.type or "").startswith((*_SIMPLE, "decimal"))
        for c in columns
    )
