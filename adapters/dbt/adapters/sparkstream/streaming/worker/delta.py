"""Sink of a table in Delta. It runs where every sink does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dbt.adapters.sparkstream.sql.core.literals import backticked
from dbt.adapters.sparkstream.streaming.worker.sink import ROWS, Sink, read

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from dbt.adapters.sparkstream.streaming.worker.corrections import Corrections


class DeltaAppend(Sink):
    """Appends to a table in Delta, in one commit for each micro-batch.

    The commit says which micro-batch it is of, and Delta makes no second one for it.

    Args:
        generation: tells the table from earlier tables of the same name.
    """

    def __init__(self, *, generation: str, **common: Any) -> None:
        super().__init__(**common)
        self._generation = generation

    def _write(self, rows: DataFrame, batch: int) -> None:
        if self._may_be_there(batch):
            # Where it is in the table, Delta reads no row, and the state would not be updated.
            read(rows)
        rows.selectExpr(*map(backticked, self._columns)).createOrReplaceTempView(ROWS)
        rows.sparkSession.sql(
            f"INSERT INTO {self._table} WITH ('txnAppId' = '{self._generation}', 'txnVersion' = '{batch}', "
            f"'userMetadata' = '{self._generation} {batch}') SELECT * FROM {ROWS}"
        )

    def _correct(self, rows: DataFrame, batch: int, corrections: Corrections, ends: list[int]) -> None:
        # MERGE takes no options, so settings of the session that the micro-batches have say the same.
        conf = rows.sparkSession.conf
        said = {
            "write.txnAppId": self._generation,
            "write.txnVersion": str(batch),
            "commitInfo.userMetadata": f"{self._generation} {batch}",
        }
        for name, text in said.items():
            conf.set(f"spark.databricks.delta.{name}", text)
        try:
            corrections.merge(rows.selectExpr(*map(backticked, self._columns)), ends)
        finally:
            for name in said:
                conf.unset(f"spark.databricks.delta.{name}")
