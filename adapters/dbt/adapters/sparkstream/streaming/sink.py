"""What happens with the rows of a micro-batch. Runs beside Spark's driver, so it imports nothing of this package."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


DAY = 24 * 60 * 60 * 1000
"""Milliseconds of a day."""


class Watermark:
    """A view of the watermark of a micro-batch, as what the wall clock shows from then on at the earliest.

    Args:
        checkpoint: where Spark notes the watermark before a micro-batch.
        view: the view's name.
    """

    def __init__(self, checkpoint: str, view: str) -> None:
        self._checkpoint = checkpoint
        self._view = view

    def define(self, spark: SparkSession, batch: int) -> None:
        """Makes the view for a micro-batch."""
        facts = json.loads(spark.read.text(f"{self._checkpoint}/offsets/{batch}").collect()[1][0])
        show(spark, self._view, int(facts["batchWatermarkMs"]))


def show(spark: SparkSession, view: str, watermark: int) -> None:
    """Makes the view of a watermark, in milliseconds since the epoch."""
    # A clock that is turned back within a day will show less than it does now. (Spark's own `+ INTERVAL '1' DAY` goes
    # by the clock, and would not tell.)
    now, then = (f"CAST(timestamp_millis({mark}) AS TIMESTAMP_NTZ)" for mark in (watermark, watermark + DAY))
    spark.sql(f"SELECT least({now}, {then} - INTERVAL '1' DAY) AS until").createOrReplaceTempView(view)


class History:
    """Rows of earlier micro-batches that later ones need, in a folder.

    Those after an even micro-batch and those after an odd one lie side by side: a micro-batch that comes again finds
    what was there before it.

    Args:
        folder: the folder.
        name: what the queries call the rows so far.
        query: gives the rows to keep, of the rows so far.
        flag: the column that tells new rows from earlier ones; None for none.
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
        self._folder = folder
        self._name = name
        self._query = query
        self._flag = flag
        self._closing = closing
        self._watermark = watermark

    def joined(self, rows: DataFrame, batch: int) -> DataFrame:
        """The rows of a micro-batch with the earlier ones, as far as they go on; notes what the next one needs.

        Args:
            rows: of the micro-batch. They are read once, as reading them updates the state.
            batch: its number.
        """
        spark = rows.sparkSession
        rows.write.mode("overwrite").parquet(f"{self._folder}/new")
        everything = self._read(rows, "new", "TRUE")
        if batch > 0:
            everything = everything.unionByName(self._read(rows, f"kept_{(batch - 1) % 2}", "FALSE"))
        everything.createOrReplaceTempView(self._name)
        if self._watermark is not None:
            self._watermark.define(spark, batch)
        spark.sql(self._query).write.mode("overwrite").parquet(f"{self._folder}/kept_{batch % 2}")
        return everything if self._closing is None else spark.sql(self._closing)

    def _read(self, rows: DataFrame, name: str, is_new: str) -> DataFrame:
        found = rows.sparkSession.read.schema(rows.schema).parquet(f"{self._folder}/{name}")
        return found if self._flag is None else found.selectExpr("*", f"{is_new} AS {self._flag}")


class Append:
    """Appends the rows of each micro-batch to a table, once.

    A micro-batch that was interrupted comes again, with the same number and the same rows. Its rows are a partition,
    which is there as a whole or not at all: Spark writes it aside, moves it, and then enters it in the catalog.

    Args:
        table: the table's name.
        columns: its columns, the number of the micro-batch last.
        closed: the view that `query` reads.
        query: gives the rows for the table, of the rows that come from the stream; None for these themselves.
        begun: the last micro-batch that an earlier run has begun.
        history: what `query` needs of earlier micro-batches; None where it needs nothing.
    """

    def __init__(
        self,
        table: str,
        columns: list[str],
        closed: str,
        query: str | None,
        begun: int,
        history: History | None = None,
    ) -> None:
        self._history = history
        self._begun = begun
        self._table = table
        self._columns = columns
        self._closed = closed
        self._query = query

    def __call__(self, rows: DataFrame, batch: int) -> None:
        spark = rows.sparkSession
        number = self._columns[-1]
        written = f"SELECT 1 FROM {self._table} WHERE `{number}` = {batch} LIMIT 1"
        if batch <= self._begun and spark.sql(written).collect():
            # The run before this one got this far. Read the rows all the same: that is what updates the state.
            rows.write.format("noop").mode("overwrite").save()
            return
        if self._history is not None:
            rows = self._history.joined(rows, batch)
        if self._query is not None:
            rows.createOrReplaceTempView(self._closed)
            rows = spark.sql(self._query)
        columns = [f"`{name.replace('`', '``')}`" for name in self._columns[:-1]]
        rows = rows.selectExpr(*columns, f"CAST({batch} AS BIGINT) AS `{number}`")
        # Without it, a write replaces the whole table. It is no option of the writer: insertInto ignores that.
        spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
        rows.write.mode("overwrite").insertInto(self._table)
