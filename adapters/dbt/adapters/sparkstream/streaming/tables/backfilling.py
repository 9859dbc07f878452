"""Rows of a streaming model's table that others take the place of, in one step that readers see."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any

from dbt.adapters.sparkstream.sql.core.literals import backticked
from dbt.adapters.sparkstream.streaming.holder import Holder
from dbt.adapters.sparkstream.streaming.ledger import Ledger, Stage, properties
from dbt.adapters.sparkstream.streaming.refusals import StreamingError
from dbt.adapters.sparkstream.streaming.spark.engine import Engine
from dbt.adapters.sparkstream.streaming.spark.paths import parent_of
from dbt.adapters.sparkstream.streaming.tables.replacement import Replacement
from dbt.adapters.sparkstream.streaming.tables.staging import StagingTable, checked_own
from dbt.adapters.sparkstream.streaming.tables.table import BATCH
from dbt.adapters.sparkstream.streaming.worker.corrections import REPLACED, merge

_MARKED = "__rows_and_marks"


def merge_rows(engine: Engine, table: str, replaced: Replacement) -> None:
    """Replaces rows of a table whose format has MERGE, in one commit.

    Args:
        engine: a session.
        table: the table's name.
        replaced: the rows.

    Raises:
        StreamingError: what Spark says is wrong; the table stays as it is.
    """
    columns = engine.described(table)
    # NULL of any type: a mark has the time alone.
    mark = [backticked(name) if name == replaced.key else f"CAST(NULL AS {type_})" for name, type_ in columns]
    row = [f"CAST({replaced.batch} AS BIGINT)" if name == BATCH else backticked(name) for name, _ in columns]
    names = ", ".join([*(backticked(name) for name, _ in columns), REPLACED])
    engine.sql(
        f"CREATE OR REPLACE TEMPORARY VIEW {_MARKED} ({names}) AS\n"
        f"SELECT {', '.join(row)}, FALSE FROM {replaced.rows}\nUNION ALL\n"
        f"SELECT {', '.join(mark)}, TRUE FROM (SELECT DISTINCT {backticked(replaced.key)} FROM {table} "
        f"WHERE {replaced.goes()})"
    )
    same = f"t.{backticked(replaced.key)} = s.{backticked(replaced.key)} AND {replaced.goes('t.')}"
    engine.sql(merge(table, _MARKED, [name for name, _ in columns], same))


class Backfilled(StagingTable):
    """A staging table of plain files: a model's table with some of its rows replaced. It takes the place of this table.

    It is the same table in all else: its generation, its checkpoint and what is recorded of it stay.

    Args:
        engine: a session.
        table: the table's name, as SQL has it.
    """

    def __init__(self, engine: Engine, table: str) -> None:
        foreign = "is there, and no backfill has made it\n  give it another name"
        super().__init__(engine, table, Stage.BACKFILL, foreign)

    @staticmethod
    def place(location: str) -> str:
        """A folder for a staging table, which nothing has been in.

        Args:
            location: the folder of the table.
        """
        folder = location.rstrip("/")
        name = folder.rpartition("/")[2].partition(Stage.BACKFILL.suffix)[0]
        return f"{parent_of(folder)}/{name}{Stage.BACKFILL.suffix}-{uuid.uuid4().hex[:8]}"

    def fill(self, replaced: Replacement, place: str, columns: list[str], partitions: int) -> None:
        """Makes the staging table, with all rows that the table is to have.

        Args:
            replaced: the rows that others take the place of.
            place: its folder.
            columns: the table's columns; the columns that it is partitioned by stand last.
            partitions: how many these are.

        Raises:
            StreamingError: what Spark says is wrong, or rows are missing.
        """
        self._make_like(place)
        names = ", ".join(map(backticked, columns))
        new = ", ".join([*map(backticked, columns[:-1]), f"CAST({replaced.batch} AS BIGINT) AS {BATCH}"])
        hint = f"REBALANCE({', '.join(map(backticked, columns[-partitions:]))})"
        self._engine.write_few_files()
        self._engine.sql(
            f"INSERT INTO {self.name} SELECT /*+ {hint} */ * FROM (\n"
            f"SELECT {names} FROM {self._table} WHERE NOT coalesce({replaced.goes()}, FALSE)\nUNION ALL\n"
            f"SELECT {new} FROM {replaced.rows})"
        )
        wanted = self._count(self._table) - replaced.removed + replaced.added
        if (got := self._count(self.name)) != wanted:
            raise StreamingError(f"{self._table} is to have {wanted} rows, and got {got} in staging: it stays as it is")

    def give_place(
        self,
        ledger: Ledger,
        holder: Holder,
        left: Mapping[str, int],
        files_of: Callable[[str], str],
        noting: AbstractContextManager[Any],
    ) -> None:
        """Gives the table's name to the staging table.

        Args:
            ledger: what is recorded of the table, by the run that has it.
            holder: that run.
            left: the folders that the table leaves.
            files_of: gives what `check_foreign` needs of a table, by its name.
            noting: held while something is recorded of the table.

        Raises:
            StreamingError: another run has the table, or what Spark says is wrong.
        """
        files = files_of(self.name)
        with noting:
            now = checked_own(self._ledger(self._table), ledger, holder)
            own = properties(files=files, whole={Stage.BACKFILL: now.generation}, files_left=None, left=left)
            self._take_place({**now.properties(), **own})
