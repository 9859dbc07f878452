"""What happens with the rows of a micro-batch. Runs beside Spark's driver, so it imports nothing of this package."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class Append:
    """Appends the rows of each micro-batch to a table, once.

    A micro-batch that was interrupted comes again, with the same number and the same rows. Its rows are a partition,
    which is there as a whole or not at all: Spark writes it aside, moves it, and then enters it in the catalog.

    Args:
        table: the table's name.
        columns: its columns, the number of the micro-batch last.
        closed: the view that `query` reads.
        query: gives the rows for the table, of the rows that come from the stream; None for these themselves.
    """

    def __init__(self, table: str, columns: list[str], closed: str, query: str | None) -> None:
        self._table = table
        self._columns = columns
        self._closed = closed
        self._query = query
        self._first = True

    def __call__(self, rows: DataFrame, batch: int) -> None:
        spark = rows.sparkSession
        number = self._columns[-1]
        if self._first:
            self._first = False
            if spark.sql(f"SELECT 1 FROM {self._table} WHERE `{number}` = {batch} LIMIT 1").collect():
                # The run before this one got this far. Read the rows all the same: that is what updates the state.
                rows.write.format("noop").mode("overwrite").save()
                return
        if self._query is not None:
            rows.createOrReplaceTempView(self._closed)
            rows = spark.sql(self._query)
        columns = [f"`{name.replace('`', '``')}`" for name in self._columns[:-1]]
        rows = rows.selectExpr(*columns, f"CAST({batch} AS BIGINT) AS `{number}`")
        # Without it, a write replaces the whole table. It is no option of the writer: insertInto ignores that.
        spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
        rows.write.mode("overwrite").insertInto(self._table)
