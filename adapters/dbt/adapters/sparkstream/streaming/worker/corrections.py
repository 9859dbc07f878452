"""Windows in a model's table that late rows have corrected. Runs in the process of the sink.

The table's rows of such a window go, and the window's new rows come in their place, in one step: a commit of Delta or
Iceberg, or of a table of files the change of a partition's folder in the catalog. All rows of a window are in one
partition, with the number of the micro-batch that first had rows of it. So a window is never half in the table, and
never twice.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dbt.adapters.sparkstream.sql.core.literals import backticked, string_literal

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FOLDER = "_corrected"
"""The folder, in a table's folder, with the partitions that corrections have written. Spark finds nothing in it
by itself, as its name begins with `_`."""

_ROWS = "__rows_to_merge"
REPLACED = "__replaced"
"""Column that is true for a row of `merge` that only marks rows of the table that go."""


@dataclass
class Corrections:
    """The windows that late rows of a micro-batch have corrected.

    Attributes:
        end: the column that has the end of a row's window, as SQL has it.
        query: SQL for the ends of corrected windows, over the windows of a micro-batch.
    """

    table: str
    end: str
    query: str
    place: str
    file_format: str

    def ends(self, spark: SparkSession) -> list[int]:
        """Ends of the corrected windows, in microseconds since the epoch; reads views of the micro-batch's windows."""
        return [int(row[0]) for row in spark.sql(f"SELECT unix_micros(x) FROM ({self.query}) AS q (x)").collect()]

    def merge(self, rows: DataFrame, ends: Sequence[int]) -> None:
        """Puts rows into a table whose format has MERGE, and deletes its rows of some windows, in one commit."""
        spark = rows.sparkSession
        moments = ", ".join(f"({end})" for end in ends)
        marks = spark.sql(
            f"SELECT timestamp_micros(m) AS {self.end}, TRUE AS {REPLACED} FROM VALUES {moments} AS v (m)"
        )
        given = rows.selectExpr("*", f"FALSE AS {REPLACED}").unionByName(marks, allowMissingColumns=True)
        given.createOrReplaceTempView(_ROWS)
        spark.sql(merge(self.table, _ROWS, rows.columns, f"t.{self.end} = s.{self.end}"))

    def rewrite(self, rows: DataFrame, batch: int, ends: Sequence[int], number: str) -> DataFrame:
        """Rewrites partitions of a table of files, each with the new rows of some windows in place of the old ones.

        A micro-batch that comes again does the same once more.

        Returns:
            The rows for the micro-batch's own partition: of the windows that no earlier one has rows of.
        """
        spark = rows.sparkSession
        spark.sql(f"REFRESH TABLE {self.table}")
        earlier = spark.read.table(self.table).where(f"{backticked(number)} < {batch} AND {self._among(ends)}")
        found: dict[int, list[int]] = {}
        for partition, end in earlier.selectExpr(backticked(number), f"unix_micros({self.end})").distinct().collect():
            found.setdefault(int(partition), []).append(int(end))
        for partition, its in sorted(found.items()):
            whole = spark.read.table(self.table).where(f"{backticked(number)} = {partition}")
            corrected = whole.where(f"NOT {self._among(its)}").unionByName(rows.where(self._among(its)))
            folder = f"{self.place}/{FOLDER}/{batch}_{uuid.uuid4().hex[:12]}/{number}={partition}"
            corrected.drop(number).write.format(self.file_format).save(folder)
            moved = f"PARTITION ({backticked(number)} = {partition}) SET LOCATION {string_literal(folder)}"
            spark.sql(f"ALTER TABLE {self.table} {moved}")
        placed = [end for its in found.values() for end in its]
        return rows.where(f"NOT {self._among(placed)}") if placed else rows

    def _among(self, ends: Iterable[int]) -> str:
        return f"{self.end} IN ({', '.join(f'timestamp_micros({end})' for end in ends)})"


def merge(table: str, rows: str, columns: Sequence[str], same: str) -> str:
    """Statement that puts rows into a table whose format has MERGE, and deletes others, in one commit.

    Args:
        table: the table; `t` in conditions.
        rows: a view of the rows to put in, and of marks for rows that go; `s` in conditions. `REPLACED` tells the two.
        same: condition for the rows of the table that go by a mark. A row of the table has one mark at most.
    """
    names = [backticked(name) for name in columns]
    return (
        f"MERGE INTO {table} AS t USING {rows} AS s ON s.{REPLACED} AND {same}\n"
        f"WHEN MATCHED THEN DELETE\nWHEN NOT MATCHED AND NOT s.{REPLACED} THEN "
        f"INSERT ({', '.join(names)}) VALUES ({', '.join(f's.{name}' for name in names)})"
    )
