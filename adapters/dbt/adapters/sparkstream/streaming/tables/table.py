"""Table of a streaming model: made with its ledger, and checked before each run."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from dbt.adapters.sparkstream.sql.core.literals import backticked, string_literal
from dbt.adapters.sparkstream.streaming.ledger import PREFIX, Holder, Ledger, Stage, is_over, properties
from dbt.adapters.sparkstream.streaming.model import StreamConfig
from dbt.adapters.sparkstream.streaming.refusals import StreamingError
from dbt.adapters.sparkstream.streaming.spark.engine import Engine
from dbt.adapters.sparkstream.streaming.tables import catalog
from dbt.adapters.sparkstream.streaming.tables.formats import BATCH, Format, format_of
from dbt.adapters.sparkstream.streaming.tables.staging import Rebuilt, Replacement
from dbt.adapters.sparkstream.streaming.worker.appends import Append
from dbt.adapters.sparkstream.streaming.worker.sink import Sink

FEW = 4
"""Most micro-batches whose rows are counted by one task."""

FILE = "__file"
"""Column with the path of a row's file."""


class StreamTable:
    """The table that a streaming model appends to, with a partition for each micro-batch.

    Args:
        name: as SQL has it.
        config: configs of its model. To read its ledger, the format is enough.
        identifier: name of the folder that it is made in, where the catalog doesn't choose that.
    """

    format = Format("")
    """Storage format of the table."""

    def __init__(self, engine: Engine, name: str, config: StreamConfig, identifier: str = "") -> None:
        self._engine = engine
        self._config = config
        self._identifier = identifier
        self._recording = threading.Lock()
        self._facts: catalog.Facts | None = None
        self.name = name

    def restored(self) -> Ledger | None:
        """Ledger of the table, which a staging table becomes if a run was killed before it gave it the table's name."""
        return self.ledger()

    def tidy(self, ledger: Ledger) -> None:
        """Removes files and staging tables that earlier runs have left, for a run that has the table to itself."""

    def remains(self, ledger: Ledger) -> list[str]:
        """Folders with rows that stay when the table is dropped, by its ledger."""
        return []

    def is_scattered(self, ledger: Ledger, every: int | None) -> bool:
        """True if the rows are due to be put into few files, though no micro-batch has come: the last try has failed.

        `check_foreign` has been called before.
        """
        return False

    def compact(self, every: int, last: int, finished: int) -> str | None:
        """Puts the rows into few files, if there are many by now.

        Args:
            last: the last micro-batch that was recorded before this run.
            finished: the last one now, with nothing half done.

        Returns:
            The new `Ledger.files`, for `check_foreign`; None if there was nothing to do.
        """
        return None

    def replaces(self) -> bool:
        """True if a rebuild is a CREATE OR REPLACE, as in Delta; else DROP comes first."""
        return False

    def create(self, columns: Sequence[tuple[str, str]], comments: Mapping[str, str], ledger: Ledger) -> Ledger:
        """Makes the table, with comments as `Model` has them, and returns its ledger."""
        config = self._config
        names = [name.casefold() for name, _ in columns]
        last = [name.casefold() for name in config.partition_by]
        if BATCH in names:
            raise StreamingError(f"the column {BATCH} is the adapter's own\n  give yours another name")
        missing = [name for name in config.partition_by if name.casefold() not in names]
        if missing:
            raise StreamingError(
                f"partition_by names {missing[0]}, and the query has {', '.join(n for n, _ in columns)}"
            )
        ordered = sorted(columns, key=lambda c: last.index(c[0].casefold()) if c[0].casefold() in last else -1)
        lines = [f"{backticked(name)} {type_}{_comment(comments.get(name.casefold()))}" for name, type_ in ordered]
        if self.format.numbers_rows:
            lines.append(f"{BATCH} BIGINT COMMENT 'the micro-batch that appended the row'")
        folder = self._place()
        listed = ",\n  ".join(lines)
        ledger = replace(
            ledger,
            updates=config.lateness is not None,
            compacts=self.format.is_files and config.compact_every is not None,
            swaps=self.format.is_files and config.swaps is not None,
        )
        definition = self._definition(folder, comments.get(""), ledger.properties())
        if folder is not None and not self.replaces():
            self._clear(folder)  # dropping a table leaves the files in a folder of the user's own
        replaced = "OR REPLACE " if self.replaces() else ""
        self._make(self.name, f"CREATE {replaced}TABLE {self.name} (\n  {listed}\n){definition}", folder)
        self._facts = None
        return ledger

    def _definition(self, folder: str | None, description: str | None, properties: Mapping[str, str]) -> str:
        """Part of CREATE TABLE after the columns."""
        columns = ", ".join(self._partitioned())
        partitions = f"\nPARTITIONED BY ({columns})" if columns else ""
        place = f"\nLOCATION {string_literal(folder)}" if folder else ""
        both = ", ".join(filter(None, (catalog.given(dict(self._config.tblproperties)), catalog.pairs(properties))))
        described = f"{_comment(description)}\nTBLPROPERTIES ({both})"
        return f"\nUSING {self._config.file_format}{partitions}{place}{described}"

    def _partitioned(self) -> list[str]:
        """The columns that it is partitioned by, as SQL has them."""
        return [*map(backticked, self._config.partition_by), *([BATCH] if self.format.numbers_rows else [])]

    def _place(self) -> str | None:
        """The table's folder; None for the catalog's choice."""
        return f"{self._root()}/{self._identifier}" if self._config.location_root else None

    def _make(self, table: str, statement: str, place: str | None = None) -> None:
        """Makes a table; `place` is the folder that the statement names."""
        catalog.make(self._engine, table, statement, lambda folder: self._clear(folder, occupied=True), place)

    def _clear(self, folder: str, occupied: bool = False) -> None:
        """Removes files that a table of this model has left in its folder; `occupied`: True if Spark finds any."""
        files = self._engine.folders.stored_files(folder)
        strange = [name for name in files if catalog.batch_of(name) is None]
        if strange:
            raise StreamingError(
                f"the folder of {self.name} holds files of something else, such as {strange[0]}\n"
                "  move them away, or give the model another name or location_root"
            )
        if files or occupied:
            self._engine.folders.clear(folder)

    def ledger(self) -> Ledger | None:
        """Ledger of the table now; None for no table, or one that no streaming model has made."""
        return Ledger.read(self._properties())

    def _properties(self) -> dict[str, str]:
        return catalog.properties_of(self._engine, self.name) or {}

    def record(self, **changes: Any) -> None:
        """Records values of its ledger's fields."""
        # The catalog reads all properties and writes them back: of two at a time, one would be lost.
        with self._recording:
            self._record(properties(**changes))

    def _record(self, facts: Mapping[str, str]) -> None:
        self._engine.sql(f"ALTER TABLE {self.name} SET TBLPROPERTIES ({catalog.pairs(facts)})")

    def owned(self, generation: str, holder: Holder) -> dict[str, dict[str, str]]:
        """Properties that tables have as long as they are a run's: table -> name -> a text in the value."""
        return {self.name: {f"{PREFIX}table": generation, f"{PREFIX}run": holder.id}}

    def sink(self, ledger: Ledger, **common: Any) -> Sink:
        """Sink that puts a micro-batch's rows into the table."""
        return Append(**common)

    @staticmethod
    def _without_done(common: dict[str, Any]) -> dict[str, Any]:
        """Arguments of a sink that finds all rows of a micro-batch in the table or none, so that it needs no `done`."""
        return common if common["producer"] or common["corrections"] else {**common, "done": None}

    def facts(self) -> catalog.Facts:
        """Description of the table in the catalog, read once."""
        if self._facts is None:
            self._facts = catalog.Facts.of(self._engine, self.name)
        return self._facts

    def refresh(self) -> None:
        """Makes Spark list the table's files again."""
        self._engine.sql(f"REFRESH TABLE {self.name}")

    def add_columns(self, columns: Sequence[tuple[str, str]]) -> None:
        """Adds the columns that it lacks, with NULL in the rows that are there; the micro-batch's number stays last."""
        there = self._engine.columns(self.name)
        known = {name.casefold() for name in there}
        added = [f"{backticked(name)} {type_}" for name, type_ in columns if name.casefold() not in known]
        if not added:
            return
        self._engine.sql(f"ALTER TABLE {self.name} ADD COLUMNS ({', '.join(self._placed(added, there))})")
        self._facts = None

    def _placed(self, added: list[str], there: Sequence[str]) -> list[str]:
        """Columns to add, as SQL: they come before the columns that it is partitioned by."""
        return added

    def check_foreign(self, ledger: Ledger, begun: int) -> None:
        """Checks that nothing else has written here, unless that is accepted; `begun`: the last micro-batch begun."""

    @property
    def _accepts(self) -> bool:
        """True if the model accepts rows of other writers."""
        return self._config.on_foreign_write == "accept"

    def is_recorded(self, ledger: Ledger) -> bool:
        """True if all that was in the table at `check_foreign` is recorded in its ledger."""
        return True

    def settled(self, after: int, finished: int, windows: Sequence[str]) -> tuple[catalog.Appended, str]:
        """What each micro-batch has appended, by the columns with its windows' bounds; and `Ledger.files`."""
        return self._appended(after, finished, windows)[0], ""

    def replace(self, replaced: Replacement, ledger: Ledger, holder: Holder) -> None:
        """Replaces rows, in one step that readers see."""
        raise StreamingError(f"no step replaces rows of {self.name}, which is a table in {self.facts().provider}")

    # -- staged rebuilds ---------------------------------------------------------------------------
    @property
    def rebuilt(self) -> Rebuilt:
        """The staged rebuild."""
        return Rebuilt(self._engine, self.name, self._recording)

    def can_give_way(self) -> bool:
        """True if the format of the existing table lets a staging table take its place."""
        there = format_of(self.facts().provider)
        return there == self.format if self.format.has_log else there.is_files and self.format.is_files

    def is_tidy(self, ledger: Ledger) -> bool:
        waits = any(map(is_over, ledger.left.values()))
        return not (ledger.whole.get(Stage.REBUILD) or ledger.staging or waits)

    def staging_folder(self) -> str:
        """New folder for a staged rebuild, in which nothing has been.

        Where the catalog chooses the folder, this is a name for the staging table, without a slash.
        """
        return f"{self._root()}/{self._identifier}{Stage.REBUILD.suffix}-{uuid.uuid4().hex[:8]}"

    def staging_checkpoints(self, folder: str) -> str:
        """Beginning of the paths of a staging table's sidecar folders."""
        return self._config.sidecar_root(folder)

    def give_way(self, ledger: Ledger, holder: Holder, left: Mapping[str, int]) -> None:
        """Lets the staging table, which has all rows, take the table's place."""
        raise NotImplementedError

    def _root(self) -> str:
        """The folder that the folder of a table with a place of its own goes into."""
        root = self._config.location_root
        return catalog.schema_folder(self._engine, self.name) if root is None else root.rstrip("/")

    def corrected(self) -> dict[str, float]:
        """The fields to record when late rows have corrected windows."""
        return {}

    def _appended(
        self, after: int, finished: int, windows: Sequence[str], file: str = "NULL"
    ) -> tuple[catalog.Appended, list[str]]:
        """What micro-batches between two have appended; files of all after the first, if SQL gives a row's file."""
        # A few micro-batches are counted by one task faster than several can divide them up.
        hint = "/*+ COALESCE(1) */ " if finished - after <= FEW else ""
        names = ", ".join(map(backticked, windows))
        distinct, read = (f"count(DISTINCT {names})", f", {names}") if windows else ("NULL", "")
        appended = f"SELECT {hint}{BATCH}{read}, {file} AS {FILE} FROM {self.name} WHERE {BATCH} > {after}"
        with self._engine.listing(self.facts().location):
            rows = self._engine.sql(
                f"SELECT {BATCH}, count(*), {distinct}, collect_set({FILE}) FROM ({appended}) GROUP BY {BATCH}"
            )
        found = {int(r[0]): (int(r[1]), None if r[2] is None else int(r[2])) for r in rows if r[0] <= finished}
        return found, [str(name) for row in rows for name in row[3]]


def _comment(text: str | None) -> str:
    return f" COMMENT {string_literal(text)}" if text else ""
