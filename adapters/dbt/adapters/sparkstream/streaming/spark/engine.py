"""The seam to pyspark: all that a streaming run needs of Spark, in the dbt process or over Spark Connect."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dbt.adapters.events.logging import AdapterLogger

from dbt.adapters.sparkstream.spark.connect import expression, host_and_port, is_connect, joined
from dbt.adapters.sparkstream.spark.environments.base import apply_settings
from dbt.adapters.sparkstream.spark.session_conf import LOCAL
from dbt.adapters.sparkstream.sql.core.interval import Interval
from dbt.adapters.sparkstream.sql.core.literals import backticked
from dbt.adapters.sparkstream.sql.core.nested import array_of, map_of, row_of
from dbt.adapters.sparkstream.sql.passes.windows.lower import UTC
from dbt.adapters.sparkstream.sql.streaming import Stage, StreamPlan, endings
from dbt.adapters.sparkstream.streaming.refusals import StreamingError, ignored, spark_errors
from dbt.adapters.sparkstream.streaming.sinks.topic import Topic
from dbt.adapters.sparkstream.streaming.sources.kafka import KAFKA, SERVERS, check_brokers
from dbt.adapters.sparkstream.streaming.sources.values import needs_avro
from dbt.adapters.sparkstream.streaming.spark.folders import Folders, listed_at_once
from dbt.adapters.sparkstream.streaming.spark.progress import Running, started
from dbt.adapters.sparkstream.streaming.spark.streams import CLOSES, DELAY, Streams, marks_of
from dbt.adapters.sparkstream.streaming.worker.sink import numbered, overwrite, settings
from dbt.adapters.sparkstream.streaming.worker.state import show

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import DataType

    from dbt.adapters.sparkstream.spark.environments import Environment

SETTINGS = {
    # Spark keeps the reports of 100 micro-batches. There may be more between two looks, while late rows are counted.
    "spark.sql.streaming.numRecentProgressUpdates": "2000",
    # A table has a folder for each micro-batch. In a store, Spark lists 33 and more of them in a job, each in a task.
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "32",
}

logger = AdapterLogger("SparkStream")


Columns = tuple[tuple[str, str], ...]
"""Names and types of columns."""


@dataclass(frozen=True)
class Rows:
    """Rows of a stream's query that Spark has analysed, with the columns of the table that they get into."""

    columns: Columns
    frame: DataFrame


_MANAGER = "spark.sql.streaming.checkpointFileManagerClass"
_RENAMES = "FileSystemBasedCheckpointFileManager"
_PACKAGES = "org.apache.spark.sql.execution.streaming.checkpointing", "org.apache.spark.sql.execution.streaming"
"""Packages of that class in Spark, from 4.1 on and before."""
_EXCLUDED = "spark.sql.optimizer.excludedRules"
_PUSHES_SEMI_JOINS = "org.apache.spark.sql.catalyst.optimizer.PushDownLeftSemiAntiJoin"


class Engine:
    """The Spark session of one run of one model, which nothing else uses; `url` is the server's, over Spark Connect."""

    def __init__(self, spark: SparkSession, url: str | None = None) -> None:
        self._spark = spark
        self._url = url
        self.folders = Folders(spark)
        self.streams = Streams(spark)

    @classmethod
    def open(cls, environment: Environment) -> Engine:
        """Engine with a new session of the profile's Spark."""
        session = environment.new_session()
        apply_settings(session, SETTINGS)
        url = environment.connect_url() if is_connect(session) else None
        return cls(session, url)

    def close(self) -> None:
        """Ends a session over Spark Connect; a session in this process goes on for others."""
        if is_connect(self._spark):
            self._spark.stop()

    # -- what a run leaves behind when it is killed ------------------------------------------------
    def java(self) -> int | None:
        """Pid of a Spark that ends with this process; None for a server."""
        if self._url is not None:
            return None
        return int(self._spark._jvm.java.lang.ProcessHandle.current().pid())  # type: ignore[union-attr]

    def session(self) -> tuple[str, str] | None:
        """The user and the id of the session on a server; None for a Spark in this process."""
        if self._url is None:
            return None
        client: Any = self._spark.client
        return str(client._user_id or ""), str(client._session_id)

    def end_queries(self, session: tuple[str, str]) -> None:
        """Ends the work of another session on the same server, a query when its micro-batch has ended."""
        if self._url is None:
            return
        with ignored("INVALID_HANDLE"), spark_errors():  # Spark has ended the session itself
            other = joined(self._url, *session)
            try:
                for query in other.streams.active:
                    Running(query).stop(patience=600)
                other.interruptAll()
            finally:
                other.stop()

    # -- questions ---------------------------------------------------------------------------------
    def sql(self, statement: str) -> list[Any]:
        """Runs a statement and returns its rows."""
        with spark_errors():
            return list(self._spark.sql(statement).collect())

    def write_few_files(self) -> None:
        """Has REBALANCE join small partitions, whatever the session's settings are for other queries."""
        with spark_errors():
            self._spark.conf.set("spark.sql.adaptive.enabled", "true")
            self._spark.conf.set("spark.sql.adaptive.coalescePartitions.enabled", "true")
            self._spark.conf.set("spark.sql.adaptive.coalescePartitions.parallelismFirst", "false")

    def zone(self) -> str:
        """The time zone whose clock windows follow."""
        with spark_errors():
            return str(self._spark.conf.get("spark.sql.session.timeZone"))

    def is_utc(self) -> bool:
        """True if the session's time zone is UTC."""
        return self.zone() in UTC

    def exists(self, table: str) -> bool:
        """True if a table or view of this name exists."""
        with spark_errors():
            return bool(self._spark.catalog.tableExists(table))

    def files(self, table: str, folder: str) -> list[str]:
        """The data files of a table, which lies in the folder."""
        with spark_errors(), self.listing(folder):
            return list(self._spark.table(table).inputFiles())

    def listing(self, folder: str) -> AbstractContextManager[None]:
        """Has Spark list the files below a table's folder without a job, where the block reads the table."""
        return listed_at_once(self._spark, folder)

    def columns(self, table: str) -> list[str]:
        """The names of a table's columns."""
        with spark_errors():
            return list(self._spark.table(table).columns)

    def described(self, table: str) -> Columns:
        """The names and types of the columns of a table or view."""
        with spark_errors():
            return _columns(self._spark.table(table))

    @property
    def version(self) -> str:
        """Spark's version."""
        return str(self._spark.version)

    def setting(self, name: str) -> str:
        """A setting of the session; empty where there is none."""
        with spark_errors():
            return str(self._spark.conf.get(name, ""))

    def settings(self, given: dict[str, str]) -> AbstractContextManager[None]:
        """Sets settings of the session for the block."""
        return settings(self._spark, given)

    def type_name(self, type_: str) -> str:
        """A type as Spark names it: `int` for `integer`."""
        with spark_errors(f"the type {type_!r}"):
            return written_type(self._spark.sql(f"SELECT CAST(NULL AS {type_}) AS x").schema["x"].dataType)

    @spark_errors()
    def union(self, queries: Sequence[str]) -> Columns:
        """The columns of several queries together, by name."""
        return _columns(self._union(queries))

    def replace(self, table: str, queries: Sequence[str], batch: int) -> None:
        """Replaces a table's partition of a micro-batch by the rows of several queries."""
        with spark_errors():
            rows = self._union(queries)
            overwrite(rows.selectExpr(*numbered(self._spark.read.table(table).columns, batch)), table)

    def _union(self, queries: Sequence[str]) -> DataFrame:
        rows = self._spark.sql(queries[0])
        for query in queries[1:]:
            rows = rows.unionByName(self._spark.sql(query), allowMissingColumns=True)
        return rows

    @spark_errors()
    def add_stage(self, stage: Stage) -> None:
        """Makes a view of a window function's rows, its window's end marked as the time that the watermark closes."""
        rows = self._spark.sql(stage.sql)
        if rows.isStreaming:
            rows = self._closable(rows, stage)
        rows.createOrReplaceTempView(stage.view)

    @staticmethod
    def _closable(rows: DataFrame, stage: Stage) -> DataFrame:
        metadata = {field.name.casefold(): dict(field.metadata) for field in rows.schema.fields}
        delay: Any = next((m[DELAY] for m in metadata.values() if DELAY in m), 0)
        if stage.time is not None:
            time = marks_of(stage.view.strip("_").rsplit("_", 1)[0].upper(), stage.time, metadata)
            delay = time.get(DELAY, delay)
        for field in rows.schema.fields:
            marks = {k: v for k, v in dict(field.metadata).items() if k not in (DELAY, CLOSES)}
            if stage.end is not None and field.name.casefold() == stage.end.casefold():
                marks[DELAY] = delay
            if field.name.casefold() in {name.casefold() for name in stage.closes}:
                marks[CLOSES] = delay
            if marks != dict(field.metadata):
                rows = _marked(rows, field.name, marks)
        return rows

    @spark_errors()
    def query(self, plan: StreamPlan) -> Rows:
        """The rows of a plan's query, and the columns of those that get into the table.

        Rows that have to wait leave when the watermark has passed the marked column.
        """
        self._leave_semi_joins()
        if not plan.read_once:
            # Spark computes equal parts of a query once, and waits for ever for the watermark of the other part.
            self._spark.conf.set("spark.sql.exchange.reuse", "false")
        rows = self._spark.sql(plan.query)
        if plan.waits_longer and plan.time is not None:
            rows = _marked(rows, plan.time, {DELAY: 0})  # it is computed, so Spark doesn't know it as a time
        fields = rows.schema.fields
        if plan.time is not None:
            marks = {field.name.casefold(): dict(field.metadata) for field in fields}
            marks_of(plan.ending.part if isinstance(plan.ending, endings.OnSessions) else "OVER", plan.time, marks)
        if plan.buffered:
            marked = [field.name for field in fields if DELAY in field.metadata]
            if not marked:
                raise StreamingError(
                    "the rows below OVER, or a join as of a time, have no column that a watermark closes\n"
                    "  select window_end of a window function with them; or make what is below a streaming model "
                    "of its own, and read that"
                )
            names = ", ".join(backticked(field.name) for field in fields)
            rows.createOrReplaceTempView("__open_rows")
            rows = self._spark.sql(
                f"SELECT inline(collect_list(struct({names}))) FROM __open_rows "
                f"WHERE {backticked(marked[0])} IS NOT NULL GROUP BY {backticked(marked[0])}"
            )
        if not rows.isStreaming:
            raise StreamingError(
                "this query reads no stream\n  write {{ stream(ref('...')) }} where it reads what grows"
            )
        return Rows(self._table_columns(plan.ending, _columns(rows)), rows)

    def _leave_semi_joins(self) -> None:
        """Leaves a LEFT SEMI JOIN of streams above the projection that marks the end of windows.

        Spark 4.3 pushes the join below that projection. The join then knows no watermark, and what stands above it
        waits for ever: GROUP BY, or OVER.
        """
        known = str(self._spark.conf.get(_EXCLUDED, "") or "")
        rules = [rule for rule in known.split(",") if rule.strip()]
        if _PUSHES_SEMI_JOINS not in rules:
            self._spark.conf.set(_EXCLUDED, ",".join([*rules, _PUSHES_SEMI_JOINS]))

    def _table_columns(self, ending: endings.Ending, columns: Columns) -> Columns:
        """Columns of the rows that get into the table, for emitted rows of the stream."""
        if isinstance(ending, endings.Direct):
            return columns
        typed = ", ".join(f"{backticked(name)} {type_}" for name, type_ in columns)
        left = self._spark.createDataFrame([], typed + (f", {endings.NEW} boolean" if ending.flagged else ""))
        if isinstance(ending, endings.OnSessions | endings.OnSlices):
            show(self._spark, endings.UNTIL, 0, 0, 0)
            left.createOrReplaceTempView(endings.SO_FAR)
            if isinstance(ending, endings.OnSlices):
                self._spark.sql(ending.kept).createOrReplaceTempView(endings.KEPT)
                if ending.open is not None:
                    _columns(self._spark.sql(ending.open))
            left = self._spark.sql(ending.closed)
        left.createOrReplaceTempView(endings.CLOSED)
        return _columns(self._spark.sql(ending.query))

    def check_brokers(self, servers: str, where: str) -> None:
        """Checks that a broker of Kafka can be reached, if Spark's driver is on this machine.

        A server on this machine may be in a container, which reaches other hosts: the user is warned, and it goes on.
        """
        if not servers or (self._url is not None and host_and_port(self._url)[0] not in LOCAL):
            return
        try:
            check_brokers(servers, where)
        except StreamingError as error:
            if self._url is None:
                raise
            logger.warning(f"{error}\n  this is what this machine finds; the server goes on asking for some minutes")

    def check_topic(self, topic: Topic, columns: Sequence[tuple[str, str]]) -> None:
        """Checks that Spark has its connector to Kafka, and can write rows with these columns as records."""
        topic.key_sql(columns)
        value = topic.value_sql(columns, registers=False)
        if topic.avro is not None:
            nulls = ", ".join(f"CAST(NULL AS {type_}) AS {backticked(name)}" for name, type_ in columns)
            with needs_avro("sink", self.version), spark_errors("sink: schema"):
                _columns(self._spark.sql(f"SELECT {value} AS value FROM (SELECT {nulls})"))
        with spark_errors(f"can't send rows to the topic {topic.name}"):
            reader = self._spark.read.format(KAFKA).option(SERVERS, topic.servers)
            _columns(reader.option("subscribe", topic.name).load())

    def start(
        self, rows: Rows, sink: Callable[..., None], checkpoint: str, name: str, mode: str, interval: Interval | None
    ) -> Running:
        """Starts a streaming query.

        Args:
            sink: gets the rows of each micro-batch, and its number.
            mode: `append` for rows that are final, `update` for rows that a micro-batch has changed.
            interval: time between two micro-batches; None to process what is there and end.
        """
        from pyspark import cloudpickle

        from dbt.adapters.sparkstream.sql.core import literals
        from dbt.adapters.sparkstream.streaming.worker import appends, corrections, open_views, state
        from dbt.adapters.sparkstream.streaming.worker import sink as sinks

        self._write_checkpoints_at_once(checkpoint)
        for module in (literals, appends, corrections, open_views, sinks, state):
            cloudpickle.register_pickle_by_value(module)
        writer = rows.frame.writeStream.outputMode(mode).queryName(name).option("checkpointLocation", checkpoint)
        writer = writer.trigger(processingTime=interval.words()) if interval else writer.trigger(availableNow=True)
        query = writer.foreachBatch(sink)
        with spark_errors():
            return Running(started(query.start) if is_connect(self._spark) else query.start())

    def _write_checkpoints_at_once(self, checkpoint: str) -> None:
        """Has Spark rename the files of a checkpoint on a disk of this machine by one call of the system.

        Its own choice for a disk, Hadoop's FileContext, starts four processes (`readlink`) for each file.
        """
        if self._url is not None or not checkpoint.startswith("file:") or self.setting(_MANAGER):
            return
        loadable: Any = self._spark._jvm.org.apache.spark.util.Utils.classIsLoadable  # type: ignore[union-attr]
        for name in (f"{package}.{_RENAMES}" for package in _PACKAGES):
            if loadable(name):
                self._spark.conf.set(_MANAGER, name)
                return


def _columns(rows: DataFrame) -> Columns:
    """The names and types of columns, by which Spark analyses the query; over Spark Connect, it does so only then."""
    return tuple((field.name, written_type(field.dataType)) for field in rows.schema.fields)


def written_type(type_: DataType) -> str:
    """A type as SQL has it. Spark's own `simpleString` leaves out the backticks of fields."""
    from pyspark.sql.types import ArrayType, MapType, StructType

    if isinstance(type_, ArrayType):
        return array_of(written_type(type_.elementType))
    if isinstance(type_, MapType):
        return map_of(written_type(type_.keyType), written_type(type_.valueType))
    if isinstance(type_, StructType):
        return row_of((field.name, written_type(field.dataType)) for field in type_.fields)
    return str(type_.simpleString())


def _marked(rows: DataFrame, name: str, metadata: dict[str, Any]) -> DataFrame:
    """Rows with other metadata of a column.

    `withMetadata` reads the name as SQL and then takes it as it stands; `withColumn` of Spark Connect forgets metadata.
    """
    columns = {column: expression(rows, backticked(column)) for column in rows.columns}
    marked = next(column for column in columns if column.casefold() == name.casefold())
    columns[marked] = columns[marked].alias(marked, metadata=metadata)
    return rows.select(*columns.values())
