"""Staging table that takes the place of a streaming model's table: compacted or rebuilt.

The catalog forgets the table, and gives its name to the staging table. A run that is killed between these two steps
leaves the staging table, which is marked as whole.
"""

from __future__ import annotations

from collections.abc import Mapping

from dbt.adapters.sparkstream.sql.core.literals import string_literal
from dbt.adapters.sparkstream.streaming.holder import Holder
from dbt.adapters.sparkstream.streaming.ledger import PREFIX, Ledger, Stage
from dbt.adapters.sparkstream.streaming.refusals import StreamingError
from dbt.adapters.sparkstream.streaming.spark.engine import Engine
from dbt.adapters.sparkstream.streaming.tables.table import Facts, pairs, properties_of, suffixed

_OF_THE_CATALOG = ("transient_lastDdlTime",)
"""Properties that the catalog makes itself."""


class StagingTable:
    """The staging table of one table.

    Args:
        engine: the session of a run.
        table: the table's name, as SQL has it.
        stage: its kind.
        foreign: what is said behind its name where it is somebody else's.
    """

    def __init__(self, engine: Engine, table: str, stage: Stage, foreign: str) -> None:
        self._engine = engine
        self._table = table
        self._stage = stage
        self._foreign = foreign
        self.name = suffixed(table, stage.suffix)

    def is_foreign(self) -> bool:
        """Whether the name of the staging table, and its folder with it, is somebody else's."""
        return self._engine.exists(self.name) and not self._is_ours(self._ledger(self.name))

    def check(self) -> None:
        """Makes sure that the name of the staging table is free, or a table's that was made for this one.

        Raises:
            StreamingError: it is somebody else's.
        """
        if self.is_foreign():
            raise StreamingError(f"{self.name} {self._foreign}")

    def drop(self) -> None:
        """Drops the staging table, if one is there.

        Raises:
            StreamingError: it is somebody else's.
        """
        self.check()
        self._engine.sql(f"DROP TABLE IF EXISTS {self.name}")

    def ledger(self) -> Ledger | None:
        """What is recorded of the staging table; None where there is none, or only somebody else's."""
        found = self._ledger(self.name) if self._engine.exists(self.name) else None
        return found if self._is_ours(found) else None

    def _is_ours(self, ledger: Ledger | None) -> bool:
        return ledger is not None and ledger.of.get(self._stage) == self._table

    def restore(self) -> bool:
        """Gives the table's name to a whole staging table, where a run was killed before it did; False for none."""
        ledger = self.ledger()
        if ledger is None or not ledger.whole.get(self._stage):
            return False
        self._rename()
        return True

    def _make_like(self, place: str) -> None:
        """Makes the staging table, empty, with the columns, partitions, format and properties of the table.

        Args:
            place: its folder.
        """
        facts = Facts.of(self._engine, self._table)
        theirs = self._engine.sql(f"SHOW TBLPROPERTIES {self._table}")
        given = {str(row[0]): str(row[1]) for row in theirs if str(row[0]) not in _OF_THE_CATALOG}
        given = {name: text for name, text in given.items() if name != PREFIX + self._stage.keys["whole"]}
        given[PREFIX + self._stage.keys["of"]] = self._table
        properties = ", ".join(f"{string_literal(name)} = {string_literal(text)}" for name, text in given.items())
        self._engine.sql(
            f"CREATE TABLE {self.name} LIKE {self._table} USING {facts.provider} "
            f"LOCATION {string_literal(place)} TBLPROPERTIES ({properties})"
        )
        if facts.comment:
            self._engine.sql(f"COMMENT ON TABLE {self.name} IS {string_literal(facts.comment)}")

    def _count(self, table: str) -> int:
        """How many rows a table has."""
        return int(self._engine.sql(f"SELECT count(*) FROM {table}")[0][0])

    def _take_place(self, properties: Mapping[str, str]) -> None:
        """Gives the table's name to the staging table. Whoever sees it there sees all that belongs to it.

        Args:
            properties: what is recorded of it, by keys of the ledger.
        """
        self._engine.sql(f"ALTER TABLE {self.name} SET TBLPROPERTIES ({pairs(properties)})")
        self._engine.sql(f"DROP TABLE {self._table}")
        self._rename()

    def _rename(self) -> None:
        try:
            self._engine.sql(f"ALTER TABLE {self.name} RENAME TO {self._table}")
        except StreamingError:
            if not self._engine.exists(self._table):  # else a run that came at the same moment has done it
                raise

    def _ledger(self, table: str) -> Ledger | None:
        return Ledger.read(properties_of(self._engine, table))


def checked_own(now: Ledger | None, before: Ledger, holder: Holder | None) -> Ledger:
    """What is recorded of a table now, once it is certain that it is still a run's.

    Args:
        now: what is recorded of it now.
        before: what was recorded when the run took it.
        holder: the run.

    Raises:
        StreamingError: it is another run's.
    """
    if now is None or now.generation != before.generation or _id(now.holder) != _id(holder):
        raise StreamingError("another run has taken it over")
    return now


def _id(holder: Holder | None) -> str | None:
    return holder.id if holder is not None else None
