"""Tables of streaming models that a staged rebuild may replace."""

from __future__ import annotations

import uuid
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from dbt.adapters.sparkstream.sql.core.literals import backticked
from dbt.adapters.sparkstream.streaming.config import StreamConfig
from dbt.adapters.sparkstream.streaming.holder import Holder
from dbt.adapters.sparkstream.streaming.ledger import Ledger, Stage, is_over
from dbt.adapters.sparkstream.streaming.sidecars import Places
from dbt.adapters.sparkstream.streaming.spark.engine import Engine
from dbt.adapters.sparkstream.streaming.tables.formats import format_of
from dbt.adapters.sparkstream.streaming.tables.rebuilding import Rebuilt
from dbt.adapters.sparkstream.streaming.tables.table import Facts, StreamTable, is_in_catalog, namespace_of

ONLY_ROWS = "spark.sql.files.ignoreMissingFiles"
"""The setting by which Spark leaves out files that are gone."""


class GivesWay(StreamTable):
    """A table that may give way to one that is rebuilt in staging, if its format can."""

    @property
    def rebuilt(self) -> Rebuilt:
        """The staged rebuild."""
        return Rebuilt(self._engine, self.name)

    def can_give_way(self) -> bool:
        """Whether the table that is there is of a format in which one can take its place."""
        return False

    def is_tidy(self, ledger: Ledger) -> bool:
        waits = any(map(is_over, ledger.left.values()))
        return not (ledger.whole.get(Stage.REBUILD) or ledger.staging or waits)

    def staging_folder(self, config: StreamConfig, identifier: str) -> str:
        """A folder for a staged rebuild, which nothing has been in.

        Where the catalog chooses the folder, it is a name for that table, without a slash.

        Args:
            config: the configs of the model.
            identifier: the last part of the name of its table.
        """
        return f"{self._root(config)}/{identifier}{Stage.REBUILD.suffix}-{uuid.uuid4().hex[:8]}"

    def staging_checkpoints(self, config: StreamConfig, folder: str) -> str:
        """What the names of the folders begin with that are kept of a staging table.

        Args:
            config: the configs of the model.
            folder: the folder of the staging table.
        """
        return Places.root(config, folder)

    def give_way(self, ledger: Ledger, holder: Holder, left: Mapping[str, int], config: StreamConfig) -> None:
        """Lets the staging table, which has all rows, take the table's place.

        Args:
            ledger: what is recorded of the table, by the run that has it.
            holder: that run.
            left: the folders that the table leaves.
            config: the configs of the model.

        Raises:
            StreamingError: another run has one of the tables, or what Spark says is wrong.
        """
        raise NotImplementedError

    def _root(self, config: StreamConfig) -> str:
        """The folder that the folder of a table with a place of its own goes into."""
        if config.location_root is not None:
            return config.location_root.rstrip("/")
        schema = {str(row[0]): str(row[1]) for row in self._engine.sql(f"DESCRIBE SCHEMA {namespace_of(self.name)}")}
        return schema["Location"].rstrip("/")


class LoggedTable(GivesWay):
    """A table whose format has a log of what was done: one commit replaces its rows, its columns and its properties.

    The rows of the staging table are written once more, into the table, which goes on having its earlier versions. The
    commit has all that is to be recorded of the new table. So a run that is killed finds the old table or the new one,
    and what is recorded of it.
    """

    def can_give_way(self) -> bool:
        return format_of(self.facts().provider) == self.format

    def staging_folder(self, config: StreamConfig, identifier: str) -> str:
        folder = super().staging_folder(config, identifier)
        return folder if self._places_staging(config) else folder.rpartition("/")[2]

    def staging_checkpoints(self, config: StreamConfig, folder: str) -> str:
        return Places.root(config, self.facts().location)  # where the table looks for them, as it keeps its folder

    def _places_staging(self, config: StreamConfig) -> bool:
        """Whether a staging table is made in a folder that a run chooses: some catalogs let nobody choose."""
        return config.location_root is not None or not is_in_catalog(self.name)

    def give_way(self, ledger: Ledger, holder: Holder, left: Mapping[str, int], config: StreamConfig) -> None:
        rebuilt = self.rebuilt
        now, its = self._properties(), type(self)(self._engine, rebuilt.name).ledger()
        its = rebuilt.check_swap(Ledger.read(now), its, ledger, holder)
        facts = Facts.of(self._engine, rebuilt.name)
        if self._places_staging(config):
            left = {**left, facts.location: 0}
        whole = {Stage.REBUILD: ledger.generation}
        new = replace(its, of={}, whole=whole, files="", left=left, holder=holder)
        recorded = {**dict.fromkeys(now, ""), **new.properties()}  # Iceberg keeps properties that aren't given
        self._engine.sql(f"SET {ONLY_ROWS} = false")  # else rows would be missing without a word
        self._engine.write_few_files()
        definition = self._definition(config, None, facts.comment, recorded)
        with settings(self._engine, self._said(its.generation, its.batch)):
            self._engine.sql(
                f"CREATE OR REPLACE TABLE {self.name}{definition}\nAS SELECT {self._hint(config)}* FROM {rebuilt.name}"
            )
        self._facts = None
        self._replaced()
        self.refresh()

    @abstractmethod
    def _said(self, generation: str, batch: int) -> Mapping[str, str]:
        """The settings by which a commit says of which table it is, and which micro-batches it has the rows of.

        Args:
            generation: tells the table from earlier tables of the same name.
            batch: the last micro-batch; -1 for none.
        """

    def _hint(self, config: StreamConfig) -> str:
        """What has Spark write few files; empty where the format sees to it."""
        return ""

    def _replaced(self) -> None:
        """Records the version of the commit that has replaced the table."""


@contextmanager
def settings(engine: Engine, given: Mapping[str, str]) -> Iterator[None]:
    """Has a session's settings hold for what the block does.

    Args:
        engine: the session.
        given: the settings. None has a backtick in it.
    """
    for name, text in given.items():
        engine.sql(f"SET {backticked(name)} = {backticked(text)}")
    try:
        yield
    finally:
        for name in given:
            engine.sql(f"RESET {backticked(name)}")
