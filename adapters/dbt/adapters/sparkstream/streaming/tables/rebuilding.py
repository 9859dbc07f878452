"""Staged rebuild: a staging table takes the place of a streaming model's table when it has all rows.

The staging table is a streaming model's table like any other, with its own generation, checkpoint and lease. So a run
that is killed or stopped while it fills the staging table leaves the old table as it was, and the next run goes on with
the staging table.

For plain files, the swap is a DROP and a RENAME of EXTERNAL tables, which touch the catalog alone, as in a compaction:
a run that is killed between them leaves the staging table, which is marked as whole. For Delta and Iceberg, one commit
puts the rows, columns and properties of the staging table into the table; then the staging table is dropped.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

from dbt.adapters.sparkstream.streaming.holder import Holder
from dbt.adapters.sparkstream.streaming.ledger import Ledger, Stage, properties
from dbt.adapters.sparkstream.streaming.model import Model
from dbt.adapters.sparkstream.streaming.refusals import StreamingError
from dbt.adapters.sparkstream.streaming.settings import SWAP
from dbt.adapters.sparkstream.streaming.spark.engine import Engine
from dbt.adapters.sparkstream.streaming.tables.staging import StagingTable, checked_own
from dbt.adapters.sparkstream.streaming.tables.table import properties_of, suffixed


class Rebuilt(StagingTable):
    """The staging table of one table.

    Args:
        engine: the session of a run.
        table: the table's name, as SQL has it.
        notes: what the name of the table with its notes has behind its own; empty where its properties have them.
        purges: whether its files go with it only if that is said.
    """

    def __init__(self, engine: Engine, table: str, *, notes: str = "", purges: bool = False) -> None:
        self._notes = notes
        self._purges = purges
        foreign = (
            f"is there, and was not made to take the place of {table}\n"
            f"  give it another name, or write 'rebuild' in the model's config instead of '{SWAP}'"
        )
        super().__init__(engine, table, Stage.REBUILD, foreign)

    def drop(self) -> None:
        self.check()
        if self._notes:
            notes = suffixed(self.name, self._notes)
            if (
                self._engine.exists(notes)
                and properties_of(self._engine, notes).get(Stage.REBUILD.keys["of"]) == self._table
            ):
                self._engine.sql(f"DROP TABLE IF EXISTS {notes}")
        self._engine.sql(f"DROP TABLE IF EXISTS {self.name}{' PURGE' if self._purges else ''}")

    def model(self, model: Model, folder: str, checkpoints: str) -> Model:
        """The model that fills the staging table.

        Args:
            model: the model.
            folder: the folder of the staging table, or a name where the catalog chooses the folder.
            checkpoints: what the names of the folders begin with that are kept of it.
        """
        root, _, identifier = folder.rpartition("/")
        config = replace(
            model.config,
            # Rows of a staging table are nobody's yet, so it is rebuilt in its place; but it may give way later.
            on_query_change="rebuild",
            on_source_change="accept" if model.config.on_source_change == "accept" else "rebuild",
            on_full_refresh=SWAP,
            interval=None,  # it is to end when it has caught up
            location_root=root or None,
            checkpoint_location=checkpoints,
        )
        return replace(model, relation=self.name, identifier=identifier, config=config, staging_of=self._table)

    def swap(
        self,
        ledger: Ledger,
        holder: Holder,
        left: Mapping[str, int],
        noting: AbstractContextManager[Any],
    ) -> None:
        """Gives the table's name to the staging table, which has all rows.

        Args:
            ledger: what is recorded of the table, by the run that has it.
            holder: that run.
            left: the folders that the table leaves.
            noting: held while something is recorded of the table.

        Raises:
            StreamingError: another run has one of the tables, or what Spark says is wrong.
        """
        with noting:
            self.check_swap(self._ledger(self._table), self._ledger(self.name), ledger, holder)
            self._take_place(properties(holder=holder, left=left, whole={Stage.REBUILD: ledger.generation}))

    def check_swap(self, now: Ledger | None, its: Ledger | None, before: Ledger, holder: Holder) -> Ledger:
        """Makes sure that both tables are the run's.

        Args:
            now: what is recorded of the table now.
            its: the same, of the staging table.
            before: what was recorded of the table when the run took it.
            holder: the run.

        Returns:
            What is recorded of the staging table.

        Raises:
            StreamingError: another run has one of them.
        """
        checked_own(now, before, holder)
        if its is None or not self._is_ours(its) or its.holder is not None:
            raise StreamingError(f"another run has {self.name}")
        return its
