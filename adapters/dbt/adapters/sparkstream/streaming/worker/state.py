"""Rows and slices of earlier micro-batches that later ones need. Runs in the process of the sink."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dbt.adapters.sparkstream.sql.core.literals import exactly

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

DAY = 24 * 60 * 60 * 1000
"""Milliseconds of a day."""


@dataclass
class Watermark:
    """A view of the watermarks of a micro-batch and of the one before it: instants, and what clocks show from then on.

    Attributes:
        checkpoint: folder in which Spark records the watermark before a micro-batch.
        lateness: milliseconds by which Spark's watermark is behind the watermark that closes windows.
        has_moved: True if the two differ.
    """

    checkpoint: str
    view: str
    lateness: int = 0
    _known: dict[int, int] = field(default_factory=dict, init=False)
    has_moved: bool = field(default=False, init=False)

    def define(self, spark: SparkSession, batch: int) -> None:
        """Makes the view for a micro-batch."""
        until = self._of(spark, batch)
        since = self._of(spark, batch - 1) if batch > 0 else until
        show(spark, self.view, self._closing(since), self._closing(until), since)
        self._known = {batch: until}
        self.has_moved = since < until

    def _closing(self, watermark: int) -> int:
        """The watermark that closes windows, by Spark's, which is 0 before there is one."""
        return watermark + self.lateness if watermark > 0 else watermark

    def _of(self, spark: SparkSession, batch: int) -> int:
        if batch in self._known:
            return self._known[batch]
        facts = json.loads(spark.read.text(exactly(f"{self.checkpoint}/offsets/{batch}")).collect()[1][0])
        return int(facts["batchWatermarkMs"])


def show(spark: SparkSession, view: str, since: int, until: int, dropped: int) -> None:
    """Makes the view of watermarks, in milliseconds since the epoch."""
    marks = {"since": since, "until": until, "dropped": dropped}
    items = [f"{_shown(mark)} AS {name}, timestamp_millis({mark}) AS {name}_at" for name, mark in marks.items()]
    spark.sql(f"SELECT {', '.join(items)}").createOrReplaceTempView(view)


def _shown(watermark: int) -> str:
    # A clock that is turned back within a day will show less than it does now. (Spark's own `+ INTERVAL '1' DAY` goes
    # by the clock, and would not tell.)
    now, then = (f"CAST(timestamp_millis({mark}) AS TIMESTAMP_NTZ)" for mark in (watermark, watermark + DAY))
    return f"least({now}, {then} - INTERVAL '1' DAY)"


@dataclass(kw_only=True)
class _Kept:
    """Rows of earlier micro-batches, in a folder.

    Rows kept after an even micro-batch lie beside rows kept after an odd one: a micro-batch that comes again finds what
    was there before it.

    Attributes:
        name: view of the rows so far, as `query` names it.
        query: SQL for the rows to keep, over the rows so far.
        flag: the column that tells new rows from earlier ones; None for none.
    """

    folder: str
    name: str
    query: str
    flag: str | None = None

    def _so_far(self, rows: DataFrame, batch: int) -> DataFrame:
        """Rows of a micro-batch and rows that were kept before, as the query reads them."""
        everything = self._flagged(rows, "TRUE")
        if batch > 0:
            everything = everything.unionByName(self._flagged(self._read(rows, self._kept(batch - 1)), "FALSE"))
        everything.createOrReplaceTempView(self.name)
        return everything

    @staticmethod
    def _kept(batch: int) -> str:
        return f"kept_{batch % 2}"

    def _write(self, rows: DataFrame, name: str) -> None:
        rows.write.mode("overwrite").parquet(f"{self.folder}/{name}")

    def _read(self, rows: DataFrame, name: str) -> DataFrame:
        return rows.sparkSession.read.schema(rows.schema).parquet(exactly(f"{self.folder}/{name}"))

    def _flagged(self, rows: DataFrame, is_new: str) -> DataFrame:
        return rows if self.flag is None else rows.selectExpr("*", f"{is_new} AS {self.flag}")


@dataclass(kw_only=True)
class RowStore(_Kept):
    """Rows of earlier micro-batches that later ones need; `closing` is SQL for the rows to go on with, None for all."""

    closing: str | None = None
    watermark: Watermark | None = None

    def joined(self, rows: DataFrame, batch: int) -> DataFrame:
        """The rows to go on with in a micro-batch; keeps the rows that the next micro-batch needs.

        The rows of the micro-batch are read once, as reading them updates the state.
        """
        spark = rows.sparkSession
        self._write(rows, "new")
        everything = self._so_far(self._read(rows, "new"), batch)
        if self.watermark is not None:
            self.watermark.define(spark, batch)
        self._write(spark.sql(self.query), self._kept(batch))
        return everything if self.closing is None else spark.sql(self.closing)


@dataclass(kw_only=True)
class SliceStore(_Kept):
    """Slices of open windows, or these windows. The kept rows include the changes of a micro-batch, and its windows are
    made from them.

    Attributes:
        kept: view of the kept slices or windows, as `closing` names it.
        closing: SQL for the windows that a micro-batch closes, and corrects.
        corrects: True if it may correct windows that are closed.
    """

    kept: str
    closing: str
    watermark: Watermark
    corrects: bool = False

    def joined(self, rows: DataFrame, batch: int) -> DataFrame:
        """The windows that a micro-batch closes, and corrects; keeps the slices that the next micro-batch needs."""
        spark = rows.sparkSession
        self._so_far(rows, batch)
        self.watermark.define(spark, batch)
        self._write(spark.sql(self.query), self._kept(batch))
        self._read(rows, self._kept(batch)).createOrReplaceTempView(self.kept)
        windows = spark.sql(self.closing)
        # Spark runs nothing for a LIMIT of 0.
        return windows if self.corrects or self.watermark.has_moved else windows.limit(0)
