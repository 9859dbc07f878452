"""Compaction of a streaming model's table in plain files: its rows in few files, in a table that takes its place.

Micro-batches are partitions, and no statement of Spark puts one partition in the place of several. So all rows go into
a second table, the staging table, with its own folder. When the staging table has all rows, the catalog drops the
table, and renames the staging table. Both are EXTERNAL: DROP and RENAME touch the catalog alone, and queries that run
still find their files.

A run that is killed leaves the table, or, between the two steps, the staging table, which is marked as whole. Nothing
is written to the table meanwhile, as the run that compacts it has it to itself.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

from dbt.adapters.sparkstream.sql.core.literals import backticked
from dbt.adapters.sparkstream.streaming.ledger import Ledger, Stage, is_over, properties
from dbt.adapters.sparkstream.streaming.refusals import StreamingError
from dbt.adapters.sparkstream.streaming.spark.engine import Engine
from dbt.adapters.sparkstream.streaming.spark.paths import path_of
from dbt.adapters.sparkstream.streaming.tables.staging import StagingTable, checked_own
from dbt.adapters.sparkstream.streaming.tables.table import BATCH, Facts


class Compaction(StagingTable):
    """The compaction of one table.

    Args:
        engine: the session of a run.
        table: the table's name, as SQL has it.
    """

    def __init__(self, engine: Engine, table: str) -> None:
        foreign = "is there, and no compaction has made it\n  give it another name, or leave compact_every out"
        super().__init__(engine, table, Stage.COMPACTION, foreign)

    def tidy(self, ledger: Ledger) -> bool:
        """Removes what a killed run has left in staging, and files from before a compaction that nobody reads any more.

        Args:
            ledger: what is recorded of the table, by a run that has it to itself.

        Returns:
            Whether files were removed: then `files_left` is to be recorded as None.
        """
        self.drop()
        if not is_over(ledger.files_left):
            return False
        self._clear(self.other(Facts.of(self._engine, self._table).location))
        return True

    def __call__(
        self,
        finished: int,
        columns: Sequence[str],
        partition_by: Sequence[str],
        files_of: Callable[[str], str],
        noting: AbstractContextManager[Any],
    ) -> str:
        """Puts the rows of all micro-batches into few files.

        Args:
            finished: the last micro-batch; all rows get its number.
            columns: the table's columns; the micro-batch's number is the last.
            partition_by: the columns that it is partitioned by beside the number of the micro-batch.
            files_of: gives what `check_foreign` needs of a table, by its name.
            noting: held while something is recorded of the table.

        Returns:
            What `check_foreign` needs from now on.

        Raises:
            StreamingError: what Spark says is wrong.
        """
        before = self._ledger(self._table)
        if before is None or not before.compacts:
            raise StreamingError("it was made without compact_every\n  run it once with --full-refresh")
        facts = Facts.of(self._engine, self._table)
        self.drop()
        place = self.other(facts.location)
        self._clear(place)
        self._make_like(place)
        values = ", ".join([*map(backticked, columns[:-1]), f"CAST({finished} AS BIGINT) AS {BATCH}"])
        hint = f"REBALANCE({', '.join(map(backticked, partition_by))})" if partition_by else "REBALANCE"
        self._engine.write_few_files()
        self._engine.sql(f"INSERT INTO {self.name} SELECT /*+ {hint} */ {values} FROM {self._table}")
        rows, got = self._count(self._table), self._count(self.name)
        if rows != got:
            raise StreamingError(f"{self._table} has {rows} rows, and {self.name} got {got}: it stays as it is")
        files = files_of(self.name)
        # The catalog writes a table's properties together with its folder, which must not be the old table's folder.
        with noting:
            now = checked_own(self._ledger(self._table), before, before.holder)
            own = properties(files=files, whole={Stage.COMPACTION: now.generation}, files_left=time.time())
            self._take_place({**now.properties(), **own})
        return files

    def _clear(self, folder: str) -> None:
        """Empties the folder that isn't the table's, once it is certain that none of its files are there."""
        self._engine.sql(f"REFRESH TABLE {self._table}")
        if any(path_of(name).startswith(f"{path_of(folder)}/") for name in self._engine.files(self._table, folder)):
            raise StreamingError(
                f"files of the table lie in {folder}, which is not the folder that the catalog names\n"
                "  run it once with --full-refresh"
            )
        self._engine.folders.clear(folder)

    @staticmethod
    def other(location: str) -> str:
        """The folder that the next compaction writes to: a table has two, in turns."""
        folder = location.rstrip("/")
        suffix = Stage.COMPACTION.suffix
        return folder.removesuffix(suffix) if folder.endswith(suffix) else f"{folder}{suffix}"
