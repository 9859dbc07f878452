"""Staging tables that take the place of a streaming model's table: compacted, rebuilt, or with other rows of a range.

When the staging table has all rows, the catalog drops the table, and gives its name to the staging table. Both are
EXTERNAL, so this touches the catalog alone, and queries that run still find their files. A run that is killed between
the two steps leaves the staging table, which is marked as whole. Nothing else is written to the table meanwhile, as the
run has it to itself.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from dbt.adapters.sparkstream.sql.core.literals import backticked, string_literal
from dbt.adapters.sparkstream.streaming.ledger import PREFIX, Holder, Ledger, Stage, is_over, properties
from dbt.adapters.sparkstream.streaming.model import Model
from dbt.adapters.sparkstream.streaming.refusals import StreamingError
from dbt.adapters.sparkstream.streaming.settings import SWAP
from dbt.adapters.sparkstream.streaming.spark.engine import Engine
from dbt.adapters.sparkstream.streaming.spark.folders import parent_of, path_of
from dbt.adapters.sparkstream.streaming.tables.catalog import Facts, given, ledger_of, pairs, properties_of, suffixed
from dbt.adapters.sparkstream.streaming.worker.sink import numbered

_OF_THE_CATALOG = "transient_lastDdlTime"
"""Property that the catalog sets itself."""


@dataclass
class StagingTable:
    """The staging table of one table; `recording` is the lock under which properties are written."""

    stage: ClassVar[Stage]
    foreign: ClassVar[str]
    """End of the error about a table of this name that isn't the adapter's, after the name."""

    engine: Engine
    table: str
    recording: AbstractContextManager[Any]

    @property
    def name(self) -> str:
        """Name of the staging table, as SQL has it."""
        return suffixed(self.table, self.stage.suffix)

    def is_foreign(self) -> bool:
        """True if the name of the staging table, and its folder with it, is another table's."""
        return self.engine.exists(self.name) and not self._is_ours(ledger_of(self.engine, self.name))

    def check(self) -> None:
        """Checks that the name of the staging table is free, or is a staging table's that was made for this table."""
        if self.is_foreign():
            raise StreamingError(f"{self.name} {self.foreign.format(table=self.table)}")

    def drop(self) -> None:
        """Drops the staging table, if one is there."""
        self.check()
        self.engine.sql(f"DROP TABLE IF EXISTS {self.name}")

    def ledger(self) -> Ledger | None:
        """Ledger of the staging table; None if there is none, or another table has its name."""
        found = ledger_of(self.engine, self.name)
        return found if self._is_ours(found) else None

    def _is_ours(self, ledger: Ledger | None) -> bool:
        return ledger is not None and ledger.of.get(self.stage) == self.table

    def restore(self) -> bool:
        """Gives the table's name to a whole staging table, where a run was killed before it did; False for none."""
        # The question whether it exists costs a quarter of the error that it doesn't.
        ledger = self.ledger() if self.engine.exists(self.name) else None
        if ledger is None or not ledger.whole.get(self.stage):
            return False
        self._rename()
        return True

    def _fill(self, place: str, rows: str, partitions: Sequence[str], added: int = 0) -> None:
        """Makes the staging table like the table, with the rows of a query; `added`: so many more than it has."""
        facts = Facts.of(self.engine, self.table)
        theirs = self.engine.sql(f"SHOW TBLPROPERTIES {self.table}")
        left_out = _OF_THE_CATALOG, PREFIX + self.stage.keys["whole"]
        kept = {str(row[0]): str(row[1]) for row in theirs if str(row[0]) not in left_out}
        kept[PREFIX + self.stage.keys["of"]] = self.table
        self.engine.sql(
            f"CREATE TABLE {self.name} LIKE {self.table} USING {facts.provider} "
            f"LOCATION {string_literal(place)} TBLPROPERTIES ({given(kept)})"
        )
        if facts.comment:
            self.engine.sql(f"COMMENT ON TABLE {self.name} IS {string_literal(facts.comment)}")
        hint = f"REBALANCE({', '.join(map(backticked, partitions))})" if partitions else "REBALANCE"
        self.engine.write_few_files()
        self.engine.sql(f"INSERT INTO {self.name} SELECT /*+ {hint} */ * FROM (\n{rows}\n)")
        counts = (f"(SELECT count(*) FROM {table})" for table in (self.table, self.name))
        [(before, got)] = self.engine.sql(f"SELECT {', '.join(counts)}")
        if got != before + added:
            raise StreamingError(
                f"{self.table} is to have {before + added} rows, and {self.name} got {got}: it stays as it is"
            )

    def _take_place(self, properties: Mapping[str, str]) -> None:
        """Gives the table's name to the staging table, once its properties are complete."""
        self.engine.sql(f"ALTER TABLE {self.name} SET TBLPROPERTIES ({pairs(properties)})")
        self.engine.sql(f"DROP TABLE {self.table}")
        self._rename()

    def take_over(self, before: Ledger, holder: Holder | None, **changes: Any) -> None:
        """Gives the table's name to the staging table, which goes on with the table's ledger, but for changes."""
        # The catalog writes a table's properties together with its folder, which must not be the old table's folder.
        with self.recording:
            now = checked_own(ledger_of(self.engine, self.table), before, holder)
            self._take_place({**now.properties(), **properties(whole={self.stage: now.generation}, **changes)})

    def _rename(self) -> None:
        try:
            self.engine.sql(f"ALTER TABLE {self.name} RENAME TO {self.table}")
        except StreamingError:
            if not self.engine.exists(self.table):  # else a run that came at the same moment has done it
                raise


def checked_own(now: Ledger | None, before: Ledger, holder: Holder | None) -> Ledger:
    """A table's ledger now, after the check that the run still holds it, which took it when its ledger was `before`."""
    if now is None or now.generation != before.generation or not now.is_held_by(holder):
        raise StreamingError("another run has taken it over")
    return now


@dataclass(frozen=True)
class Goes:
    """Rows of the table that go, and rows of the query that come in their place: those that meet all comparisons.

    Attributes:
        key: the column with the time by which rows go: of a window, its end. All that go have one.
        comparisons: columns, each with what it is compared with, such as `< timestamp'2026-11-18'`.
        closed: the time up to which windows are closed, as SQL; None where open windows need no care.
    """

    key: str
    comparisons: tuple[tuple[str, str], ...]
    closed: str | None = None

    def __call__(self, prefix: str = "") -> str:
        """The condition as SQL, with a prefix of the columns such as `t.`."""
        closed = [] if self.closed is None else [(self.key, f"<= {self.closed}")]
        return " AND ".join(f"{prefix}{backticked(name)} {other}" for name, other in [*self.comparisons, *closed])


@dataclass(frozen=True)
class Replacement:
    """Rows of a table that go, and the rows that replace them.

    Attributes:
        rows: a view of the rows that come in their place, with the columns of the table but the micro-batch's number.
        batch: the number that the new rows get: the number of a micro-batch that is done.
    """

    goes: Goes
    rows: str
    batch: int
    removed: int
    added: int


@dataclass
class Rebuilt(StagingTable):
    """Staged rebuild of one table.

    It is a streaming model's table like any other, with its own generation, checkpoint and lease. So a run that is
    killed or stopped while it fills it leaves the old table as it was, and the next run goes on with the staging table.
    For Delta and Iceberg, one commit puts its rows, columns and properties into the table; then it is dropped.

    Attributes:
        ledger_suffix: of the table that has its ledger; empty where its own properties have it.
        purges: True if its files go with it only by PURGE.
    """

    stage = Stage.REBUILD
    foreign = (
        "is there, and was not made to take the place of {table}\n"
        f"  give it another name, or write 'rebuild' in the model's config instead of '{SWAP}'"
    )
    ledger_suffix: str = ""
    purges: bool = False

    def drop(self) -> None:
        self.check()
        if self.ledger_suffix:
            ledger = suffixed(self.name, self.ledger_suffix)
            known = properties_of(self.engine, ledger) or {}
            if known.get(self.stage.keys["of"]) == self.table:
                self.engine.sql(f"DROP TABLE IF EXISTS {ledger}")
        self.engine.sql(f"DROP TABLE IF EXISTS {self.name}{' PURGE' if self.purges else ''}")

    def model(self, model: Model, folder: str, checkpoints: str) -> Model:
        """The model that fills the staging table; folders as `staging_folder` and `staging_checkpoints` return them."""
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
        return replace(model, relation=self.name, identifier=identifier, config=config, staging_of=self.table)

    def swap(self, ledger: Ledger, holder: Holder, left: Mapping[str, int]) -> None:
        """Gives the table's name to the staging table, which has all rows."""
        with self.recording:
            self.check_swap(ledger_of(self.engine, self.table), ledger_of(self.engine, self.name), ledger, holder)
            self._take_place(properties(holder=holder, left=left, whole={Stage.REBUILD: ledger.generation}))

    def check_swap(self, now: Ledger | None, its: Ledger | None, before: Ledger, holder: Holder) -> Ledger:
        """Checks by the ledgers of table and staging table that both are the run's; returns the latter's."""
        checked_own(now, before, holder)
        if its is None or not self._is_ours(its) or its.holder is not None:
            raise StreamingError(f"another run has {self.name}")
        return its


class Compaction(StagingTable):
    """Compaction of one table in plain files: all its rows in few files, in the partition of one micro-batch.

    Micro-batches are partitions, and no statement of Spark puts one partition in the place of several.
    """

    stage = Stage.COMPACTION
    foreign = "is there, and no compaction has made it\n  give it another name, or leave compact_every out"

    def tidy(self, ledger: Ledger) -> bool:
        """Removes a killed run's staging table; True if it removes files from before, which nobody reads any more."""
        self.drop()
        if not is_over(ledger.files_left):
            return False
        self._clear(self.other(Facts.of(self.engine, self.table).location))
        return True

    def fill(self, finished: int, partition_by: Sequence[str]) -> Ledger:
        """Makes the staging table, all rows under the last micro-batch's number; returns the table's ledger before."""
        before = ledger_of(self.engine, self.table)
        if before is None or not before.compacts:
            raise StreamingError("it was made without compact_every\n  run it once with --full-refresh")
        facts = Facts.of(self.engine, self.table)
        self.drop()
        place = self.other(facts.location)
        self._clear(place)
        columns = ", ".join(numbered(self.engine.columns(self.table), finished))
        self._fill(place, f"SELECT {columns} FROM {self.table}", partition_by)
        return before

    def _clear(self, folder: str) -> None:
        """Empties the folder that isn't the table's, after a check that no files of the table are in it."""
        self.engine.sql(f"REFRESH TABLE {self.table}")
        if any(path_of(name).startswith(f"{path_of(folder)}/") for name in self.engine.files(self.table, folder)):
            raise StreamingError(
                f"files of the table lie in {folder}, which is not the folder that the catalog names\n"
                "  run it once with --full-refresh"
            )
        self.engine.folders.clear(folder)

    @staticmethod
    def other(location: str) -> str:
        """The folder that the next compaction writes to: a table has two, in turns."""
        folder = location.rstrip("/")
        suffix = Stage.COMPACTION.suffix
        return folder.removesuffix(suffix) if folder.endswith(suffix) else f"{folder}{suffix}"


class Backfilled(StagingTable):
    """A staging table of plain files: a model's table with some of its rows replaced. It takes the place of this table.

    It is the same table in all else: its generation, its checkpoint and its ledger stay.
    """

    stage = Stage.BACKFILL
    foreign = "is there, and no backfill has made it\n  give it another name"

    @staticmethod
    def place(location: str) -> str:
        """New folder for a staging table, in which nothing has been."""
        folder = location.rstrip("/")
        name = folder.rpartition("/")[2].partition(Stage.BACKFILL.suffix)[0]
        return f"{parent_of(folder)}/{name}{Stage.BACKFILL.suffix}-{uuid.uuid4().hex[:8]}"

    def fill(self, replaced: Replacement, place: str, partitions: int) -> None:
        """Makes the staging table, with all rows that the table is to have, partitioned by its last columns."""
        columns = self.engine.columns(self.table)
        names, goes = ", ".join(map(backticked, columns)), f"coalesce({replaced.goes()}, FALSE)"
        stay = f"SELECT {names} FROM {self.table} WHERE NOT {goes}"
        new = f"SELECT {', '.join(numbered(columns, replaced.batch))} FROM {replaced.rows}"
        self._fill(place, f"{stay}\nUNION ALL\n{new}", columns[-partitions:], replaced.added - replaced.removed)
