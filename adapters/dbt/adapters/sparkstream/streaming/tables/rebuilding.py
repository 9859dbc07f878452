"""Staged rebuild: a staging table takes the place of a streaming model's table when it has all rows.

The staging table is a streaming model's table like any other, with its own generation, checkpoint and lease. So a run
that is killed or stopped while it fills the staging table leaves the old table as it was, and the next run goes on with
the staging table.

For plain files, the swap is a DROP and a RENAME of EXTERNAL tables, which touch the catalog alone, as in a compaction:
a run that is killed between them leaves the staging table, which is marked as whole. For Delta and Iceberg, one commit
puts the rows, columns and properties of the staging table into the table; then the staging table is dropped.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

from dbt.adapters.sparkstream.streaming.lease import KEY
from dbt.adapters.sparkstream.streaming.model import Model
from dbt.adapters.sparkstream.streaming.refusals import StreamingError
from dbt.adapters.sparkstream.streaming.settings import SWAP
from dbt.adapters.sparkstream.streaming.spark.engine import Engine
from dbt.adapters.sparkstream.streaming.tables.staging import StagingTable
from dbt.adapters.sparkstream.streaming.tables.table import named_beside

SUFFIX = "__rebuilt"

ASIDE = "aside"
"""The property with the folder of a staging table, recorded before that is made; empty when it is gone. Where the
catalog chooses the folder, a name stands for it, without a slash."""

OF = "rebuilt_of"
"""The property of a staging table: the name of the table whose place it is to take."""

WHOLE = "rebuilt_whole"
"""The property of a staged rebuild: the generation of the table whose place it takes. It is empty when the
sidecar folders of that table are gone, too, and the staging table."""

LEAVES = "leaves"
"""The property with the folders that tables before have left, as JSON: folder -> since when queries may read its files,
in seconds since the epoch; 0 for a folder that nobody reads."""


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
        super().__init__(engine, table, suffix=SUFFIX, of=OF, whole=WHOLE, foreign=foreign)

    def drop(self) -> None:
        self.check()
        if self._notes:
            notes = named_beside(self.name, self._notes)
            if self._engine.exists(notes) and self._properties(notes).get(OF) == self._table:
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
        return replace(model, relation=self.name, identifier=identifier, config=config, aside_of=self._table)

    def swap(
        self,
        known: Mapping[str, str],
        fact: Mapping[str, str],
        leaves: Mapping[str, int],
        noting: AbstractContextManager[Any],
    ) -> None:
        """Gives the table's name to the staging table, which has all rows.

        Args:
            known: what is recorded of the table, by the run that has it.
            fact: says that the table is that run's.
            leaves: what is recorded under `LEAVES`.
            noting: held while something is recorded of the table.

        Raises:
            StreamingError: another run has one of the tables, or what Spark says is wrong.
        """
        with noting:
            now, aside = self._properties(self._table), self._properties(self.name)
            self.check_swap(now, aside, known, fact)
            self._take_place({**fact, LEAVES: json.dumps(dict(leaves)), WHOLE: known["table"]})

    def check_swap(
        self, now: Mapping[str, str], aside: Mapping[str, str], known: Mapping[str, str], fact: Mapping[str, str]
    ) -> None:
        """Makes sure that both tables are the run's.

        Args:
            now: what is recorded of the table now.
            aside: the same, of the staging table.
            known: what was recorded of the table when the run took it.
            fact: says that the staging table is this run's.

        Raises:
            StreamingError: another run has one of them.
        """
        self._check_own(now, known, fact)
        if aside.get(OF) != self._table or aside.get(KEY):
            raise StreamingError(f"another run has {self.name}")


def left(known: Mapping[str, str]) -> dict[str, int]:
    """The folders that tables before have left, as `LEAVES` has them."""
    return dict(json.loads(known.get(LEAVES) or "{}"))
