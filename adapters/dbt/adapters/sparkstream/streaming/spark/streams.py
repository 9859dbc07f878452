"""The streams that a model reads, made known to Spark under the names that the model's query has for them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from dbt.adapters.sparkstream.sql.core.interval import Interval
from dbt.adapters.sparkstream.sql.core.literals import backticked, string_literal
from dbt.adapters.sparkstream.sql.passes.windows.times import as_time
from dbt.adapters.sparkstream.streaming.refusals import StreamingError
from dbt.adapters.sparkstream.streaming.sources.avro import AVRO, Schemas
from dbt.adapters.sparkstream.streaming.sources.python import registered
from dbt.adapters.sparkstream.streaming.sources.reader import (
    DATA_SOURCE,
    WHERE_FROM,
    given_options,
    has_values,
    is_kafka,
    is_other,
    kind_of,
)
from dbt.adapters.sparkstream.streaming.sources.source import Portion, Positions, StreamSource, View
from dbt.adapters.sparkstream.streaming.sources.values import OBSERVED as OBSERVED_VALUES
from dbt.adapters.sparkstream.streaming.sources.values import parsed, seen, unreadable
from dbt.adapters.sparkstream.streaming.spark.connect import expression
from dbt.adapters.sparkstream.streaming.spark.eventtimes import NEVER, OBSERVED, guarded, is_in_time, observation
from dbt.adapters.sparkstream.streaming.spark.raised import spark_errors

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_NOT_IN_FILES = ("void", "interval")
"""Types that no Parquet file has."""


def _known(rows: DataFrame) -> DataFrame:
    """Rows that Spark has looked for; over Spark Connect it does so when it is asked for the columns."""
    rows.schema  # noqa: B018
    return rows


class Streams:
    """The streams of one run of a model.

    Args:
        spark: the run's session.
        project: the folder of the dbt project, which may have modules of data sources; None for no project.
    """

    def __init__(self, spark: SparkSession, project: Path | None = None) -> None:
        self._spark = spark
        self._project = project
        self._schemas: dict[str, Schemas] = {}
        """Source with values in Avro -> the schemas of its values."""

    def of_table(self, table: str, options: Mapping[str, str], view: View | None = None) -> DataFrame:
        """The rows of a table as a stream, seen through a view if there is one."""
        with spark_errors(f"can't stream from {table}"):
            return _known(self._seen(self._spark.readStream.options(**options).table(table), view))

    def _seen(self, rows: DataFrame, view: View | None) -> DataFrame:
        if view is None:
            return rows
        rows.createOrReplaceTempView("__below_the_view")
        return self._spark.sql(view.query.over("__below_the_view")).toDF(*view.columns)

    def of_format(self, source: StreamSource, options: Mapping[str, str]) -> DataFrame:
        """A stream that isn't a table: files of a format, Kafka, or whatever Spark has a source for.

        Raises:
            StreamingError: Spark has no such source, or its rows aren't as the source's meta says.
        """
        reader = source.reader
        rows = self._as_it_is(reader, options)
        if has_values(reader):
            rows = self._parsed(rows, source)
            count = expression(rows, f"count_if({unreadable(reader)}) AS unreadable")
            rows = rows.observe(OBSERVED_VALUES + source.view, count).where(f"NOT {unreadable(reader)}")
        return seen(rows, reader, source.relation)

    def _parsed(self, rows: DataFrame, source: StreamSource) -> DataFrame:
        """Rows of a source, with what is read of each value beside them."""
        if source.reader["value_format"] == AVRO and source.relation not in self._schemas:
            self._schemas[source.relation] = Schemas.of(source.reader)
        return parsed(rows, source.reader, source.relation, self._schemas.get(source.relation))

    def learn(self, relation: str, schema: int) -> None:
        """Asks a source's registry for the schema of values that came after the run had begun."""
        self._schemas[relation].learn(schema)

    def _as_it_is(self, reader: Mapping[str, Any], options: Mapping[str, str]) -> DataFrame:
        """A stream as Spark's source has it."""
        with spark_errors("can't stream from the source"):
            format_ = self._format(reader)
            stream = self._spark.readStream.format(format_).options(**{**options, **given_options(reader)})
            if "schema" in reader and not has_values(reader):
                stream = stream.schema(str(reader["schema"]))
            return _known(stream.load(str(reader["path"])) if "path" in reader else stream.load())

    def _format(self, reader: Mapping[str, Any]) -> str:
        """The name that Spark knows a source by."""
        if DATA_SOURCE not in reader:
            return str(reader["format"])
        return registered(self._spark, str(reader[DATA_SOURCE]), self._project)

    def define(
        self,
        view: str,
        stream: DataFrame,
        event_time: str | None,
        watermark: Interval | None,
        drop: tuple[str, ...],
        flush: str | None = None,
        until: str | None = None,
        observed: bool = False,
    ) -> None:
        """Makes a stream known under a name, with a watermark.

        Args:
            view: the name.
            stream: the stream.
            event_time: the column that the watermark is of.
            watermark: its delay.
            drop: columns to leave out.
            flush: a folder whose rows move the watermark and are no rows of the stream.
            until: the first time, as SQL, that is too far ahead: its rows are left out and don't move the watermark;
                None where all rows stay.
            observed: whether Spark counts the rows without a time, and the rows too far ahead.
        """
        if drop:
            stream = stream.drop(*drop)
        if event_time is not None and watermark is not None:
            stream = self._as_event_time(stream, event_time)
            with spark_errors(f"the event time {event_time}"):
                if until is not None:
                    stream = self._guarded(stream, event_time, until, OBSERVED + view if observed else None)
                if flush is not None:
                    from pyspark.sql.types import StructType

                    # With all columns, though the files have one: of a NULL in the query Spark would know that it meets
                    # no row of a join, and then it doesn't read the marks.
                    stored = [f for f in stream.schema.fields if f.dataType.typeName() not in _NOT_IN_FILES]
                    marks = self._spark.readStream.schema(StructType(stored)).parquet(flush)
                    stream = stream.unionByName(marks, allowMissingColumns=True)
                stream = stream.withWatermark(backticked(event_time), watermark.words())
                if until is not None:
                    stream = stream.where(is_in_time(backticked(event_time)))
                if flush is not None:
                    # Spark moves conditions below the watermark, where they would drop the marks before it sees them.
                    # It moves no condition on the event time, and moves no condition of the query below rand(). Spark
                    # knows that one rand() is at least 0 and drops the condition (OptimizeRand), so there are two.
                    stream = stream.where(
                        f"coalesce({backticked(event_time)} < {NEVER}, TRUE) AND rand() + rand() >= 0"
                    )
        with spark_errors():
            stream.createOrReplaceTempView(view)

    @staticmethod
    def _guarded(stream: DataFrame, event_time: str, until: str, observation_name: str | None) -> DataFrame:
        """A stream in which times too far ahead are replaced; an observation below it counts the times as they are."""
        name = next(name for name in stream.columns if name.casefold() == event_time.casefold())
        if observation_name is not None:
            counts = [expression(stream, sql) for sql in observation(backticked(name), until)]
            stream = stream.observe(observation_name, *counts)
        return stream.withColumn(name, expression(stream, guarded(backticked(name), until)))

    def _as_event_time(self, stream: DataFrame, event_time: str) -> DataFrame:
        """A stream whose event time can carry a watermark: a TIMESTAMP_NTZ is read on the session's clock."""
        field = next(field for field in stream.schema.fields if field.name.casefold() == event_time.casefold())
        type_ = field.dataType.simpleString()
        if type_ == "timestamp_ntz":
            return stream.withColumn(field.name, stream[backticked(field.name)].cast("timestamp"))
        if type_ != "timestamp":
            raise StreamingError(
                f"the event time {field.name} is of type {type_}, and a watermark needs a TIMESTAMP\n"
                "  make a time of it before stream(): in a view over the table, "
                f"{as_time(field.name, type_, flink=False)} AS ..."
            )
        return stream

    def define_portion(self, source: StreamSource, portion: Portion, drop: tuple[str, ...]) -> None:
        """Makes the rows of a stream that a micro-batch has read known under its name."""
        with spark_errors():
            self._as_streamed(self._rows_of(source, portion), source, drop).createOrReplaceTempView(source.view)

    def define_batch(self, source: StreamSource, until: str | None, drop: tuple[str, ...]) -> None:
        """Makes all rows that a stream's files, or its table, have by now known under its name.

        Args:
            source: the stream.
            until: the first time, as SQL, that is too far ahead: its rows are left out; None where all rows stay.
            drop: columns to leave out.
        """
        with spark_errors(f"can't read {source.relation}"):
            if not source.reader:
                self._spark.catalog.refreshTable(source.relation)
            rows = self._as_streamed(self._stored(source), source, drop)
            if until is not None and source.event_time is not None:
                rows = rows.where(f"coalesce({backticked(source.event_time)} < {until}, TRUE)")
            rows.createOrReplaceTempView(source.view)

    def define_globally(self, source: StreamSource, name: str, is_question: bool) -> None:
        """Makes the rows that a source has by now known to all sessions.

        Args:
            source: the source, which is no table.
            name: the view's name.
            is_question: whether only its columns are asked for, which it may have before its files are there.

        Raises:
            StreamingError: the source can't be read by a batch.
        """
        try:
            with spark_errors(f"can't read {source.relation}"):
                rows = self._stored(source)
        except StreamingError as error:
            if not (is_question and _has_columns(source.reader)):
                if (told := _without_batch(error, source)) is None:
                    raise
                raise told from error
            with spark_errors(f"can't read {source.relation}"):
                rows = self._without_rows(source.reader)
        with spark_errors(f"can't read {source.relation}"):
            self._as_streamed(rows, source, ()).createOrReplaceGlobalTempView(name)

    def _without_rows(self, reader: Mapping[str, Any]) -> DataFrame:
        """The columns that a source states, or that it has as a stream, without a row."""
        if has_values(reader) and "path" in reader:
            return self._spark.createDataFrame([], "value string")
        if "path" in reader and DATA_SOURCE not in reader:
            return self._spark.createDataFrame([], str(reader["schema"]))
        return self._spark.createDataFrame([], self._as_it_is(reader, {}).schema)

    def _as_streamed(self, rows: DataFrame, source: StreamSource, drop: tuple[str, ...]) -> DataFrame:
        """Rows that a source has, as the stream gives them to the model."""
        if source.reader:
            if has_values(source.reader):
                rows = self._parsed(rows, source).where(f"NOT {unreadable(source.reader)}")
            rows = seen(rows, source.reader, source.relation)
        rows = self._seen(rows, source.seen).drop(*drop)
        if source.event_time is not None and source.watermark is not None:
            rows = self._as_event_time(rows, source.event_time)
        return rows

    def define_unreadable(self, source: StreamSource, portion: Portion, view: str) -> None:
        """Makes known which rows that a micro-batch has read of a stream have values that can't be read.

        Args:
            source: the stream.
            portion: what the micro-batch has read of it.
            view: a name for them.
        """
        of_kafka = {
            "topic": "string",
            "partition": "int",
            "offset": "bigint",
            "timestamp": "timestamp",
            "key": "binary",
        }
        with spark_errors():
            rows = self._rows_of(source, portion)
            file = "_metadata.file_path" if portion.files else "CAST(NULL AS STRING)"
            rows = self._parsed(rows, source).where(unreadable(source.reader))
            given = of_kafka if is_kafka(source.reader) else {}
            facts = [f"{name if name in given else 'NULL'} :: {type_} AS {name}" for name, type_ in of_kafka.items()]
            origin = f"{string_literal(source.relation.replace('`', ''))} AS source"
            rows = rows.selectExpr(origin, f"{file} AS file", *facts, "CAST(value AS BINARY) AS value")
            rows.createOrReplaceTempView(view)

    def _rows_of(self, source: StreamSource, portion: Portion) -> DataFrame:
        """The rows that a micro-batch has read, as the source has them."""
        reader = source.reader
        if reader and is_kafka(reader):
            return self._records(reader, portion)
        if is_other(reader):  # a socket, for one, has no files
            return self._spark.createDataFrame([], self._as_it_is(reader, {}).schema)
        rows = self._stored(source)
        names = ", ".join(string_literal(spelled) for name in portion.files for spelled in _spellings(name))
        return rows.where(f"_metadata.file_path IN ({names})" if portion.files else "FALSE")

    def _stored(self, source: StreamSource) -> DataFrame:
        """All rows that a table, files, topics or another source have by now."""
        reader = source.reader
        if not reader:
            return self._spark.read.table(source.relation)
        options = given_options(reader)
        if is_kafka(reader):  # a batch has to begin somewhere, and has an end
            options = {name: text for name, text in options.items() if text.casefold() != "latest"}
        loader = self._spark.read.format(self._format(reader)).options(**options)
        with_schema = "schema" in reader and not has_values(reader)
        loader = loader.schema(str(reader["schema"])) if with_schema else loader
        return loader.load(str(reader["path"])) if "path" in reader else loader.load()

    def records(self, source: StreamSource, places: Positions) -> list[tuple[str, int, int, int, int]]:
        """Some records of Kafka: topic, partition, offset, time in microseconds, and a hash of key and value.

        Args:
            source: the source that reads them.
            places: topic -> partition -> offset. A record that is gone is left out.
        """
        until = {topic: {n: offset + 1 for n, offset in of.items()} for topic, of in places.items()}
        lenient = {"failOnDataLoss": "false", "kafkaConsumer.pollTimeoutMs": "10000"}
        reader = {**source.reader, "options": {**given_options(source.reader), **lenient}}
        facts = ("topic", "partition", "offset", "unix_micros(timestamp)", "xxhash64(key, value)")
        with spark_errors():
            rows = self._records(reader, Portion(since=places, until=until)).selectExpr(*facts).collect()
        return [tuple(row) for row in rows]

    def _records(self, reader: Mapping[str, Any], portion: Portion) -> DataFrame:
        """Records of Kafka, by their offsets."""
        given = {
            name: text for name, text in given_options(reader).items() if not name.casefold().startswith("starting")
        }
        loader = self._spark.read.format(str(reader["format"]))
        if not portion.until:
            return loader.options(**given).load().where("FALSE")
        topics = {name.casefold() for name in WHERE_FROM}
        options = {name: text for name, text in given.items() if name.casefold() not in topics}
        partitions = {topic: sorted(map(int, until)) for topic, until in portion.until.items()}
        earliest = -2  # as Spark reads a partition that was added
        since = {
            topic: {number: portion.since.get(topic, {}).get(number, earliest) for number in until}
            for topic, until in portion.until.items()
        }
        places = {"assign": partitions, "startingOffsets": since, "endingOffsets": portion.until}
        return loader.options(**options, **{name: json.dumps(place) for name, place in places.items()}).load()


def _has_columns(reader: Mapping[str, Any]) -> bool:
    """Whether the columns of a source are known before it has anything."""
    return "schema" in reader or is_other(reader)


def _without_batch(error: StreamingError, source: StreamSource) -> StreamingError | None:
    """What is wrong where a batch can't read a source; None where the error says it."""
    if not is_other(source.reader) or error.fault.condition in ("", "PATH_NOT_FOUND"):
        return None
    reader = source.reader
    advice = (
        "give the class a method reader, beside the one for streams"
        if DATA_SOURCE in reader
        else "keep its rows in a streaming model, and read that"
    )
    return StreamingError(
        f"{source.relation} is read as a stream alone, and not by a batch: it is {kind_of(reader)}\n  {advice}"
    )


def _spellings(file: str) -> set[str]:
    """How a file may be written: Spark has `file:/a` beside `file:///a`, and escapes what it likes."""
    spellings = {file, unquote(file)}
    return spellings | {name.replace(":///", ":/", 1) for name in spellings}
