"""Views of the streams that a model reads, under the names in its query, and rows that must move no watermark.

A row whose time is too far ahead of the clock gets the time `NOT_YET` before withWatermark, and is dropped behind it.
Spark's report of a micro-batch has the earliest time, so it shows whether there were such rows, or rows without a time:
NULL counts as 1970 there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

from dbt.adapters.sparkstream.spark.connect import expression
from dbt.adapters.sparkstream.sql.core.interval import Interval
from dbt.adapters.sparkstream.sql.core.literals import backticked, exactly, string_literal
from dbt.adapters.sparkstream.sql.core.names.checks import as_time
from dbt.adapters.sparkstream.streaming.refusals import StreamingError, spark_errors
from dbt.adapters.sparkstream.streaming.sources.avro import AVRO, Schemas
from dbt.adapters.sparkstream.streaming.sources.kafka import Kafka
from dbt.adapters.sparkstream.streaming.sources.source import Portion, Positions, StreamSource
from dbt.adapters.sparkstream.streaming.sources.values import OBSERVED as OBSERVED_VALUES
from dbt.adapters.sparkstream.streaming.sources.values import parsed, seen, unreadable
from dbt.adapters.sparkstream.streaming.tables.formats import BATCH

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_NOT_IN_FILES = ("void", "interval")
"""Types that no Parquet file has."""

DELAY = "spark.watermarkDelayMs"
"""Key in the metadata of a column that carries a watermark; Spark's own."""

CLOSES = "sparkstream.closes"
"""Key in the metadata of a `window_time`: it may carry the watermark of the window's end."""

NEVER = "timestamp'9999-01-01'"
"""End of the times of a stream: only the rows of a flush have later times, or this one."""

NOT_YET = "timestamp_micros(-62135596792222223)"
"""Time, in the first seconds of the year 1, that replaces a time too far ahead."""

OBSERVED = "sparkstream_times_"
"""Prefix of the names of observations of event times."""


@contextmanager
def _reading(doing: str) -> Iterator[None]:
    """Turns an error of Spark into a StreamingError, with advice if a source's folder doesn't exist."""
    try:
        with spark_errors(doing):
            yield
    except StreamingError as error:
        if error.fault.condition != "PATH_NOT_FOUND":
            raise
        raise StreamingError(f"{error}\n  make the folder, or write another path in the source's meta") from error


class Streams:
    """The streams of one run of a model."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._schemas: dict[str, Schemas] = {}
        """Source with values in Avro -> the schemas of its values."""

    def of(self, source: StreamSource, options: Mapping[str, str]) -> DataFrame:
        """The rows of a source as a stream, as models see them."""
        with _reading(f"can't stream from {source.relation}"):
            rows = source.stream(self._spark, options)
            rows.schema  # noqa: B018  over Spark Connect, Spark looks for the source when it is asked for the columns
            return self._as_read(rows, source, OBSERVED_VALUES + source.view)

    def _as_read(self, rows: DataFrame, source: StreamSource, observation: str | None = None) -> DataFrame:
        """Rows of a source as models see them; an observation counts the values that can't be read."""
        if source.has_values:
            rows, broken = self._parsed(rows, source), unreadable(source.reader)
            if observation is not None:
                rows = rows.observe(observation, expression(rows, f"count_if({broken}) AS unreadable"))
            rows = rows.where(f"NOT {broken}")
        rows = seen(rows, source)
        if source.seen is None:
            return rows
        rows.createOrReplaceTempView("__below_the_view")
        return self._spark.sql(source.seen.query.over("__below_the_view")).toDF(*source.seen.columns)

    def _parsed(self, rows: DataFrame, source: StreamSource) -> DataFrame:
        """Rows of a source, with the fields of each value as columns."""
        if source.reader["value_format"] == AVRO and source.relation not in self._schemas:
            self._schemas[source.relation] = Schemas.of(source.reader)
        return parsed(rows, source, self._schemas.get(source.relation))

    def learn(self, relation: str, schema: int) -> None:
        """Reads from a source's registry the schema of values that came after the run had begun."""
        self._schemas[relation].learn(schema)

    def define(
        self, source: StreamSource, stream: DataFrame, flush: str | None, until: str | None, observed: bool
    ) -> None:
        """Makes the view of a stream, under its name, with the watermark of its source.

        Args:
            flush: a folder whose rows move the watermark and are no rows of the stream.
            until: the first time, as SQL, that is too far ahead: its rows are left out and don't move the watermark;
                None where all rows stay.
            observed: True if Spark counts the rows without a time, and the rows too far ahead.
        """
        view, event_time, watermark = source.view, source.event_time, source.watermark
        stream = stream.drop(BATCH)
        if event_time is not None and watermark is not None:
            stream = self._as_event_time(stream, event_time)
            with spark_errors(f"the event time {event_time}"):
                if until is not None:
                    stream = self._guarded(stream, event_time, until, OBSERVED + view if observed else None)
                if flush is not None:
                    from pyspark.sql.types import StructType

                    # With all columns, though the files have one: if they were NULL in the query, Spark would see that
                    # these rows meet no row of a join, and would not read them.
                    stored = [f for f in stream.schema.fields if f.dataType.typeName() not in _NOT_IN_FILES]
                    marks = self._spark.readStream.schema(StructType(stored)).parquet(exactly(flush))
                    stream = stream.unionByName(marks, allowMissingColumns=True)
                stream = stream.withWatermark(backticked(event_time), watermark.words())
                if until is not None:
                    # Spark moves no condition on the event time below the watermark.
                    stream = stream.where(f"coalesce({backticked(event_time)} <> {NOT_YET}, TRUE)")
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
    def _guarded(stream: DataFrame, event_time: str, until: str, observation: str | None) -> DataFrame:
        """A stream with `NOT_YET` for times too far ahead; an observation below it counts the times as they are."""
        name = next(name for name in stream.columns if name.casefold() == event_time.casefold())
        time = backticked(name)
        if observation is not None:
            counts = (
                f"count_if({time} IS NULL) AS untimed",
                f"count_if({time} >= {until}) AS ahead",
                f"max(unix_micros(CASE WHEN {time} >= {until} THEN {time} END)) AS furthest",
                f"min(unix_micros({time})) AS earliest",
            )
            stream = stream.observe(observation, *(expression(stream, count) for count in counts))
        return stream.withColumn(name, expression(stream, f"IF({time} >= {until}, {NOT_YET}, {time})"))

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

    def define_portion(self, source: StreamSource, portion: Portion) -> None:
        """Makes a view, under the stream's name, of the stream's rows that a micro-batch has read."""
        with spark_errors():
            rows = self._as_streamed(source.rows_of(self._spark, portion), source)
            rows.drop(BATCH).createOrReplaceTempView(source.view)

    def define_batch(self, source: StreamSource, until: str | None) -> None:
        """Makes a view, under the stream's name, of all rows that its source has by now; `until`: see `define`."""
        with spark_errors(f"can't read {source.relation}"):
            if not source.reader:
                self._spark.catalog.refreshTable(source.relation)
            rows = self._as_streamed(source.rows(self._spark), source).drop(BATCH)
            if until is not None and source.event_time is not None:
                rows = rows.where(f"coalesce({backticked(source.event_time)} < {until}, TRUE)")
            rows.createOrReplaceTempView(source.view)

    def define_globally(self, source: StreamSource, name: str, is_question: bool) -> None:
        """Makes a global view, for all sessions, of the rows that a source has by now.

        For a question, which wants only its columns, its files need not be there.
        """
        try:
            with _reading(f"can't read {source.relation}"):
                rows = source.rows(self._spark)
                rows.schema  # noqa: B018  looks for the source, as in `of`
        except StreamingError as error:
            if not (is_question and source.states_columns):
                if source.batch_advice is None or error.fault.condition in ("", "PATH_NOT_FOUND"):
                    raise
                raise StreamingError(
                    f"{source.relation} is read as a stream alone, and not by a batch: it is {source.name}\n"
                    f"  {source.batch_advice}"
                ) from error
            with spark_errors(f"can't read {source.relation}"):
                rows = source.without_rows(self._spark)
        with spark_errors(f"can't read {source.relation}"):
            self._as_streamed(rows, source).createOrReplaceGlobalTempView(name)

    def _as_streamed(self, rows: DataFrame, source: StreamSource) -> DataFrame:
        """Rows of a source in the form in which the stream gives them to the model."""
        rows = self._as_read(rows, source)
        if source.event_time is not None and source.watermark is not None:
            rows = self._as_event_time(rows, source.event_time)
        return rows

    def define_unreadable(self, source: StreamSource, portion: Portion, view: str) -> None:
        """Makes a view of a stream's rows with unreadable values, among those that a micro-batch has read."""
        with spark_errors():
            rows = source.rows_of(self._spark, portion)
            file = "_metadata.file_path" if portion.files else "CAST(NULL AS STRING)"
            rows = self._parsed(rows, source).where(unreadable(source.reader))
            origin = f"{string_literal(source.relation.replace('`', ''))} AS source"
            rows = rows.selectExpr(origin, f"{file} AS file", *source.origin(), "CAST(value AS BINARY) AS value")
            rows.createOrReplaceTempView(view)

    def records(self, source: Kafka, places: Positions) -> list[tuple[str, int, int, int, int]]:
        """Records of Kafka at some offsets, in the form of `Kafka.records`."""
        with spark_errors():
            return source.records(self._spark, places)


def marks_of(function: str, time: str, metadata: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any]:
    """The metadata of a window function's time column."""
    found = metadata.get(time.casefold(), {})
    if DELAY in found or CLOSES in found:
        return found
    carriers = [name for name, marks in metadata.items() if DELAY in marks or CLOSES in marks]
    raise StreamingError(
        f"{function}'s time column {time} has no watermark\n  "
        + (
            f"{' and '.join(carriers)} has one: window by that, or make {time} the event_time"
            if carriers
            else f"write config(event_time='{time}', watermark='10 minutes'): how much later than others a row may come"
        )
    )


def limit(max_future: Interval | None, now: str = "current_timestamp()") -> str:
    """The first time that is too far ahead, as SQL.

    Args:
        max_future: how far ahead of the clock a time may be; None for any up to the year 9999.
        now: the clock, as SQL. In a stream, Spark's `current_timestamp()` is when the micro-batch was planned. The
            checkpoint has it, so a micro-batch that comes again has the same.
    """
    if max_future is None:
        return NEVER
    # Spark puts the clock in after it has folded constants, so each row computes this; `+ INTERVAL` asks the calendar.
    micros = min(max_future.micros, 2**58)  # 9,000 years
    return f"least(timestamp_micros(unix_micros({now}) + {micros}), {NEVER})"


def is_ahead(watermark: datetime, max_future: Interval) -> bool:
    """True if a watermark is further ahead of the clock than a time may be, and no flush has set it."""
    until = datetime.now(timezone.utc) + timedelta(microseconds=max_future.micros)
    return until < watermark and watermark.year < 9000
