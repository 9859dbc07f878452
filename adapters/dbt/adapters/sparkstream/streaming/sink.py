"""What happens with the rows of a micro-batch. Runs beside Spark's driver, so it imports nothing of this package."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_WORKER = "pyspark.sql.connect.streaming.worker.foreach_batch_worker"
"""The program that a server runs a sink in."""


DAY = 24 * 60 * 60 * 1000
"""Milliseconds of a day."""


class Watermark:
    """A view of the watermarks of a micro-batch and of the one before it, as what the wall clock shows from then on.

    Args:
        checkpoint: where Spark notes the watermark before a micro-batch.
        view: the view's name.

    Attributes:
        has_moved: whether the two differ.
    """

    def __init__(self, checkpoint: str, view: str) -> None:
        self._checkpoint = checkpoint
        self._view = view
        self._known: dict[int, int] = {}
        self.has_moved = False

    def define(self, spark: SparkSession, batch: int) -> None:
        """Makes the view for a micro-batch."""
        until = self._of(spark, batch)
        since = self._of(spark, batch - 1) if batch > 0 else until
        show(spark, self._view, since, until)
        self._known = {batch: until}
        self.has_moved = since < until

    def _of(self, spark: SparkSession, batch: int) -> int:
        if batch in self._known:
            return self._known[batch]
        facts = json.loads(spark.read.text(f"{self._checkpoint}/offsets/{batch}").collect()[1][0])
        return int(facts["batchWatermarkMs"])


def show(spark: SparkSession, view: str, since: int, until: int) -> None:
    """Makes the view of two watermarks, in milliseconds since the epoch."""
    spark.sql(f"SELECT {_shown(since)} AS since, {_shown(until)} AS until").createOrReplaceTempView(view)


def _shown(watermark: int) -> str:
    # A clock that is turned back within a day will show less than it does now. (Spark's own `+ INTERVAL '1' DAY` goes
    # by the clock, and would not tell.)
    now, then = (f"CAST(timestamp_millis({mark}) AS TIMESTAMP_NTZ)" for mark in (watermark, watermark + DAY))
    return f"least({now}, {then} - INTERVAL '1' DAY)"


class _Kept:
    """Rows of earlier micro-batches, in a folder.

    Those after an even micro-batch and those after an odd one lie side by side: a micro-batch that comes again finds
    what was there before it.

    Args:
        folder: the folder.
        name: what `query` calls the rows so far.
        query: gives the rows to keep, of the rows so far.
        flag: the column that tells new rows from earlier ones; None for none.
    """

    def __init__(self, folder: str, name: str, query: str, flag: str | None) -> None:
        self._folder = folder
        self._name = name
        self._query = query
        self._flag = flag

    def joined(self, rows: DataFrame, batch: int) -> DataFrame:
        """The rows to go on with in a micro-batch; notes those that the next one needs.

        Args:
            rows: of the micro-batch. They are read once, as reading them updates the state.
            batch: its number.
        """
        raise NotImplementedError

    def _so_far(self, rows: DataFrame, batch: int) -> DataFrame:
        """Rows and those that were kept before, as the query reads them."""
        everything = self._flagged(rows, "TRUE")
        if batch > 0:
            before = self._read(rows, self._kept(batch - 1))
            everything = everything.unionByName(self._flagged(before, "FALSE"))
        everything.createOrReplaceTempView(self._name)
        return everything

    def _keep(self, spark: SparkSession, batch: int) -> None:
        self._write(spark.sql(self._query), self._kept(batch))

    @staticmethod
    def _kept(batch: int) -> str:
        return f"kept_{batch % 2}"

    def _write(self, rows: DataFrame, name: str) -> None:
        rows.write.mode("overwrite").parquet(f"{self._folder}/{name}")

    def _read(self, rows: DataFrame, name: str) -> DataFrame:
        return rows.sparkSession.read.schema(rows.schema).parquet(f"{self._folder}/{name}")

    def _flagged(self, rows: DataFrame, is_new: str) -> DataFrame:
        return rows if self._flag is None else rows.selectExpr("*", f"{is_new} AS {self._flag}")


class RowStore(_Kept):
    """Rows of earlier micro-batches that later ones need.

    Args:
        closing: gives the rows to go on with, of the rows so far; None for all of them.
        watermark: a view that the queries read, if any.
    """

    def __init__(
        self,
        folder: str,
        name: str,
        query: str,
        flag: str | None = None,
        closing: str | None = None,
        watermark: Watermark | None = None,
    ) -> None:
        super().__init__(folder, name, query, flag)
        self._closing = closing
        self._watermark = watermark

    def joined(self, rows: DataFrame, batch: int) -> DataFrame:
        spark = rows.sparkSession
        self._write(rows, "new")
        everything = self._so_far(self._read(rows, "new"), batch)
        if self._watermark is not None:
            self._watermark.define(spark, batch)
        self._keep(spark, batch)
        return everything if self._closing is None else spark.sql(self._closing)


class SliceStore(_Kept):
    """Slices of open windows. What is kept holds those that a micro-batch changes, and its windows are made of that.

    Args:
        kept: what `closing` calls the kept slices.
        closing: gives the windows that a micro-batch closes.
        watermark: a view that the queries read.
    """

    def __init__(
        self, folder: str, name: str, query: str, flag: str, kept: str, closing: str, watermark: Watermark
    ) -> None:
        super().__init__(folder, name, query, flag)
        self._name_of_kept = kept
        self._closing = closing
        self._watermark = watermark

    def joined(self, rows: DataFrame, batch: int) -> DataFrame:
        spark = rows.sparkSession
        self._so_far(rows, batch)
        self._watermark.define(spark, batch)
        self._keep(spark, batch)
        self._read(rows, self._kept(batch)).createOrReplaceTempView(self._name_of_kept)
        windows = spark.sql(self._closing)
        # Spark runs nothing for a LIMIT of 0.
        return windows if self._watermark.has_moved else windows.limit(0)


class Fence:
    """Keeps the query of an earlier run from a table that isn't its own any more.

    A query may outlive the dbt process that started it: a Spark server goes on. Meanwhile another run may have taken
    the model over, or made the table anew.

    Args:
        table: the table's name.
        owned: properties of the table, name -> the text that the value holds as long as the table is this run's.
    """

    def __init__(self, table: str, owned: dict[str, str]) -> None:
        self._table = table
        self._owned = owned

    def check(self, spark: SparkSession) -> None:
        """Fails where the table is another run's.

        Raises:
            RuntimeError: it is.
        """
        properties = {row[0]: row[1] for row in spark.sql(f"SHOW TBLPROPERTIES {self._table}").collect()}
        if any(text not in properties.get(name, "") for name, text in self._owned.items()):
            raise RuntimeError(f"another run has taken over {self._table}, so this one writes nothing more to it")


class Done:
    """The note that the rows of a micro-batch are in the table: a folder with one file, which holds its number.

    Spark notes the end of a micro-batch in its checkpoint, too, but later: when the sink has returned. Between the two
    notes, what is in the table must not be written again, as streams that read the table may have seen its files.

    Args:
        folder: the folder.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def note(self, spark: SparkSession, batch: int) -> None:
        """Notes a micro-batch, in place of the one before. The file is there as a whole or not at all."""
        spark.sql(f"SELECT '{batch}' AS number").write.mode("overwrite").text(self._folder)

    def has(self, spark: SparkSession, batch: int) -> bool:
        """Whether the micro-batch is the one that was noted last."""
        from pyspark.errors import AnalysisException

        try:
            return [row[0] for row in spark.read.text(self._folder).collect()] == [str(batch)]
        except AnalysisException as error:
            if "PATH_NOT_FOUND" in str(error):
                return False
            raise


class Append:
    """Appends the rows of each micro-batch to a table, once.

    A micro-batch that was interrupted comes again, with the same number. Its rows are the partitions with this number.
    Unless it is noted as done, its rows are compared with those that an interrupted attempt has left: Spark moves the
    partitions one by one, and enters them in the catalog in groups, so that some of them are there proves nothing.

    Args:
        table: the table's name.
        columns: its columns, those that it is partitioned by at the end, the number of the micro-batch last.
        partitions: how many columns it is partitioned by.
        by_files: whether the table is a folder of files with partitions, as Parquet's is; no for a format that has a
            list of its files, as Delta and Iceberg have.
        is_managed: whether files go with their partition when that is dropped.
        closed: the view that `query` reads.
        query: gives the rows for the table, of the rows that come from the stream; None for these themselves.
        begun: the last micro-batch that an earlier run has begun.
        fence: checked before anything is written.
        done: where a micro-batch is noted.
        history: what `query` needs of earlier micro-batches; None where it needs nothing.
    """

    def __init__(
        self,
        table: str,
        columns: list[str],
        partitions: int,
        by_files: bool,
        is_managed: bool,
        closed: str,
        query: str | None,
        begun: int,
        fence: Fence,
        done: Done,
        history: RowStore | SliceStore | None = None,
    ) -> None:
        self._history = history
        self._begun = begun
        self._fence = fence
        self._done = done
        self._table = table
        self._columns = columns
        self._partitions = partitions
        self._by_files = by_files
        self._is_managed = is_managed
        self._closed = closed
        self._query = query

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Called where a server's Python process gets the sink."""
        self.__dict__.update(state)
        if getattr(sys.modules["__main__"].__spec__, "name", "") == _WORKER:
            _end_with(os.getppid())

    def __call__(self, rows: DataFrame, batch: int) -> None:
        spark = rows.sparkSession
        self._fence.check(spark)
        if batch <= self._begun and self._done.has(spark, batch):
            # Read the rows all the same: reading them updates the state.
            rows.write.format("noop").mode("overwrite").save()
            return
        if self._history is not None:
            rows = self._history.joined(rows, batch)
        if self._query is not None:
            rows.createOrReplaceTempView(self._closed)
            rows = spark.sql(self._query)
        *names, number = self._columns
        columns = [f"`{name.replace('`', '``')}`" for name in names]
        rows = rows.selectExpr(*columns, f"CAST({batch} AS BIGINT) AS `{number}`")
        if not self._by_files:
            from pyspark.sql.functions import expr

            # One commit of the format replaces all that an interrupted attempt has left.
            rows.writeTo(self._table).overwrite(expr(f"`{number}` = {batch}"))
        elif batch <= self._begun:
            self._complete(rows, batch)
        else:
            overwrite(rows, self._table)
        self._done.note(spark, batch)

    def _complete(self, rows: DataFrame, batch: int) -> None:
        """Writes what an interrupted attempt has not. Right partitions stay: streams may have read their files.

        Args:
            rows: all rows of the micro-batch, for the table.
            batch: its number.
        """
        spark, number = rows.sparkSession, self._columns[-1]
        if self._is_managed:
            # A partition may have been moved into the table's folder, and not have been entered in the catalog. (Files
            # of a table that isn't managed stay when a partition is dropped, so there this would bring back old ones.)
            spark.sql(f"ALTER TABLE {self._table} RECOVER PARTITIONS")
        rows = rows.persist()
        try:
            left = spark.read.table(self._table).where(f"`{number}` = {batch}")
            missing = self._missing(rows, left)
            if missing is None:
                spark.sql(f"ALTER TABLE {self._table} DROP IF EXISTS PARTITION (`{number}` = {batch})")
                overwrite(rows, self._table)
            elif not missing.isEmpty():
                # A partition is written whole. Two NULLs are the same partition.
                keys = self._columns[-self._partitions :]
                same = [rows[key].eqNullSafe(missing[key]) for key in keys]
                overwrite(rows.join(missing.select(*keys).distinct(), same, "left_semi"), self._table)
        finally:
            rows.unpersist()

    @staticmethod
    def _missing(rows: DataFrame, left: DataFrame) -> DataFrame | None:
        """The rows that an interrupted attempt has not written; None where those that it has written are others."""
        from pyspark.errors import AnalysisException

        try:
            if left.exceptAll(rows).isEmpty():
                return rows.exceptAll(left)
        except AnalysisException:
            pass  # rows with a type such as MAP can't be compared
        return None


def _end_with(server: int) -> None:
    """Ends this process when its server has ended, however that was.

    Else a process whose server was killed asks it for ten minutes, and then hangs for good: while Python shuts down,
    pyspark 4.3 closes its connection and waits for a thread that has ended already.

    Args:
        server: the pid of the server, which is the parent of this process.
    """

    def watch() -> None:
        while os.getppid() == server:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def overwrite(rows: DataFrame, table: str) -> None:
    """Writes rows to a table of files, in place of the partitions that they are in; other partitions stay.

    The statement itself says so. The session's setting `partitionOverwriteMode` isn't enough: when Spark is being
    stopped, as its client was killed, a statement that runs reads the default of every setting. The default is to
    replace the whole table, and Spark deletes the table's folder for it.

    Args:
        rows: rows with the columns of the table, in their order.
        table: the table's name.
    """
    view = "__rows_to_write"
    rows.createOrReplaceTempView(view)
    rows.sparkSession.sql(
        f"INSERT OVERWRITE TABLE {table} WITH ('partitionOverwriteMode' = 'dynamic') SELECT * FROM {view}"
    )
