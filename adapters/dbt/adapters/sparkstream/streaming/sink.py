"""What happens with the rows of a micro-batch. Runs beside Spark's driver, so it imports nothing of this package."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class History:
    """Rows of earlier micro-batches that later ones need, in a folder.

    Those after an even micro-batch and those after an odd one lie side by side: a micro-batch that comes again finds
    what was there before it.

    Args:
        folder: the folder.
        query: gives the rows to keep, of the rows so far.
        flag: the column that tells new rows from earlier ones.
    """

    def __init__(self, folder: str, query: str, flag: str) -> None:
        self._folder = folder
        self._query = query
        self._flag = flag

    def joined(self, rows: DataFrame, batch: int, name: str) -> DataFrame:
        """The rows of a micro-batch with the earlier ones; notes what the next one needs.

        Args:
            rows: of the micro-batch. They are read once, as reading them updates the state.
            batch: its number.
            name: what `query` calls all of them.
        """
        spark = rows.sparkSession
        rows.write.mode("overwrite").parquet(f"{self._folder}/new")
        read = spark.read.schema(rows.schema)
        everything = read.parquet(f"{self._folder}/new").selectExpr("*", f"TRUE AS {self._flag}")
        if batch > 0:
            before = read.parquet(f"{self._folder}/kept_{(batch - 1) % 2}").selectExpr("*", f"FALSE AS {self._flag}")
            everything = everything.unionByName(before)
        everything.createOrReplaceTempView(name)
        spark.sql(self._query).write.mode("overwrite").parquet(f"{self._folder}/kept_{batch % 2}")
        return everything


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
            rows = self._history.joined(rows, batch, self._closed)
        if self._query is not None:
            rows.createOrReplaceTempView(self._closed)
            rows = spark.sql(self._query)
        columns = [f"`{name.replace('`', '``')}`" for name in self._columns[:-1]]
        rows = rows.selectExpr(*columns, f"CAST({batch} AS BIGINT) AS `{number}`")
        # Without it, a write replaces the whole table. It is no option of the writer: insertInto ignores that.
        spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
        rows.write.mode("overwrite").insertInto(self._table)
