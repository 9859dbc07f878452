"""Sinks that write a micro-batch's rows, by the format of the table. They run where the sink does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dbt.adapters.sparkstream.sql.core.literals import backticked
from dbt.adapters.sparkstream.streaming.worker.sink import ROWS, Sink, lines_in, numbered, overwrite, read, settings

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from dbt.adapters.sparkstream.streaming.worker.corrections import Corrections


class Append(Sink):
    """Appends to a table that has the number of the micro-batch as its last column.

    One commit of the table's format replaces all that an interrupted attempt has left.
    """

    def _write(self, rows: DataFrame, batch: int) -> None:
        self._append(rows.selectExpr(*numbered(self.columns, batch)), batch)

    def _correct(self, rows: DataFrame, batch: int, corrections: Corrections, ends: list[int]) -> None:
        new = rows.selectExpr(*numbered(self.columns, batch))
        self._append(corrections.rewrite(new, batch, ends, self.columns[-1]), batch)

    def _append(self, rows: DataFrame, batch: int) -> None:
        from pyspark.sql.functions import expr

        rows.writeTo(self.table).overwrite(expr(f"{backticked(self.columns[-1])} = {batch}"))


@dataclass(kw_only=True)
class FolderAppend(Append):
    """Appends to a table of files with a folder for each micro-batch, on a disk where folders are moved in one step.

    So the rows of a micro-batch are there as a whole or not at all. INSERT would have the catalog list all partitions,
    and Spark compile code with the number in it, for every micro-batch. `place`, the table's folder, ends in no slash.
    """

    place: str
    file_format: str

    def _write(self, rows: DataFrame, batch: int) -> None:
        spark, number = rows.sparkSession, self.columns[-1]
        is_there = self._may_be_there(batch) and self._is_there(spark, batch)
        if is_there:
            read(rows)
        else:
            # The text of a number is a value that compiled code refers to.
            named = [f"{name} AS {name}" for name in map(backticked, self.columns[:-1])]
            numbered = rows.selectExpr(*named, f"'{batch}' AS {backticked(number)}")
            writer = numbered.write.mode("overwrite").option("partitionOverwriteMode", "dynamic").partitionBy(number)
            writer.format(self.file_format).save(self.place)
        if is_there or self._is_there(spark, batch):
            spark.sql(f"ALTER TABLE {self.table} ADD IF NOT EXISTS PARTITION ({backticked(number)} = {batch})")

    def _is_there(self, spark: SparkSession, batch: int) -> bool:
        """True if the micro-batch has a folder: one without rows leaves none."""
        return lines_in(spark, f"{self.place}/{self.columns[-1]}={batch}") is not None


@dataclass(kw_only=True)
class FileAppend(Append):
    """Appends to a table of files by INSERT.

    Unless a micro-batch is recorded as done, its rows are compared with the rows that an interrupted attempt has left.
    Spark moves the partitions one by one, and enters them in the catalog in groups: some partitions may be there while
    others aren't.

    Attributes:
        partitions: number of columns that it is partitioned by, the last ones.
        is_managed: True if files go with their partition when that is dropped.
    """

    partitions: int
    is_managed: bool

    def _append(self, rows: DataFrame, batch: int) -> None:
        if not self._may_be_there(batch):
            overwrite(rows, self.table)
            return
        # Right partitions stay, as streams may have read their files.
        spark, number = rows.sparkSession, self.columns[-1]
        if self.is_managed:
            # A partition may have been moved into the table's folder, and not have been entered in the catalog. (Files
            # of a table that isn't managed stay when a partition is dropped, so there this would bring back old ones.)
            spark.sql(f"ALTER TABLE {self.table} RECOVER PARTITIONS")
        left = spark.read.table(self.table).where(f"{backticked(number)} = {batch}")
        missing = self._missing(rows, left)
        if missing is None:
            spark.sql(f"ALTER TABLE {self.table} DROP IF EXISTS PARTITION ({backticked(number)} = {batch})")
            overwrite(rows, self.table)
        elif not missing.isEmpty():
            # A partition is written whole. Two NULLs are the same partition.
            keys = [backticked(name) for name in self.columns[-self.partitions :]]
            same = [rows[key].eqNullSafe(missing[key]) for key in keys]
            overwrite(rows.join(missing.select(*keys).distinct(), same, "left_semi"), self.table)

    @staticmethod
    def _missing(rows: DataFrame, left: DataFrame) -> DataFrame | None:
        """Rows that an interrupted attempt has left out; None if it has left other rows, or they can't be compared."""
        from pyspark.errors import AnalysisException

        try:
            if left.exceptAll(rows).isEmpty():
                return rows.exceptAll(left)
        except AnalysisException:
            pass  # rows with a type such as MAP can't be compared
        return None


class IcebergAppend(Append):
    """Appends to a table in Iceberg: a micro-batch is one snapshot, so its rows are there as a whole or not at all.

    A snapshot that replaces rows, be it none, is one that no other stream can read.
    """

    def _write(self, rows: DataFrame, batch: int) -> None:
        rows = rows.selectExpr(*numbered(self.columns, batch))
        if self._may_be_there(batch) and self._is_there(rows.sparkSession, batch):
            read(rows)
        else:
            rows.writeTo(self.table).append()

    def _correct(self, rows: DataFrame, batch: int, corrections: Corrections, ends: list[int]) -> None:
        # Where a micro-batch has corrected windows and left no row, the same commit once more changes nothing.
        if not (self._may_be_there(batch) and self._is_there(rows.sparkSession, batch)):
            corrections.merge(rows.selectExpr(*numbered(self.columns, batch)), ends)

    def _is_there(self, spark: SparkSession, batch: int) -> bool:
        spark.sql(f"REFRESH TABLE {self.table}")
        return not spark.read.table(self.table).where(f"{backticked(self.columns[-1])} = {batch}").isEmpty()


@dataclass(kw_only=True)
class DeltaAppend(Sink):
    """Appends to a table in Delta, in one commit for each micro-batch.

    The commit has the number of its micro-batch, and Delta makes no second one for it.
    """

    generation: str

    def _write(self, rows: DataFrame, batch: int) -> None:
        if self._may_be_there(batch):
            # Where it is in the table, Delta reads no row, and the state would not be updated.
            read(rows)
        rows.selectExpr(*map(backticked, self.columns)).createOrReplaceTempView(ROWS)
        rows.sparkSession.sql(
            f"INSERT INTO {self.table} WITH ('txnAppId' = '{self.generation}', 'txnVersion' = '{batch}', "
            f"'userMetadata' = '{self.generation} {batch}') SELECT * FROM {ROWS}"
        )

    def _correct(self, rows: DataFrame, batch: int, corrections: Corrections, ends: list[int]) -> None:
        # MERGE takes no options, so settings of the session that the micro-batches have say the same.
        with settings(rows.sparkSession, commit_settings(self.generation, batch)):
            corrections.merge(rows.selectExpr(*map(backticked, self.columns)), ends)


def commit_settings(generation: str, batch: int | str) -> dict[str, str]:
    """Settings that write a table's id and a micro-batch into the commit, as the options of an INSERT do.

    Delta makes no second commit of a micro-batch, or one of an earlier micro-batch, on top. Other work than a
    micro-batch, and -1, goes only into the commit's metadata.
    """
    said = {"commitInfo.userMetadata": f"{generation} {batch}"}
    if isinstance(batch, int) and batch >= 0:
        said |= {"write.txnAppId": generation, "write.txnVersion": str(batch)}
    return {f"spark.databricks.delta.{name}": text for name, text in said.items()}
