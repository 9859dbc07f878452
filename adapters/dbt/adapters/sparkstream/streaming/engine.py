"""The seam to pyspark: everything that a streaming run asks of Spark, in the dbt process or over Spark Connect."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from dbt.adapters.sparkstream.environments.base import apply_settings
from dbt.adapters.sparkstream.errors import readable
from dbt.adapters.sparkstream.spark_connect import is_connect, joined
from dbt.adapters.sparkstream.sql.core.interval import Interval
from dbt.adapters.sparkstream.sql.core.literals import string_literal
from dbt.adapters.sparkstream.sql.passes.windows.lower import UTC
from dbt.adapters.sparkstream.sql.streaming import CLOSED, KEPT, NEW, SO_FAR, UNTIL, Stage, StreamPlan
from dbt.adapters.sparkstream.streaming.connect import expression, started
from dbt.adapters.sparkstream.streaming.errors import StreamingError
from dbt.adapters.sparkstream.streaming.eventtimes import NEVER, OBSERVED, guarded, is_in_time, observation
from dbt.adapters.sparkstream.streaming.paths import path_of
from dbt.adapters.sparkstream.streaming.progress import Batch
from dbt.adapters.sparkstream.streaming.sink import overwrite, show
from dbt.adapters.sparkstream.streaming.source import StreamSource, View

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming import StreamingQuery

    from dbt.adapters.sparkstream.environments import Environment

DELAY = "spark.watermarkDelayMs"
"""Key in the metadata of a column that carries a watermark; Spark's own."""

CLOSES = "sparkstream.closes"
"""Key in the metadata of a `window_time`: it may carry the watermark of the window's end."""

SETTINGS = {
    # Progress is asked for several times a second; Spark keeps 100 micro-batches, of which there may be more.
    "spark.sql.streaming.numRecentProgressUpdates": "10000",
}

_END = "timestamp'9999-06-01'"
"""The time of a row that closes all windows."""

_NOT_IN_FILES = ("void", "interval")
"""Types that no Parquet file has."""


@contextmanager
def spark_errors(doing: str = "") -> Iterator[None]:
    """Turns what Spark raises into a StreamingError that can be read."""
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError) as error:
        raise StreamingError(f"{doing}{': ' if doing else ''}{_said(error)}") from error


@contextmanager
def _no_folder() -> Iterator[None]:
    """Goes on where Spark finds no folder."""
    from pyspark.errors import AnalysisException

    try:
        yield
    except StreamingError as error:
        if not (isinstance(error.__cause__, AnalysisException) and "PATH_NOT_FOUND" in str(error)):
            raise


def _said(error: BaseException) -> str:
    """What Spark says is wrong, without the query's plan behind and its name in front."""
    text = readable(error).split("\n=== Streaming Query ===")[0]
    _, failed, cause = text.partition("terminated with exception: ")
    return (cause if failed else text).removesuffix(" SQLSTATE: XXKST").strip()


@dataclass(frozen=True)
class Rows:
    """A query that Spark has understood.

    Attributes:
        columns: names and Spark types of its columns.
        frame: pyspark's object.
    """

    columns: tuple[tuple[str, str], ...]
    frame: DataFrame

    @property
    def streams(self) -> bool:
        return bool(self.frame.isStreaming)


class Engine:
    """A Spark session of its own for one run of one model.

    Args:
        spark: the session.
        url: the server's address, of a session over Spark Connect.
    """

    def __init__(self, spark: SparkSession, url: str | None = None) -> None:
        self._spark = spark
        self._url = url

    @classmethod
    def open(cls, environment: Environment) -> Engine:
        """A session of the Spark that the profile leads to.

        Raises:
            DbtRuntimeError: there is no way to it.
        """
        session = environment.new_session()
        apply_settings(session, SETTINGS)
        return cls(session, environment.connect_url() if is_connect(session) else None)

    def close(self) -> None:
        """Ends a session over Spark Connect; the one in this process goes on for others."""
        if is_connect(self._spark):
            self._spark.stop()

    # -- what a run leaves behind when it is killed ------------------------------------------------
    def java(self) -> int | None:
        """The process of a Spark that ends with this one; None for a server."""
        if self._url is not None:
            return None
        return int(self._spark._jvm.java.lang.ProcessHandle.current().pid())  # type: ignore[union-attr]

    def session(self) -> tuple[str, str] | None:
        """The user and the id of the session on a server; None for a Spark in this process."""
        if self._url is None:
            return None
        client: Any = self._spark.client
        return str(client._user_id or ""), str(client._session_id)

    def end_queries(self, session: tuple[str, str], patience: float = 600) -> None:
        """Ends the streaming queries of another session on the same server, each when its micro-batch has ended.

        Args:
            session: user and id of the session.
            patience: seconds to wait for the end of a micro-batch.

        Raises:
            StreamingError: what Spark says is wrong.
        """
        if self._url is None:
            return
        try:
            with spark_errors():
                other = joined(self._url, *session)
                try:
                    for query in other.streams.active:
                        Running(query).stop(patience)
                finally:
                    other.stop()
        except StreamingError as error:
            if "INVALID_HANDLE" not in str(error):  # Spark has ended the session itself
                raise

    # -- questions ---------------------------------------------------------------------------------
    def sql(self, statement: str) -> list[Any]:
        """Runs a statement and gives its rows.

        Raises:
            StreamingError: what Spark says is wrong.
        """
        with spark_errors():
            return list(self._spark.sql(statement).collect())

    def lines(self, path: str) -> list[str]:
        """The lines of the text files in a folder; none where there is no folder."""
        return [line for (line,) in self._read(path, "value")]

    def named_lines(self, path: str) -> list[tuple[str, str]]:
        """The lines of the text files in folders, each with the file's path; none where there is no folder."""
        return [(file, line) for file, line in self._read(path, "_metadata.file_path", "value")]

    def write_lines(self, path: str, lines: Sequence[str]) -> None:
        """Makes a folder with one text file, in place of what is there."""
        values = ", ".join(f"({string_literal(line)})" for line in lines)
        with spark_errors():
            self._spark.sql(f"SELECT * FROM VALUES {values} AS t (line)").coalesce(1).write.mode("overwrite").text(path)

    def append(self, path: str, query: str) -> None:
        """Adds the rows of a query to the Parquet files of a folder, as one file."""
        with spark_errors():
            self._spark.sql(query).coalesce(1).write.mode("append").parquet(path)

    def stored_files(self, path: str) -> dict[str, int]:
        """The files in a folder and those below: path -> time of its last change, in milliseconds since the epoch.

        Files and folders with names that begin with `_` or `.` are none of them. Empty where there is no folder.
        """
        columns = ("path", "unix_millis(modificationTime)")  # and not the content, which Spark doesn't read then
        with _no_folder(), spark_errors():
            files = self._spark.read.format("binaryFile").option("recursiveFileLookup", "true").load(path)
            return {path_of(str(row[0])): int(row[1]) for row in files.selectExpr(*columns).collect()}
        return {}

    def pass_missing_files(self) -> None:
        """Leaves out files that were noted to be read and are gone."""
        with spark_errors():
            self._spark.conf.set("spark.sql.files.ignoreMissingFiles", "true")

    def clear(self, path: str) -> None:
        """Removes what is in a folder; the folder itself stays, or is made."""
        # Spark has no statement that removes a folder. This one writes no rows in place of all there is.
        with spark_errors():
            rows = self._spark.sql("SELECT 1 AS x, 1 AS p WHERE FALSE").write.partitionBy("p").mode("overwrite")
            rows.option("mapreduce.fileoutputcommitter.marksuccessfuljobs", "false").parquet(path)

    def names(self, path: str) -> set[str]:
        """The names of the files in a folder; none where there is no folder."""
        return {name for (name,) in self._read(path, "_metadata.file_name")}

    def _read(self, path: str, *columns: str) -> list[tuple[str, ...]]:
        with _no_folder(), spark_errors():
            return [tuple(map(str, row)) for row in self._spark.read.text(path).selectExpr(*columns).collect()]
        return []

    def zone(self) -> str:
        """The time zone whose clock windows follow."""
        with spark_errors():
            return str(self._spark.conf.get("spark.sql.session.timeZone"))

    def is_utc(self) -> bool:
        """Whether that clock shows UTC."""
        return self.zone() in UTC

    def exists(self, table: str) -> bool:
        """Whether there is a table or view of this name."""
        with spark_errors():
            return bool(self._spark.catalog.tableExists(table))

    def files(self, table: str) -> list[str]:
        """The data files of a table."""
        with spark_errors():
            return list(self._spark.table(table).inputFiles())

    def columns(self, table: str) -> list[str]:
        """The names of a table's columns."""
        with spark_errors():
            return list(self._spark.table(table).columns)

    def type_name(self, type_: str) -> str:
        """A type as Spark names it: `int` for `integer`."""
        with spark_errors(f"the type {type_!r}"):
            return str(self._spark.sql(f"SELECT CAST(NULL AS {type_}) AS x").schema["x"].dataType.simpleString())

    # -- streams -----------------------------------------------------------------------------------
    def stream_table(self, table: str, options: Mapping[str, str], view: View | None = None) -> DataFrame:
        """The rows of a table as a stream, seen through a view if there is one."""
        with spark_errors(f"can't stream from {table}"):
            return self._seen(self._spark.readStream.options(**options).table(table), view)

    def _seen(self, rows: DataFrame, view: View | None) -> DataFrame:
        if view is None:
            return rows
        rows.createOrReplaceTempView("__below_the_view")
        return self._spark.sql(view.query.over("__below_the_view")).toDF(*view.columns)

    def stream_format(self, reader: Mapping[str, Any], options: Mapping[str, str]) -> DataFrame:
        """A stream that isn't a table: files of a format, Kafka, or whatever Spark has a source for."""
        given = {str(k): str(v) for k, v in dict(reader.get("options") or {}).items()}
        with spark_errors("can't stream from the source"):
            stream = self._spark.readStream.format(str(reader["format"])).options(**options, **given)
            if "schema" in reader:
                stream = stream.schema(str(reader["schema"]))
            return stream.load(str(reader["path"])) if "path" in reader else stream.load()

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
            observed: whether Spark counts the rows without a time, and those too far ahead.
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
                stream = stream.withWatermark(event_time, watermark.words())
                if until is not None:
                    stream = stream.where(is_in_time(f"`{event_time}`"))
                if flush is not None:
                    # Spark moves conditions to before the watermark, which would not see the marks then: this one not,
                    # as it is on the event time, and those of the query not past rand(). Of one rand() Spark knows
                    # that it is at least 0, and leaves the condition out (OptimizeRand).
                    stream = stream.where(f"coalesce(`{event_time}` < {NEVER}, TRUE) AND rand() + rand() >= 0")
        with spark_errors():
            stream.createOrReplaceTempView(view)

    @staticmethod
    def _guarded(stream: DataFrame, event_time: str, until: str, observation_name: str | None) -> DataFrame:
        """A stream whose times too far ahead are another one; the times as they are can be observed below that."""
        name = next(name for name in stream.columns if name.casefold() == event_time.casefold())
        if observation_name is not None:
            counts = [expression(stream, sql) for sql in observation(f"`{name}`", until)]
            stream = stream.observe(observation_name, *counts)
        return stream.withColumn(name, expression(stream, guarded(f"`{name}`", until)))

    def _as_event_time(self, stream: DataFrame, event_time: str) -> DataFrame:
        """A stream whose event time can carry a watermark: a TIMESTAMP_NTZ is read on the session's clock."""
        field = next(field for field in stream.schema.fields if field.name.casefold() == event_time.casefold())
        type_ = field.dataType.simpleString()
        if type_ == "timestamp_ntz":
            return stream.withColumn(field.name, stream[field.name].cast("timestamp"))
        if type_ != "timestamp":
            raise StreamingError(
                f"the event time {field.name} is of type {type_}, and a watermark needs a TIMESTAMP\n"
                f"  cast it before stream(): in a view over the table, CAST({field.name} AS TIMESTAMP) AS ..."
            )
        return stream

    def define_files(self, source: StreamSource, files: Sequence[str], drop: tuple[str, ...]) -> None:
        """Makes the rows of some files of a stream known under its name."""
        with spark_errors():
            rows = self._rows_of(source, files)
            rows = self._seen(rows, source.seen).drop(*drop)
            if source.event_time is not None and source.watermark is not None:
                rows = self._as_event_time(rows, source.event_time)
            rows.createOrReplaceTempView(source.view)

    def _rows_of(self, source: StreamSource, files: Sequence[str]) -> DataFrame:
        reader = source.reader
        if reader and "path" not in reader:  # Kafka, for one, has no files
            return self._spark.createDataFrame([], self.stream_format(reader, {}).schema)
        if reader:
            loader = self._spark.read.format(str(reader["format"])).options(**dict(reader.get("options") or {}))
            rows = (loader.schema(str(reader["schema"])) if "schema" in reader else loader).load(str(reader["path"]))
        else:
            rows = self._spark.read.table(source.relation)
        names = ", ".join(string_literal(spelled) for name in files for spelled in _spellings(name))
        return rows.where(f"_metadata.file_path IN ({names})" if files else "FALSE")

    def union(self, queries: Sequence[str]) -> tuple[tuple[str, str], ...]:
        """The columns of several queries together, by name."""
        return self._understood(self._union(queries)).columns

    def replace(self, table: str, queries: Sequence[str], batch: int) -> None:
        """Writes the rows of several queries to a table's partition of a micro-batch, in place of what is there."""
        with spark_errors():
            rows = self._union(queries)
            columns = self._spark.read.table(table).columns
            values = [f"`{name}`" for name in columns[:-1]] + [f"CAST({batch} AS BIGINT) AS `{columns[-1]}`"]
            overwrite(rows.selectExpr(*values), table)

    def _union(self, queries: Sequence[str]) -> DataFrame:
        with spark_errors():
            rows = self._spark.sql(queries[0])
            for query in queries[1:]:
                rows = rows.unionByName(self._spark.sql(query), allowMissingColumns=True)
            return rows

    def add_stage(self, stage: Stage) -> None:
        """Makes a window function known under a name, its window's end marked as what the watermark closes.

        Raises:
            StreamingError: its time column has no watermark.
        """
        with spark_errors():
            rows = self._spark.sql(stage.sql)
            metadata = {field.name.casefold(): dict(field.metadata) for field in rows.schema.fields}
        if not rows.isStreaming:
            with spark_errors():
                rows.createOrReplaceTempView(stage.view)
            return
        delay: Any = next((m[DELAY] for m in metadata.values() if DELAY in m), 0)
        if stage.time is not None:
            time = _marks(stage.view.strip("_").rsplit("_", 1)[0].upper(), stage.time, metadata)
            delay = time.get(DELAY, delay)
        for field in rows.schema.fields:
            marks = {k: v for k, v in dict(field.metadata).items() if k not in (DELAY, CLOSES)}
            if stage.end is not None and field.name.casefold() == stage.end.casefold():
                marks[DELAY] = delay
            if field.name.casefold() in {name.casefold() for name in stage.closes}:
                marks[CLOSES] = delay
            if marks != dict(field.metadata):
                with spark_errors():
                    rows = rows.withMetadata(field.name, marks)
        with spark_errors():
            rows.createOrReplaceTempView(stage.view)

    def query(self, plan: StreamPlan) -> Rows:
        """The rows of a plan's query; those that have to wait do so until the watermark has passed their marked column.

        Raises:
            StreamingError: what Spark says is wrong, or nothing says when rows may leave the stream.
        """
        with spark_errors():
            rows = self._spark.sql(plan.query)
            fields = rows.schema.fields
        if plan.time is not None:
            marks = {field.name.casefold(): dict(field.metadata) for field in fields}
            _marks("SESSION" if plan.closing else "OVER", plan.time, marks)
        if plan.buffered:
            marked = [field.name for field in fields if DELAY in field.metadata]
            if not marked:
                raise StreamingError(
                    "the rows below OVER have no window whose end closes it\n"
                    "  select window_end of a window function with them"
                )
            names = ", ".join(f"`{field.name}`" for field in fields)
            rows.createOrReplaceTempView("__open_rows")
            with spark_errors():
                rows = self._spark.sql(
                    f"SELECT inline(collect_list(struct({names}))) FROM __open_rows "
                    f"WHERE `{marked[0]}` IS NOT NULL GROUP BY `{marked[0]}`"
                )
        return self._understood(rows)

    def batch_columns(self, plan: StreamPlan, rows: Rows) -> tuple[tuple[str, str], ...]:
        """The columns that a plan's query over closed rows gives, of the rows that leave the stream."""
        assert plan.batch is not None
        columns = ", ".join(f"`{name}` {type_}" for name, type_ in rows.columns)
        columns += f", {NEW} boolean" if plan.history and (plan.slices or not plan.closing) else ""
        with spark_errors():
            left = self._spark.createDataFrame([], columns)
            left.createOrReplaceTempView(SO_FAR if plan.closing else CLOSED)
            if plan.closing:
                show(self._spark, UNTIL, 0, 0)
                if plan.slices:
                    self._spark.sql(str(plan.history)).createOrReplaceTempView(KEPT)
                self._spark.sql(plan.closing).createOrReplaceTempView(CLOSED)
            return self._understood(self._spark.sql(plan.batch)).columns

    @staticmethod
    def _understood(rows: DataFrame) -> Rows:
        with spark_errors():
            return Rows(tuple((f.name, f.dataType.simpleString()) for f in rows.schema.fields), rows)

    def prepare_flush(self, folder: str) -> None:
        """Makes the folder of a flush, with no rows yet."""
        with spark_errors():
            self._spark.createDataFrame([], "t timestamp").write.mode("ignore").parquet(folder)

    def flush(self, folder: str, event_times: Sequence[str]) -> None:
        """Puts a row into the folder of a flush, behind all times."""
        with spark_errors():
            columns = ", ".join(f"{_END} AS `{name}`" for name in dict.fromkeys(event_times))
            self._spark.sql(f"SELECT {columns}").write.mode("append").parquet(folder)

    def start(
        self, rows: Rows, sink: Callable[..., None], checkpoint: str, name: str, interval: Interval | None, mode: str
    ) -> Running:
        """Starts a streaming query.

        Args:
            rows: the query.
            sink: gets the rows of each micro-batch, and its number.
            checkpoint: folder for offsets and state.
            name: of the query, for people.
            interval: time between two micro-batches; None to process what is there and end.
            mode: `append` for rows that are final, `update` for those that a micro-batch has changed.
        """
        from pyspark import cloudpickle

        from dbt.adapters.sparkstream.streaming import sink as sinks

        cloudpickle.register_pickle_by_value(sinks)
        writer = rows.frame.writeStream.outputMode(mode).queryName(name).option("checkpointLocation", checkpoint)
        writer = writer.trigger(processingTime=interval.words()) if interval else writer.trigger(availableNow=True)
        query = writer.foreachBatch(sink)
        with spark_errors():
            return Running(started(query.start) if is_connect(self._spark) else query.start())


def _marks(function: str, time: str, metadata: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any]:
    """The metadata of a window function's time column.

    Raises:
        StreamingError: it has no watermark.
    """
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


def _spellings(file: str) -> set[str]:
    """How a file may be written: Spark has `file:/a` beside `file:///a`, and escapes what it likes."""
    spellings = {file, unquote(file)}
    return spellings | {name.replace(":///", ":/", 1) for name in spellings}


class Running:
    """A streaming query that runs."""

    def __init__(self, query: StreamingQuery) -> None:
        self._query = query
        self._seen = -1

    def batches(self, pause: float = 0.2) -> Iterator[list[Batch]]:
        """What has happened since the last time, again and again until the query has ended.

        Raises:
            StreamingError: why it failed.
        """
        while True:
            with spark_errors():
                ended = not self._query.isActive
                new = [Batch.read(p.json if isinstance(p.json, str) else p.json()) for p in self._query.recentProgress]
            new = [batch for batch in new if batch.number > self._seen and batch.ran]
            if new:
                self._seen = max(batch.number for batch in new)
            yield new
            if ended:
                with spark_errors():
                    failure = self._query.exception()
                if failure is not None:
                    raise StreamingError(_said(failure)) from failure
                return
            self._wait(pause)

    def doing(self) -> str:
        """What the query does at the moment, in Spark's words."""
        with spark_errors():
            return str(self._query.status["message"])

    def _wait(self, seconds: float) -> None:
        with spark_errors():
            try:
                self._query.awaitTermination(max(1, round(seconds)))
            except Exception as error:
                from pyspark.errors import StreamingQueryException

                if not isinstance(error, StreamingQueryException):
                    raise

    def stop(self, patience: float = 60) -> None:
        """Ends the query when the micro-batch that runs has ended; at once when that takes too long.

        Args:
            patience: seconds to wait.
        """
        deadline = time.monotonic() + patience
        with spark_errors():
            while self._query.isActive and self._query.status["isTriggerActive"] and time.monotonic() < deadline:
                time.sleep(0.1)
            self._query.stop()
