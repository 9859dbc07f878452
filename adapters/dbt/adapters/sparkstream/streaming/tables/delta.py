"""The table of a streaming model in Delta, whose log tells which micro-batches are in it, and who else has written.

An append to Delta fails where properties of the table have changed since it began, and it begins with the micro-batch.
So a run records its work in the properties of an empty second table, `<model>__stream`. The table's own properties have
the ledger from the time when it was made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dbt.adapters.sparkstream.sql.core.literals import backticked, string_literal
from dbt.adapters.sparkstream.streaming.ledger import PREFIX, Holder, Ledger, properties
from dbt.adapters.sparkstream.streaming.refusals import REBUILD, StreamingError
from dbt.adapters.sparkstream.streaming.tables.catalog import Appended, Facts, pairs, properties_of, suffixed
from dbt.adapters.sparkstream.streaming.tables.formats import DELTA
from dbt.adapters.sparkstream.streaming.tables.logged import LoggedTable
from dbt.adapters.sparkstream.streaming.tables.staging import Rebuilt, Replacement
from dbt.adapters.sparkstream.streaming.worker.appends import DeltaAppend, commit_settings

SUFFIX = "__stream"

HARMLESS = frozenset(
    (
        *("OPTIMIZE", "REORG", "VACUUM START", "VACUUM END", "COMPUTE STATS", "CLUSTER BY"),
        *("SET TBLPROPERTIES", "UNSET TBLPROPERTIES", "UPGRADE PROTOCOL", "DROP FEATURE"),
        *("ADD CONSTRAINT", "DROP CONSTRAINT", "CHANGE COLUMN", "CHANGE COLUMNS", "UPDATE COLUMN METADATA"),
    )
)
"""Operations, as Delta's log names them, after which a table has the rows that it had."""

MADE = tuple(
    f"{verb} TABLE{rows}" for verb in ("CREATE", "CREATE OR REPLACE", "REPLACE") for rows in ("", " AS SELECT")
)
"""Operations that make a table. Earlier commits of the log are of the table that was there before."""


BACKFILL = "backfill"
"""Word in the metadata of a backfill's commit, in the place of a micro-batch's number."""


class DeltaTable(LoggedTable):
    """A table in Delta. Each micro-batch is a commit that carries its number, and no column has it."""

    format = DELTA
    _version = -1
    """The last version of the table that is known to have no rows of others."""

    def replaces(self) -> bool:
        return self._engine.exists(self.name) and Facts.of(self._engine, self.name).provider.casefold() == DELTA.name

    @property
    def _apart(self) -> str:
        return suffixed(self.name, SUFFIX)

    @property
    def rebuilt(self) -> Rebuilt:
        return Rebuilt(self._engine, self.name, self._recording, ledger_suffix=SUFFIX)

    def _make(self, table: str, statement: str, place: str | None = None) -> None:
        super()._make(table, statement, place)
        self._replaced()

    def _replaced(self) -> None:
        self._version = self._newest()
        with self._recording:
            self._record(properties(files=self._version_text()))

    def _clear(self, folder: str, occupied: bool = False) -> None:
        try:
            known = properties_of(self._engine, f"delta.{backticked(folder)}")
        except StreamingError:
            known = None
        if known is None:  # there is no table in Delta
            super()._clear(folder, occupied)
            return
        if Ledger.read(known) is None:
            raise StreamingError(
                f"the folder of {self.name} holds a table of something else: {folder}\n"
                "  move it away, or give the model another name or location_root"
            )
        if occupied:  # of a managed table that the catalog doesn't know yet, or has forgotten
            self._engine.folders.clear(folder)
            return
        # One of a streaming model, which the catalog has forgotten. It is replaced then.
        self._engine.sql(f"CREATE TABLE {self.name} USING delta LOCATION {string_literal(folder)}")

    def _properties(self) -> dict[str, str]:
        own = super()._properties()
        recorded = self._recorded() or {}
        if "table" not in own:
            return own
        if recorded.get("table") == own["table"]:
            return {**own, **recorded}
        # Somebody has dropped the ledger's table, or a run was killed before it made it.
        log = self._engine.sql(f"DESCRIBE HISTORY {self.name}")
        numbers = [number for commit in log if (number := _batch(commit, own["table"])) is not None]
        return {**own, "batch": str(max(*numbers, int(own.get("batch", -1)), -1))}

    def _recorded(self) -> dict[str, str] | None:
        """Properties of the ledger's table; None if there is no such table."""
        return properties_of(self._engine, self._apart)

    def _record(self, facts: Mapping[str, str]) -> None:
        known, recorded = self._properties(), self._recorded()
        if recorded and recorded.get("table") == known.get("table"):
            self._engine.sql(f"ALTER TABLE {self._apart} SET TBLPROPERTIES ({pairs(facts)})")
            return
        if recorded is not None:
            if "table" not in recorded:
                raise StreamingError(f"{self._apart} is there already, and no streaming model has made it\n  drop it")
            self._engine.sql(f"DROP TABLE {self._apart}")
        super()._make(
            self._apart,
            f"CREATE TABLE {self._apart} (empty INT) USING parquet\n"
            "COMMENT 'no rows; its properties say what the streaming model has done'\n"
            f"TBLPROPERTIES ({pairs({**known, **facts})})",
        )

    def owned(self, generation: str, holder: Holder) -> dict[str, dict[str, str]]:
        [owned] = super().owned(generation, holder).values()
        return {self.name: {f"{PREFIX}table": generation}, self._apart: owned}

    def sink(self, ledger: Ledger, **common: Any) -> DeltaAppend:
        return DeltaAppend(generation=ledger.generation, **self._without_done(common))

    def replace(self, replaced: Replacement, ledger: Ledger, holder: Holder) -> None:
        # The commit says whose it is, and is of no micro-batch.
        with self._engine.settings(commit_settings(ledger.generation, BACKFILL)):
            super().replace(replaced, ledger, holder)

    def _commit_settings(self, generation: str, batch: int) -> dict[str, str]:
        return commit_settings(generation, batch)

    def _definition(self, folder: str | None, description: str | None, properties: Mapping[str, str]) -> str:
        given = super()._definition(folder, description, properties)
        columns = ", ".join(map(backticked, self._config.liquid_clustered_by))
        return f"{given}\nCLUSTER BY ({columns})" if columns else given

    def _hint(self) -> str:
        partitions = ", ".join(self._partitioned())
        return f"/*+ REBALANCE({partitions}) */ " if partitions else "/*+ REBALANCE */ "

    # -- what the log says -------------------------------------------------------------------------
    def check_foreign(self, ledger: Ledger, begun: int) -> None:
        recorded = ledger.files.removeprefix("version ")
        self._version = max(self._version, int(recorded) if recorded.isdigit() else -1)
        commits = self._commits()
        strange = next((commit for commit in commits if not self._is_own(commit, ledger.generation)), None)
        if strange is not None and not self._accepts:
            raise StreamingError(
                f"something else has written to {self.name}: version {strange['version']} is a {strange['operation']}\n"
                f"  {REBUILD}; or, if the table is right as it is, write config(on_foreign_write='accept')"
            )
        for commit in commits:
            number = _batch(commit, ledger.generation)
            if number is not None and number > ledger.batch:
                break  # of a run that was killed before it counted the rows
            self._version = int(commit["version"])

    def is_recorded(self, ledger: Ledger) -> bool:
        return ledger.files == self._version_text()

    def settled(self, after: int, finished: int, windows: Sequence[str]) -> tuple[Appended, str]:
        generation = super()._properties()["table"]
        found: Appended = {}
        clean = True
        for commit in self._commits():
            number = _batch(commit, generation)
            # Stops at the first commit of others, which the next run reports, and at micro-batches after `finished`.
            clean = clean and self._is_own(commit, generation) and (number is None or number <= finished)
            if clean:
                self._version = int(commit["version"])
            if number is not None and after < number <= finished:
                found[number] = (int((commit["operationMetrics"] or {}).get("numOutputRows", 0)), None)
        return found, self._version_text()

    def compact(self, every: int, last: int, finished: int) -> str | None:
        if (finished + 1) // every == (last + 1) // every:
            return None
        self._engine.sql(f"OPTIMIZE {self.name}")
        return self.settled(finished, finished, ())[1]

    def _version_text(self) -> str:
        return f"version {self._version}"

    def _newest(self) -> int:
        [newest] = self._engine.sql(f"DESCRIBE HISTORY {self.name} LIMIT 1")
        return int(newest["version"])

    def _commits(self) -> list[Any]:
        """Commits since the known version, the oldest first; without those up to the last that made the table."""
        new = self._newest() - self._version
        rows = self._engine.sql(f"DESCRIBE HISTORY {self.name} LIMIT {new}") if new > 0 else []
        commits = sorted(rows, key=lambda row: int(row["version"]))
        made = max((i + 1 for i, commit in enumerate(commits) if commit["operation"] in MADE), default=0)
        return commits[made:]

    @staticmethod
    def _is_own(commit: Any, generation: str) -> bool:
        """True if a commit is a micro-batch's or a backfill's, or leaves the rows as they are."""
        is_backfill = str(commit["userMetadata"]) == f"{generation} {BACKFILL}"
        return is_backfill or _batch(commit, generation) is not None or commit["operation"] in HARMLESS


def _batch(commit: Any, generation: str) -> int | None:
    """Number of the micro-batch that a commit is of; None for any other commit."""
    owner, _, number = str(commit["userMetadata"] or "").partition(" ")
    return int(number) if owner == generation and number.isdigit() else None
