"""Sink of a micro-batch's rows: the table, then a topic. Runs in the driver's Python worker and imports nothing."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dbt.adapters.sparkstream.sql.core.literals import backticked, exactly

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from dbt.adapters.sparkstream.streaming.worker.corrections import Corrections
    from dbt.adapters.sparkstream.streaming.worker.open_views import OpenViews
    from dbt.adapters.sparkstream.streaming.worker.state import RowStore, SliceStore

_WORKER = "pyspark.sql.connect.streaming.worker.foreach_batch_worker"
"""Module in which a server runs a sink."""

_COUNTED = 500
"""Most micro-batches with corrected windows that `Done` records."""

ROWS = "__rows_to_write"
"""View of the rows on their way to the table."""

TABLE_HEADER = "sparkstream_table"
"""The header that tells a table from earlier tables of the same name."""

BATCH_HEADER = "sparkstream_batch"
"""The header with the number of the micro-batch."""

NOT_SENT = "can't send rows to the topic"
"""Beginning of the error if Kafka doesn't take the rows."""


@dataclass
class Done:
    """The record that the rows of a micro-batch are in the table: a folder with one file.

    A line holds the number of the micro-batch, and how many windows it has corrected. So do lines before it, for the
    last micro-batches that have corrected windows: a reader that counts them may look only now and then.

    Spark records the end of a micro-batch in its checkpoint, too, but later: when the sink has returned. Between the
    two, what is in the table must not be written again, as streams that read the table may have seen its files.
    """

    folder: str
    _corrections: dict[int, int] = field(default_factory=dict, init=False)

    def record(self, spark: SparkSession, batch: int, corrected: int) -> None:
        """Records a micro-batch, in place of the one before. The file is there as a whole or not at all."""
        recorded = [*self._corrections.items(), (batch, corrected)]
        lines = ", ".join(f"('{number} {windows}')" for number, windows in recorded)
        spark.sql(f"SELECT * FROM VALUES {lines} AS t (line)").coalesce(1).write.mode("overwrite").text(self.folder)
        if corrected:
            self._corrections[batch] = corrected
        if len(self._corrections) > _COUNTED:
            del self._corrections[min(self._corrections)]

    def has(self, spark: SparkSession, batch: int) -> bool:
        """True if the micro-batch was recorded last."""
        rows = lines_in(spark, self.folder)
        if rows is None:
            return False
        recorded = self.corrected(row[0] for row in rows.collect())
        if max(recorded, default=None) != batch:
            return False
        self._corrections = {number: windows for number, windows in recorded.items() if windows}
        return True

    @staticmethod
    def corrected(lines: Iterable[str]) -> dict[int, int]:
        """Micro-batch -> number of windows that it has corrected, by lines of the file."""
        return {int(number): int(windows) for number, windows in (line.split(" ") for line in lines)}


@dataclass(kw_only=True)
class Sink:
    """Appends the rows of each micro-batch to a table, once.

    A micro-batch that was interrupted comes again, with the same number.

    Attributes:
        query: SQL for the table's rows, over the rows that come from the stream; None for these themselves.
        begun: the last micro-batch that an earlier run has begun.
        owned: properties of tables, table -> name -> the text that the value holds as long as the table is this run's.
        done: the record of micro-batches in the table; None if the table itself shows them, and nothing else needs it.
        history: rows or slices of earlier micro-batches that `query` needs; None if it needs none.
        producer: sends the rows to a topic when they are in the table; None for no topic.
        views: shows the windows that are open, once the rows of closed ones are in the table; None for no views.
        corrections: the windows in the table that late rows have corrected; None if late rows correct nothing.
    """

    table: str
    columns: list[str]
    closed: str
    query: str | None
    begun: int
    owned: dict[str, dict[str, str]]
    done: Done | None
    history: RowStore | SliceStore | None = None
    producer: Producer | None = None
    views: OpenViews | None = None
    corrections: Corrections | None = None

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restores the sink; in a server's Python process, has that process end with the server."""
        self.__dict__.update(state)
        if getattr(sys.modules["__main__"].__spec__, "name", "") == _WORKER:
            _end_with(os.getppid())

    def __call__(self, rows: DataFrame, batch: int) -> None:
        spark = rows.sparkSession
        self.check_owned(spark)
        if self._may_be_there(batch) and self.done is not None and self.done.has(spark, batch):
            read(rows)
            return
        if self.history is not None:
            rows = self.history.joined(rows, batch)
        if self.query is not None:
            rows.createOrReplaceTempView(self.closed)
            rows = spark.sql(self.query)
        ends = self.corrections.ends(spark) if self.corrections is not None else []
        # To be compared with what an interrupted attempt has left, to be sent to the topic, or for corrections.
        is_read_again = self._may_be_there(batch) or self.producer is not None or bool(ends)
        rows = rows.persist() if is_read_again else rows
        try:
            if ends and self.corrections is not None:
                self._correct(rows, batch, self.corrections, ends)
            else:
                self._write(rows, batch)
            if self.producer is not None:
                self.producer.send(rows, batch)
        finally:
            if is_read_again:
                rows.unpersist()
        if self.views is not None:
            self.views.show(spark, batch)
        if self.done is not None:
            self.done.record(spark, batch, len(ends))

    def check_owned(self, spark: SparkSession) -> None:
        """Raises a RuntimeError if another run has taken the model over, or rebuilt the table.

        The query of an earlier run may outlive the dbt process that started it: a Spark server goes on.
        """
        for table, owned in self.owned.items():
            properties = {row[0]: row[1] for row in spark.sql(f"SHOW TBLPROPERTIES {table}").collect()}
            if any(text not in properties.get(name, "") for name, text in owned.items()):
                raise RuntimeError(f"another run has taken over {self.table}, so this one writes nothing more to it")

    def _may_be_there(self, batch: int) -> bool:
        """True if an interrupted attempt may have written rows of a micro-batch."""
        return batch <= self.begun

    def _write(self, rows: DataFrame, batch: int) -> None:
        """Writes the rows of a micro-batch, in place of rows that an interrupted attempt has left."""
        raise NotImplementedError

    def _correct(self, rows: DataFrame, batch: int, corrections: Corrections, ends: list[int]) -> None:
        """Writes the rows of a micro-batch as `_write`, and in place of the table's rows of windows with some ends."""
        raise NotImplementedError


def _end_with(server: int) -> None:
    """Ends this process when its server has ended, however that was.

    Else a process whose server was killed asks it for ten minutes, and then hangs for good: while Python shuts down,
    pyspark 4.3 closes its connection and waits for a thread that has ended already.
    """

    def watch() -> None:
        while os.getppid() == server:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def overwrite(rows: DataFrame, table: str) -> None:
    """Writes rows to a table, in place of the partitions that they are in; other partitions stay.

    The statement itself has an option for that, one for files and Delta, and one for Iceberg. The session's setting
    `partitionOverwriteMode` isn't enough: when Spark is being stopped, as its client was killed, a statement that runs
    reads the default of every setting. The default is to replace the whole table, and Spark deletes its folder for it.
    """
    rows.createOrReplaceTempView(ROWS)
    rows.sparkSession.sql(
        f"INSERT OVERWRITE TABLE {table} WITH ('partitionOverwriteMode' = 'dynamic', 'overwrite-mode' = 'dynamic') "
        f"SELECT * FROM {ROWS}"
    )


def numbered(columns: Sequence[str], batch: int) -> list[str]:
    """Columns of a table as SQL, with a micro-batch's number as the last one."""
    *names, number = map(backticked, columns)
    return [*names, f"CAST({batch} AS BIGINT) AS {number}"]


@contextmanager
def settings(spark: SparkSession, given: dict[str, str]) -> Iterator[None]:
    """Sets settings of a session for the block."""
    before = {name: spark.conf.get(name, None) for name in given}
    for name, text in given.items():
        spark.conf.set(name, text)
    try:
        yield
    finally:
        for name, earlier in before.items():
            if earlier is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, earlier)


def read(rows: DataFrame) -> None:
    """Reads rows, and drops them, only to update the state."""
    rows.write.format("noop").mode("overwrite").save()


def lines_in(spark: SparkSession, folder: str) -> DataFrame | None:
    """The lines of the files in a folder; None where there is no folder."""
    from pyspark.errors import AnalysisException

    try:
        rows = spark.read.text(exactly(folder))
        rows.schema  # noqa: B018  over Spark Connect, Spark looks for the folder when it is asked for the columns
    except AnalysisException as error:
        if error.getCondition() == "PATH_NOT_FOUND":
            return None
        raise
    return rows


@dataclass(repr=False)  # its options may have a password
class Producer:
    """Sends the rows of a micro-batch when they are in the table; key and value are SQL over the columns of the model.

    A run that is killed while it sends leaves some of them in the topic. The next run sends them all again, with the
    same headers.
    """

    options: dict[str, str]
    key: str
    value: str
    generation: str

    def send(self, rows: DataFrame, batch: int) -> None:
        """Sends all rows of a micro-batch, and returns when Kafka has them; raises a RuntimeError if it hasn't."""
        records = rows.selectExpr(
            f"{self.key} AS key",
            f"{self.value} AS value",
            f"array({_header(TABLE_HEADER, self.generation)}, {_header(BATCH_HEADER, str(batch))}) AS headers",
        )
        try:
            records.write.format("kafka").options(**self.options).save()
        except Exception as error:
            raise RuntimeError(f"{NOT_SENT} {self.options['topic']}: {error}") from None  # the error is in the text


def _header(name: str, value: str) -> str:
    return f"named_struct('key', '{name}', 'value', CAST('{value}' AS BINARY))"
