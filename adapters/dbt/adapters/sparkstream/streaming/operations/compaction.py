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
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

from dbt.adapters.sparkstream.sql.core.literals import backticked
from dbt.adapters.sparkstream.streaming.refusals import StreamingError
from dbt.adapters.sparkstream.streaming.spark.engine import Engine
from dbt.adapters.sparkstream.streaming.spark.paths import path_of
from dbt.adapters.sparkstream.streaming.tables.staging import StagingTable
from dbt.adapters.sparkstream.streaming.tables.table import BATCH, COMPACTS, Facts

SUFFIX = "__compacted"

OF = "compaction_of"
"""The property of a staging table: the name of the table whose rows it has."""

WHOLE = "whole"
"""The property of a staging table that has all rows: the generation of the table."""

LEFT = "left_files"
"""The property that says when a compaction, or the first of several corrections, has left the files from before;
seconds since the epoch."""

GRACE = 3600.0
"""Seconds that queries may go on reading these files."""


class Compaction(StagingTable):
    """The compaction of one table.

    Args:
        engine: the session of a run.
        table: the table's name, as SQL has it.
    """

    def __init__(self, engine: Engine, table: str) -> None:
        foreign = "is there, and no compaction has made it\n  give it another name, or leave compact_every out"
        super().__init__(engine, table, suffix=SUFFIX, of=OF, whole=WHOLE, foreign=foreign)

    def tidy(self, known: Mapping[str, str]) -> bool:
        """Removes what a killed run has left in staging, and files from before a compaction that nobody reads any more.

        Args:
            known: what is recorded of the table, by a run that has it to itself.

        Returns:
            Whether files were removed: then `LEFT` is to be recorded as empty.
        """
        self.drop()
        if not is_over(known.get(LEFT)):
            return False
        self._clear(self.other(Facts.of(self._engine, self._table).location))
        return True

    def __call__(
        self,
        finished: int,
        columns: Sequence[str],
        partition_by: Sequence[str],
        noted: Callable[[str], str],
        noting: AbstractContextManager[Any],
    ) -> str:
        """Puts the rows of all micro-batches into few files.

        Args:
            finished: the last micro-batch; all rows get its number.
            columns: the table's columns; the micro-batch's number is the last.
            partition_by: the columns that it is partitioned by beside the number of the micro-batch.
            noted: gives what `check_foreign` needs of a table, by its name.
            noting: held while something is recorded of the table.

        Returns:
            What `check_foreign` needs from now on.

        Raises:
            StreamingError: what Spark says is wrong.
        """
        known = self._properties(self._table)
        if COMPACTS not in known:
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
        before, after = self._count(self._table), self._count(self.name)
        if before != after:
            raise StreamingError(f"{self._table} has {before} rows, and {self.name} got {after}: it stays as it is")
        files = noted(self.name)
        # The catalog writes a table's properties together with its folder, which must not be the old table's folder.
        with noting:
            now = self._properties(self._table)
            self._check_own(now, known, known)
            self._take_place({**now, "files": files, WHOLE: now["table"], LEFT: f"{time.time():.0f}"})
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
        return folder.removesuffix(SUFFIX) if folder.endswith(SUFFIX) else f"{folder}{SUFFIX}"


def is_over(left: str | None) -> bool:
    """Whether nobody reads any more what was left, by what is recorded under `LEFT`."""
    return bool(left) and time.time() - float(left or 0) >= GRACE
