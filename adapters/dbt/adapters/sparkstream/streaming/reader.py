"""Sources that aren't tables: what `meta: stream:` of a dbt source says, checked, and the rows as models see them.

Spark reads Kafka, sockets and text files as a column `value`. A `value_format` with a `schema` makes columns of it. A
value that can't be read as that is left out, counted and kept, and never a row of NULLs.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dbt.adapters.sparkstream.sql import TranslationError
from dbt.adapters.sparkstream.sql.core.literals import string_literal
from dbt.adapters.sparkstream.sql.streaming import RowView
from dbt.adapters.sparkstream.streaming.errors import StreamingError
from dbt.adapters.sparkstream.streaming.sink import quoted
from dbt.adapters.sparkstream.streaming.sparkerrors import spark_errors

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

KAFKA = "kafka"
KEYS = ("format", "path", "schema", "options", "value_format", "value_options", "select")
FUNCTIONS = {"json": "from_json", "csv": "from_csv"}
"""Value format -> the function of Spark that reads it."""

WHERE_FROM = ("subscribe", "subscribePattern", "assign")
"""The options that name Kafka's topics."""

PREFIX = "kafka_"
"""What the names of Kafka's own columns begin with, where the columns are those of the value."""

OBSERVED = "sparkstream_values_"
"""What the names of observations of values begin with."""

_VALUE = "__value"
_BROKEN = "__broken"
_READ_FROM = "__read"


_OF_THE_WAY = (
    *("kafka.", "kafkaconsumer.", "fetchoffset.", "groupidprefix"),
    *("maxoffsetspertrigger", "minoffsetspertrigger", "maxtriggerdelay", "minpartitions", "maxrecordsperpartition"),
)
"""What the names of options begin with that say where Kafka is and how it is read, and not what."""


def reader_of(meta: Mapping[str, Any], relation: str) -> dict[str, Any]:
    """What `meta: stream:` of a source says, checked; empty where it says nothing.

    Args:
        meta: the source's meta.
        relation: the source, for words.

    Raises:
        StreamingError: what is wrong with it, and what to write.
    """
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
            close = difflib.get_close_matches(str(key), KEYS, 1)
            hint = (
                f"did you mean {close[0]!r}?" if close else f"it has {', '.join(KEYS)}; what Spark has goes to options"
            )
            raise StreamingError(f"{relation}: meta's stream has no {key!r}\n  {hint}")
    if "format" not in reader:
        raise StreamingError(
            f"{relation}: meta's stream has no format\n  write it such as stream: {{format: json, path: ...}}"
        )
    for key in ("options", "value_options"):
        if not isinstance(reader.get(key) or {}, Mapping):
            raise StreamingError(f"{relation}: {key} is not a mapping\n  write it such as {key}: {{name: value}}")
    _check_values(reader, relation)
    if is_kafka(reader):
        _check_kafka(reader, relation)
    if "select" in reader:
        select = reader["select"]
        if not isinstance(select, list) or not select or not all(isinstance(item, str) for item in select):
            raise StreamingError(
                f"{relation}: select is a list of SQL expressions, and not {select!r}\n"
                "  write it such as select: ['id', 'CAST(at AS TIMESTAMP) AS at']"
            )
        _row_view(select)
    return reader


def _check_values(reader: Mapping[str, Any], relation: str) -> None:
    format_ = reader.get("value_format")
    if format_ is None:
        if "value_options" in reader:
            raise StreamingError(f"{relation}: value_options are those of a value_format\n  write value_format: json")
        return
    if format_ not in FUNCTIONS:
        raise StreamingError(
            f"{relation}: value_format can't be {format_!r}\n  write one of {', '.join(FUNCTIONS)}; what is of another "
            "format can be read in a select, such as select: [\"split(CAST(value AS STRING), ';')[0] AS id\"]"
        )
    if not isinstance(reader.get("schema"), str):
        raise StreamingError(
            f"{relation}: value_format: {format_} needs the schema of the value\n"
            "  write it such as schema: 'id bigint, at timestamp'"
        )
    for name in ("mode", "columnNameOfCorruptRecord"):
        if name in {str(key) for key in reader.get("value_options") or {}}:
            raise StreamingError(
                f"{relation}: value_options can't have {name}: values that can't be read are left out, counted and kept"
                "\n  leave it out"
            )


def _check_kafka(reader: Mapping[str, Any], relation: str) -> None:
    options = {key.casefold(): text for key, text in given_options(reader).items()}
    if "path" in reader:
        raise StreamingError(
            f"{relation}: format: kafka has no path\n  write options: {{subscribe: {reader['path']}, ...}} for a topic"
        )
    if "schema" in reader and "value_format" not in reader:
        raise StreamingError(
            f"{relation}: what has a schema is the value of Kafka's records, and nothing says how it is written\n"
            f"  write value_format: one of {', '.join(FUNCTIONS)}"
        )
    if "kafka.bootstrap.servers" not in options:
        raise StreamingError(
            f"{relation}: nothing says where Kafka is\n  write options: {{kafka.bootstrap.servers: 'HOST:9092', ...}}"
        )
    named = [name for name in WHERE_FROM if name.casefold() in options]
    if len(named) != 1:
        raise StreamingError(
            f"{relation}: {'nothing says' if not named else ' and '.join(named) + ' both say'} which topics to read\n"
            "  write options: {subscribe: TOPIC, ...}, with commas between several; or subscribePattern, or assign"
        )
    if options.get("failondataloss", "true").casefold() != "true":
        raise StreamingError(
            f"{relation}: failOnDataLoss can't be {options['failondataloss']}: rows would be lost without a word\n"
            "  leave it out"
        )
    if ending := next((name for name in options if name.startswith("endingoffsets")), None):
        raise StreamingError(f"{relation}: a stream has no end, and so no {ending}\n  leave it out")


def is_kafka(reader: Mapping[str, Any]) -> bool:
    """Whether a source is topics of Kafka."""
    return str(reader.get("format", "")).casefold() == KAFKA


def given_options(reader: Mapping[str, Any]) -> dict[str, str]:
    """The options for Spark, as texts: YAML has true where Spark wants `true`."""
    given = {str(key): value for key, value in dict(reader.get("options") or {}).items() if value is not None}
    return {key: str(value).lower() if isinstance(value, bool) else str(value) for key, value in given.items()}


def state_depends_on(reader: Mapping[str, Any]) -> Mapping[str, Any]:
    """What of a reader makes it another stream; where Kafka is, and how fast it is read, makes no difference."""
    if not is_kafka(reader):
        return reader
    options = reader.get("options") or {}
    return {**reader, "options": {k: v for k, v in options.items() if not str(k).casefold().startswith(_OF_THE_WAY)}}


def has_values(reader: Mapping[str, Any]) -> bool:
    """Whether columns are made of a source's `value`."""
    return "value_format" in reader


def parsed(rows: DataFrame, reader: Mapping[str, Any], relation: str) -> DataFrame:
    """Rows of a source, with what is read of each value beside them.

    Raises:
        StreamingError: the source has no value, or the schema can't be understood.
    """
    format_ = reader["value_format"]
    if "value" not in rows.columns:
        raise StreamingError(
            f"{relation} has no column value, which value_format: {format_} reads; it has {', '.join(rows.columns)}\n"
            "  leave value_format out, or read the files with format: text"
        )
    options = {str(k): str(v) for k, v in dict(reader.get("value_options") or {}).items()}
    options |= {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": _BROKEN}
    words = ", ".join(string_literal(text) for option in options.items() for text in option)
    schema = string_literal(f"{str(reader['schema']).strip().rstrip(',')}, {_BROKEN} STRING")
    with spark_errors(f"{relation}: schema"):
        return rows.selectExpr("*", f"{FUNCTIONS[format_]}(CAST(value AS STRING), {schema}, map({words})) AS {_VALUE}")


def unreadable(reader: Mapping[str, Any]) -> str:
    """Whether a value can't be read, as SQL over `parsed` rows. NULL is none: Kafka has it for what is deleted."""
    return (
        f"coalesce(value IS NOT NULL AND ({_VALUE} IS NULL OR {_VALUE}.{_BROKEN} IS NOT NULL "
        f"OR {_SEVERAL[reader['value_format']]}), FALSE)"
    )


_TEXT = "CAST(value AS STRING)"
_OBJECTS = f"json_array_length(concat('[', {_TEXT}, ']'))"
_SEVERAL = {
    # Only text in which one object follows another is parsed once more.
    "json": rf"({_TEXT} RLIKE '\\}}[\\s,]*\\{{' AND coalesce({_OBJECTS}, 0) <> 1)",
    "csv": rf"""regexp_replace({_TEXT}, '"[^"]*"', '') RLIKE '[\\r\\n]+[^\\r\\n]'""",
}
"""Whether a value has more than one record: Spark reads the first one, and says nothing of the others."""


def seen(rows: DataFrame, reader: Mapping[str, Any], relation: str) -> DataFrame:
    """The columns that models see: of `parsed` rows those of the values, and what `select` makes of them.

    Raises:
        StreamingError: names collide, or `select` can't be understood.
    """
    columns = [quoted(name) for name in rows.columns]
    if has_values(reader):
        fields = [field.name for field in rows.schema[_VALUE].dataType.fields if field.name != _BROKEN]  # type: ignore[attr-defined]
        prefix = PREFIX if is_kafka(reader) else ""
        others = {f"{prefix}{name}": name for name in rows.columns if name not in (_VALUE, "value")}
        for name in others:
            if name.casefold() in {field.casefold() for field in fields}:
                raise StreamingError(
                    f"{relation} has a column {name} beside its value, and the value has one, too\n"
                    "  give the one in the schema another name"
                )
        values = [quoted(name) for name in fields]
        rows = rows.selectExpr(
            *(f"{_VALUE}.{name} AS {name}" for name in values),
            *(f"{quoted(name)} AS {quoted(other)}" for other, name in others.items()),
        )
        columns = values if is_kafka(reader) else [*values, *map(quoted, others)]
    if "select" in reader:
        items = [item for given in reader["select"] for item in (columns if given.strip() == "*" else [given])]
        rows.createOrReplaceTempView(_READ_FROM)
        with spark_errors(f"{relation}: select"):
            return rows.sparkSession.sql(_row_view(items).over(_READ_FROM))
    return rows.selectExpr(*columns) if has_values(reader) else rows


def _row_view(select: Sequence[str]) -> RowView:
    """The query of a `select`.

    Raises:
        StreamingError: it takes more than a row.
    """
    for item in select:
        if item.strip() != "*" and item.strip().startswith("*"):
            raise StreamingError(f"select has {item!r}\n  write '*' alone for all columns, or list them")
    try:
        return RowView.read(f"SELECT {', '.join(select)} FROM {_READ_FROM}")
    except TranslationError as error:
        raise StreamingError(
            f"select makes each row of one row of the source, and can't be understood: {error.message}\n"
            "  put what it does into the model"
        ) from error
