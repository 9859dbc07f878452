"""Columns of values: Spark reads Kafka, sockets and text files as a column `value`, which a `value_format` describes.

A value that can't be read as that is left out, counted and kept, and never a row of NULLs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from dbt.adapters.sparkstream.sql.core.literals import backticked, string_literal, string_map
from dbt.adapters.sparkstream.streaming.refusals import StreamingError, spark_errors
from dbt.adapters.sparkstream.streaming.sources.avro import AVRO, Schemas
from dbt.adapters.sparkstream.streaming.sources.reader import READ_FROM, row_view
from dbt.adapters.sparkstream.streaming.sources.source import StreamSource

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

OBSERVED = "sparkstream_values_"
"""Prefix of the names of observations of values."""

_TEXT = "CAST(value AS STRING)"
_VALUE = "__value"
_BROKEN = "__broken"
_NO_AVRO = "AVRO_NOT_LOADED"
"""Beginning of Spark's error condition if its package for Avro isn't there."""


def parsed(rows: DataFrame, source: StreamSource, schemas: Schemas | None) -> DataFrame:
    """Rows of a source, with the fields of each value as columns; schemas are Avro's, None for another format."""
    reader, relation = source.reader, source.relation
    format_ = reader["value_format"]
    if "value" not in rows.columns:
        raise StreamingError(
            f"{relation} has no column value, which value_format: {format_} reads; it has {', '.join(rows.columns)}\n"
            "  leave value_format out, or read the files with format: text"
        )
    given = {str(k): str(v) for k, v in dict(reader.get("value_options") or {}).items()}
    if schemas is None:
        given |= {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": _BROKEN}
        fields = f"{str(reader['schema']).strip().rstrip(',')}, {_BROKEN} STRING"
        read = f"from_{format_}({_TEXT}, {string_literal(fields)}, {string_map(given)})"
    elif (type_ := dict(rows.dtypes)["value"]) == "binary":
        read = schemas.sql("value", given, relation)
    else:
        raise StreamingError(
            f"{relation}: a value in Avro is bytes, and the source has one of type {type_}\n"
            "  value_format: avro is for Kafka; files in Avro are read with format: avro"
        )
    with needs_avro(relation, rows.sparkSession.version), spark_errors(f"{relation}: schema"):
        return rows.selectExpr("*", f"{read} AS {_VALUE}")


@contextmanager
def needs_avro(name: str, version: str) -> Iterator[None]:
    """Turns Spark's error into advice if its package for Avro isn't there."""
    try:
        yield
    except StreamingError as error:
        if not error.fault.condition.startswith(_NO_AVRO):
            raise
        raise StreamingError(
            f"{name}: Spark needs its package for Avro, in its own version\n"
            f"  add it to spark.jars.packages: org.apache.spark:spark-avro_2.13:{version}"
        ) from error


def unreadable(reader: Mapping[str, Any]) -> str:
    """Condition of unreadable values, as SQL over `parsed` rows. NULL is none: Kafka has it for deleted keys."""
    broken = f"{_VALUE} IS NULL"
    if (format_ := reader["value_format"]) != AVRO:
        broken += f" OR {_VALUE}.{_BROKEN} IS NOT NULL OR {_SEVERAL[format_]}"
    return f"coalesce(value IS NOT NULL AND ({broken}), FALSE)"


_OBJECTS = f"json_array_length(concat('[', {_TEXT}, ']'))"
_SEVERAL = {
    # Only text in which one object follows another is parsed once more.
    "json": rf"({_TEXT} RLIKE '\\}}[\\s,]*\\{{' AND coalesce({_OBJECTS}, 0) <> 1)",
    "csv": rf"""regexp_replace({_TEXT}, '"[^"]*"', '') RLIKE '[\\r\\n]+[^\\r\\n]'""",
}
"""Format -> condition of a value with more than one record: Spark reads the first one, and ignores the others."""


def seen(rows: DataFrame, source: StreamSource) -> DataFrame:
    """Rows with the columns that models see: of `parsed` rows the fields of the values, and those of `select`."""
    reader, relation = source.reader, source.relation
    if not source.has_values and "select" not in reader:
        return rows
    columns = [backticked(name) for name in rows.columns]
    if source.has_values:
        fields = [field.name for field in rows.schema[_VALUE].dataType.fields if field.name != _BROKEN]  # type: ignore[attr-defined]
        left_out = (_VALUE,) if source.prefix else (_VALUE, "value")
        others = {f"{source.prefix}{name}": name for name in rows.columns if name not in left_out}
        for name in others:
            if name.casefold() in {field.casefold() for field in fields}:
                raise StreamingError(
                    f"{relation} has a column {name} beside its value, and the value has one, too\n"
                    "  give the one in the schema another name"
                )
        values = [backticked(name) for name in fields]
        rows = rows.selectExpr(
            *(f"{_VALUE}.{name} AS {name}" for name in values),
            *(f"{backticked(name)} AS {backticked(other)}" for other, name in others.items()),
        )
        columns = values if source.prefix else [*values, *map(backticked, others)]
    if "select" in reader:
        items = [item for given in reader["select"] for item in (columns if given.strip() == "*" else [given])]
        rows.createOrReplaceTempView(READ_FROM)
        with spark_errors(f"{relation}: select"):
            return rows.sparkSession.sql(row_view(items).over(READ_FROM))
    return rows.selectExpr(*columns)
