"""Tables whose format has a log of what was done: one commit replaces rows of them, or all of them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace

from dbt.adapters.sparkstream.sql.core.literals import backticked
from dbt.adapters.sparkstream.streaming.ledger import Holder, Ledger, Stage
from dbt.adapters.sparkstream.streaming.tables.catalog import Facts, is_in_catalog
from dbt.adapters.sparkstream.streaming.tables.formats import BATCH
from dbt.adapters.sparkstream.streaming.tables.staging import Replacement
from dbt.adapters.sparkstream.streaming.tables.table import StreamTable
from dbt.adapters.sparkstream.streaming.worker.corrections import REPLACED, merge

ONLY_ROWS = "spark.sql.files.ignoreMissingFiles"
"""Setting with which Spark leaves out files that are gone."""

_MARKED = "__rows_and_marks"


class LoggedTable(StreamTable):
    """A table whose format has a log of what was done: one commit replaces its rows, its columns and its properties.

    The rows of the staging table are written once more, into the table, which goes on having its earlier versions. The
    commit has the whole ledger of the new table. So a run that is killed finds the old table or the new one,
    and its ledger.
    """

    def staging_folder(self) -> str:
        folder = super().staging_folder()
        return folder if self._places_staging() else folder.rpartition("/")[2]

    def staging_checkpoints(self, folder: str) -> str:
        return super().staging_checkpoints(self.facts().location)  # where the table looks, as it keeps its folder

    def _places_staging(self) -> bool:
        """True if a run chooses the folder of a staging table: some catalogs let nobody choose."""
        return self._config.location_root is not None or not is_in_catalog(self.name)

    def give_way(self, ledger: Ledger, holder: Holder, left: Mapping[str, int]) -> None:
        rebuilt = self.rebuilt
        now, its = self._properties(), type(self)(self._engine, rebuilt.name, self._config).ledger()
        its = rebuilt.check_swap(Ledger.read(now), its, ledger, holder)
        facts = Facts.of(self._engine, rebuilt.name)
        if self._places_staging():
            left = {**left, facts.location: 0}
        whole = {Stage.REBUILD: ledger.generation}
        new = replace(its, of={}, whole=whole, files="", left=left, holder=holder)
        recorded = {**dict.fromkeys(now, ""), **new.properties()}  # Iceberg keeps properties that aren't given
        self._engine.sql(f"SET {ONLY_ROWS} = false")  # else rows would be missing without a word
        self._engine.write_few_files()
        definition = self._definition(None, facts.comment, recorded)
        with self._engine.settings(self._commit_settings(its.generation, its.batch)):
            self._engine.sql(
                f"CREATE OR REPLACE TABLE {self.name}{definition}\nAS SELECT {self._hint()}* FROM {rebuilt.name}"
            )
        self._facts = None
        self._replaced()
        self.refresh()

    @abstractmethod
    def _commit_settings(self, generation: str, batch: int) -> dict[str, str]:
        """Settings that write the table's id and its micro-batches into a commit."""

    def _hint(self) -> str:
        """SQL hint with which Spark writes few files; empty if the format sees to that."""
        return ""

    def _replaced(self) -> None:
        """Records the version of the commit that has replaced the table."""

    def replace(self, replaced: Replacement, ledger: Ledger, holder: Holder) -> None:
        columns, goes = self._engine.described(self.name), replaced.goes
        key = backticked(goes.key)
        # NULL of any type: a mark has the time alone.
        mark = [key if name == goes.key else f"CAST(NULL AS {type_})" for name, type_ in columns]
        row = [f"CAST({replaced.batch} AS BIGINT)" if name == BATCH else backticked(name) for name, _ in columns]
        names = ", ".join([*(backticked(name) for name, _ in columns), REPLACED])
        self._engine.sql(
            f"CREATE OR REPLACE TEMPORARY VIEW {_MARKED} ({names}) AS\n"
            f"SELECT {', '.join(row)}, FALSE FROM {replaced.rows}\nUNION ALL\n"
            f"SELECT {', '.join(mark)}, TRUE FROM (SELECT DISTINCT {key} FROM {self.name} WHERE {goes()})"
        )
        same = f"t.{key} = s.{key} AND {goes('t.')}"
        self._engine.sql(merge(self.name, _MARKED, [name for name, _ in columns], same))
