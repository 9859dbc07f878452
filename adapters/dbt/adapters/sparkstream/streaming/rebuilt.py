"""A table that is made anew aside, and takes the place of a streaming model's table when it has all rows.

The table aside is a streaming model's table like any other: it has a generation, a checkpoint and a lease of its own.
So a run that is killed or stopped while it fills it leaves the old table as it was, and the next run goes on with the
table aside. Both steps of the swap touch the catalog alone, as those of a compaction do, where both tables are
EXTERNAL: a run that is killed between them leaves the table aside, which is marked as whole.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

from dbt.adapters.sparkstream.streaming.config import SWAP
from dbt.adapters.sparkstream.streaming.engine import Engine
from dbt.adapters.sparkstream.streaming.errors import StreamingError
from dbt.adapters.sparkstream.streaming.lease import KEY, Holder
from dbt.adapters.sparkstream.streaming.model import Model
from dbt.adapters.sparkstream.streaming.paths import beside
from dbt.adapters.sparkstream.streaming.table import PREFIX, named_beside, pairs

SUFFIX = "__rebuilt"

ASIDE = "aside"
"""The property with the folder of a table aside, noted before that is made; empty when it is gone."""

OF = "rebuilt_of"
"""The property of a table aside: the name of the table whose place it is to take."""

WHOLE = "rebuilt_whole"
"""The property of a table aside that has all rows: the generation of the table whose place it takes. It is empty when
what that table had beside it is gone, too."""

LEAVES = "leaves"
"""The property with the folders that tables before have left, as JSON: folder -> since when queries may read its files,
in seconds since the epoch; 0 for a folder that nobody reads."""


class Rebuilt:
    """The table aside of one table.

    Args:
        engine: the session of a run.
        table: the table's name, as SQL has it.
    """

    def __init__(self, engine: Engine, table: str) -> None:
        self._engine = engine
        self._table = table
        self.name = named_beside(table, SUFFIX)

    def model(self, model: Model, folder: str) -> Model:
        """The model that fills the table aside.

        Args:
            model: the model.
            folder: the folder of the table aside.
        """
        config = replace(
            model.config,
            # Rows of a table aside are nobody's yet, so it is made anew in its place; but it may give way later.
            on_query_change="rebuild",
            on_source_change="accept" if model.config.on_source_change == "accept" else "rebuild",
            on_full_refresh=SWAP,
            interval=None,  # it is to end when it has caught up
            location_root=beside(folder),
        )
        return replace(
            model, relation=self.name, identifier=folder.rpartition("/")[2], config=config, aside_of=self._table
        )

    def check(self) -> None:
        """Makes sure that the name of the table aside is free, or a table's that was made for this one.

        Raises:
            StreamingError: it is somebody else's.
        """
        if self._engine.exists(self.name) and self._properties(self.name).get(OF) != self._table:
            raise StreamingError(
                f"{self.name} is there, and was not made to take the place of {self._table}\n"
                f"  give it another name, or write 'rebuild' in the model's config instead of '{SWAP}'"
            )

    def drop(self) -> None:
        """Drops the table aside, if one is there.

        Raises:
            StreamingError: it is somebody else's.
        """
        self.check()
        self._engine.sql(f"DROP TABLE IF EXISTS {self.name}")

    def noted(self) -> dict[str, str] | None:
        """What is noted of the table aside; None where there is none, or only somebody else's."""
        known = self._properties(self.name) if self._engine.exists(self.name) else {}
        return known if known.get(OF) == self._table else None

    def restore(self) -> bool:
        """Gives the table's name to a whole table aside, where a run was killed before it did; False for none."""
        if not (self.noted() or {}).get(WHOLE):
            return False
        self._rename()
        return True

    def swap(
        self,
        known: Mapping[str, str],
        fact: Mapping[str, str],
        leaves: Mapping[str, int],
        noting: AbstractContextManager[Any],
    ) -> None:
        """Gives the table's name to the table aside, which has all rows.

        Args:
            known: what is noted of the table, by the run that has it.
            fact: says that the table is that run's.
            leaves: what is noted under `LEAVES`.
            noting: held while something is noted of the table.

        Raises:
            StreamingError: another run has one of the tables, or what Spark says is wrong.
        """
        with noting:
            now, aside = self._properties(self._table), self._properties(self.name)
            if now.get("table") != known["table"] or not _is_held(now, fact):
                raise StreamingError("another run has taken it over")
            if aside.get(OF) != self._table or aside.get(KEY):
                raise StreamingError(f"another run has {self.name}")
            # Whoever sees it under the table's name sees whose it is, and what is to be removed.
            whole = {**fact, LEAVES: json.dumps(dict(leaves)), WHOLE: known["table"]}
            self._engine.sql(f"ALTER TABLE {self.name} SET TBLPROPERTIES ({pairs(whole)})")
            self._engine.sql(f"DROP TABLE {self._table}")
            self._rename()

    def _rename(self) -> None:
        try:
            self._engine.sql(f"ALTER TABLE {self.name} RENAME TO {self._table}")
        except StreamingError:
            if not self._engine.exists(self._table):  # else a run that came at the same moment has done it
                raise

    def _properties(self, table: str) -> dict[str, str]:
        rows = self._engine.sql(f"SHOW TBLPROPERTIES {table}")
        return {str(r[0])[len(PREFIX) :]: str(r[1]) for r in rows if str(r[0]).startswith(PREFIX)}


def left(known: Mapping[str, str]) -> dict[str, int]:
    """The folders that tables before have left, as `LEAVES` has them."""
    return dict(json.loads(known.get(LEAVES) or "{}"))


def _is_held(known: Mapping[str, str], fact: Mapping[str, str]) -> bool:
    """Whether a table is the run's that a fact tells of."""
    mine, now = Holder.read(fact[KEY]), Holder.read(known.get(KEY))
    return mine is not None and now is not None and mine.id == now.id
