"""Folders and files that a streaming run keeps beside its tables, read and written by Spark wherever they lie."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from dbt.adapters.sparkstream.sql.core.literals import string_literal
from dbt.adapters.sparkstream.sql.core.names import backticked
from dbt.adapters.sparkstream.streaming.errors import StreamingError
from dbt.adapters.sparkstream.streaming.paths import path_of
from dbt.adapters.sparkstream.streaming.sparkerrors import spark_errors

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_END = "timestamp'9999-06-01'"
"""The time of a row that closes all windows."""


@contextmanager
def _no_folder() -> Iterator[None]:
    """Goes on where Spark finds no folder."""
    try:
        yield
    except StreamingError as error:
        if error.fault.condition != "PATH_NOT_FOUND":
            raise


_IN_A_JOB = "spark.sql.sources.parallelPartitionDiscovery.threshold"
"""The setting with the number of folders from which Spark lists them in a job."""


@contextmanager
def listed_at_once(spark: SparkSession, folder: str) -> Iterator[None]:
    """Has Spark list what is below a folder on a disk without a job, which takes longer than a thousand folders.

    Args:
        spark: the session.
        folder: with its scheme, as the catalog has it: `file:/warehouse/t`. In a store each folder takes a request.
    """
    if not folder.startswith("file:"):
        yield
        return
    with spark_errors():
        before = str(spark.conf.get(_IN_A_JOB))
        spark.conf.set(_IN_A_JOB, "10000")
    try:
        yield
    finally:
        with spark_errors():
            spark.conf.set(_IN_A_JOB, before)


class Folders:
    """Folders as a Spark session sees them: on this machine, a cluster's file system or an object store.

    Args:
        spark: the session.
    """

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark

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

    def write(self, path: str, query: str) -> None:
        """Makes a folder with the rows of a query in Parquet files, in place of what is there."""
        with spark_errors():
            self._spark.sql(query).write.mode("overwrite").parquet(path)

    def rewrite(self, path: str, query: str) -> None:
        """Makes a folder with one Parquet file of a query's rows, in place of what is there."""
        with spark_errors():
            self._spark.sql(query).coalesce(1).write.mode("overwrite").parquet(path)

    def stored_files(self, path: str) -> dict[str, int]:
        """The files in a folder and in folders below: path -> time of its last change, in milliseconds since the epoch.

        Files and folders with names that begin with `_` or `.` are left out. Empty where there is no folder.
        """
        columns = ("path", "unix_millis(modificationTime)")  # and not the content, which Spark doesn't read then
        with _no_folder(), spark_errors(), listed_at_once(self._spark, path):
            files = self._spark.read.format("binaryFile").option("recursiveFileLookup", "true").load(path)
            return {path_of(str(row[0])): int(row[1]) for row in files.selectExpr(*columns).collect()}
        return {}

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

    def prepare_flush(self, folder: str) -> None:
        """Makes the folder of a flush, with no rows yet."""
        with spark_errors():
            self._spark.createDataFrame([], "t timestamp").write.mode("ignore").parquet(folder)

    def flush(self, folder: str, event_times: Sequence[str]) -> None:
        """Puts a row into the folder of a flush, behind all times."""
        with spark_errors():
            columns = ", ".join(f"{_END} AS {backticked(name)}" for name in dict.fromkeys(event_times))
            self._spark.sql(f"SELECT {columns}").write.mode("append").parquet(folder)
