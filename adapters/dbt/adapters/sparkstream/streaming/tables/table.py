"""The table of a streaming model: made with what has to be known of it, and checked before each run."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from dbt.adapters.sparkstream.sql.core.literals import backticked, string_literal
from dbt.adapters.sparkstream.streaming.ledger import PREFIX, Holder, Ledger, Stage, is_over, properties
from dbt.adapters.sparkstream.streaming.model import Model, StreamConfig
from dbt.adapters.sparkstream.streaming.refusals import StreamingError
from dbt.adapters.sparkstream.streaming.spark.engine import Engine
from dbt.adapters.sparkstream.streaming.tables.catalog import Facts, batch_of, make, pairs, properties_of, schema_folder
from dbt.adapters.sparkstream.streaming.tables.formats import BATCH, Format
from dbt.adapters.sparkstream.streaming.tables.staging import Rebuilt, Replacement
from dbt.adapters.sparkstream.streaming.worker.appends import Append
from dbt.adapters.sparkstream.streaming.worker.sink import Sink

FEW = 4
"""The rows of so many micro-batches are counted by one task."""

FILE = "__file"
"""The column with the file of a row."""


class StreamTable:
    """The table that a streaming model appends to, with a partition for each micro-batch."""

    format = Format("")
    """What it is stored as."""

    def __init__(self, engine: Engine, name: str) -> None:
        self._engine = engine
        self._recording = threading.Lock()
        self._facts: Facts | None = None
        self.name = name

    def found(self) -> bool:
        """Whether the table is there."""
        return self._engine.exists(self.name)

    def tidy(self, ledger: Ledger) -> None:
        """Removes what earlier runs have left of the table, for a run that has it to itself."""

    def remains(self, ledger: Ledger) -> list[str]:
        """The folders with rows that stay when the table is dropped, by what is recorded of it."""
        return []

    def is_scattered(self, ledger: Ledger, every: int | None) -> bool:
        """Whether its rows are due to be put into few files, though no micro-batch has come: the last try has failed.

        Args:
            ledger: what is recorded of it. `check_foreign` has seen it since.
        """
        return False

    def compact(self, every: int, last: int, finished: int, partition_by: Sequence[str]) -> str | None:
        """Puts the rows into few files, if there are many by now.

        Args:
            last: the last micro-batch that was recorded before this run.
            finished: the last one now, with nothing half done.
            partition_by: the columns that the table is partitioned by, beside the number of the micro-batch.

        Returns:
            What `check_foreign` needs from now on; None where there was nothing to do.
        """
        return None

    def replaces(self) -> bool:
        """Rebuild by CREATE OR REPLACE, as Delta has it; else DROP comes first."""
        return False

    def create(self, columns: Sequence[tuple[str, str]], model: Model, ledger: Ledger) -> Ledger:
        """Makes the table of a model, and gives what is recorded of it."""
        config, comments = model.config, model.comments
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
        folder = self._place(config, model.identifier)
        listed = ",\n  ".join(lines)
        ledger = replace(
            ledger,
            updates=config.lateness is not None,
            compacts=self.format.is_files and config.compact_every is not None,
            swaps=self.format.is_files and config.swaps is not None,
        )
        definition = self._definition(config, folder, comments.get(""), ledger.properties())
        if folder is not None and not self.replaces():
            self._clear(folder)  # dropping a table leaves the files in a folder of the user's own
        replaced = "OR REPLACE " if self.replaces() else ""
        self._make(self.name, f"CREATE {replaced}TABLE {self.name} (\n  {listed}\n){definition}", folder)
        self._facts = None
        return ledger

    def _definition(
        self, config: StreamConfig, folder: str | None, description: str | None, properties: Mapping[str, str]
    ) -> str:
        """What follows the columns where the table is made."""
        columns = ", ".join(self._partitioned(config))
        theirs = "".join(f"{string_literal(k)} = {string_literal(v)}, " for k, v in config.tblproperties)
        partitions = f"\nPARTITIONED BY ({columns})" if columns else ""
        place = f"\nLOCATION {string_literal(folder)}" if folder else ""
        given = f"{_comment(description)}\nTBLPROPERTIES ({theirs}{pairs(properties)})"
        return f"\nUSING {config.file_format}{partitions}{place}{given}"

    def _partitioned(self, config: StreamConfig) -> list[str]:
        """The columns that it is partitioned by, as SQL has them."""
        return [*map(backticked, config.partition_by), *([BATCH] if self.format.numbers_rows else [])]

    def _place(self, config: StreamConfig, identifier: str) -> str | None:
        """The table's folder; None for the catalog's choice."""
        return f"{self._root(config)}/{identifier}" if config.location_root else None

    def _make(self, table: str, statement: str, place: str | None = None) -> None:
        """Makes a table; `place` is the folder that the statement names."""
        make(self._engine, table, statement, lambda folder: self._clear(folder, occupied=True), place)

    def _clear(self, folder: str, occupied: bool = False) -> None:
        """Removes what a table of this model has left in its folder; `occupied`: Spark says that something is in it."""
        files = self._engine.folders.stored_files(folder)
        strange = [name for name in files if batch_of(name) is None]
        if strange:
            raise StreamingError(
                f"the folder of {self.name} holds files of something else, such as {strange[0]}\n"
                "  move them away, or give the model another name or location_root"
            )
        if files or occupied:
            self._engine.folders.clear(folder)

    def ledger(self) -> Ledger | None:
        """What is recorded of the table now; None for a table that no streaming model has made."""
        return Ledger.read(self._properties())

    def _properties(self) -> dict[str, str]:
        return properties_of(self._engine, self.name)

    def record(self, **changes: Any) -> None:
        """Records values of its ledger's fields."""
        # The catalog reads all properties and writes them back: of two at a time, one would be lost.
        with self._recording:
            self._record(properties(**changes))

    def _record(self, facts: Mapping[str, str]) -> None:
        self._engine.sql(f"ALTER TABLE {self.name} SET TBLPROPERTIES ({pairs(facts)})")

    def owned(self, generation: str, holder: Holder) -> dict[str, dict[str, str]]:
        """What stands in properties as long as the table is a run's: table -> name -> a text in the value."""
        return {self.name: {f"{PREFIX}table": generation, f"{PREFIX}run": holder.id}}

    def sink(self, ledger: Ledger, config: StreamConfig, **common: Any) -> Sink:
        """What puts a micro-batch's rows into it."""
        return Append(**common)

    @staticmethod
    def _without_done(common: dict[str, Any]) -> dict[str, Any]:
        """Arguments of a sink that finds all rows of a micro-batch in the table or none: nothing else has to say so."""
        return common if common["producer"] or common["corrections"] else {**common, "done": None}

    def facts(self) -> Facts:
        """What the catalog says of it; asked once."""
        if self._facts is None:
            self._facts = Facts.of(self._engine, self.name)
        return self._facts

    def refresh(self) -> None:
        """Makes Spark look again which files it has."""
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

    def check_foreign(self, ledger: Ledger, begun: int, accepts: bool) -> None:
        """Looks whether something else has written to the table.

        Args:
            begun: the last micro-batch that has begun.
            accepts: whether the model takes that as it is.
        """

    def is_recorded(self, ledger: Ledger) -> bool:
        """Whether what is recorded is all that was there at `check_foreign`."""
        return True

    def settled(
        self, after: int, finished: int, windows: Sequence[str]
    ) -> tuple[dict[int, tuple[int, int | None]], str]:
        """Rows, and windows where columns tell, that each micro-batch has appended; and what `check_foreign` needs."""
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
        """Rebuild in staging: the existing table's format lets another table take its place."""
        return False

    def is_tidy(self, ledger: Ledger) -> bool:
        waits = any(map(is_over, ledger.left.values()))
        return not (ledger.whole.get(Stage.REBUILD) or ledger.staging or waits)

    def staging_folder(self, config: StreamConfig, identifier: str) -> str:
        """A folder for a staged rebuild, which nothing has been in.

        Where the catalog chooses the folder, it is a name for that table, without a slash.
        """
        return f"{self._root(config)}/{identifier}{Stage.REBUILD.suffix}-{uuid.uuid4().hex[:8]}"

    def staging_checkpoints(self, config: StreamConfig, folder: str) -> str:
        """What the names of the folders begin with that are kept of a staging table."""
        return config.sidecar_root(folder)

    def give_way(self, ledger: Ledger, holder: Holder, left: Mapping[str, int], config: StreamConfig) -> None:
        """Lets the staging table, which has all rows, take the table's place."""
        raise NotImplementedError

    def _root(self, config: StreamConfig) -> str:
        """The folder that the folder of a table with a place of its own goes into."""
        if config.location_root is not None:
            return config.location_root.rstrip("/")
        return schema_folder(self._engine, self.name)

    def corrected(self) -> dict[str, float]:
        """The fields to record when late rows have corrected windows."""
        return {}

    def _appended(
        self, after: int, finished: int, windows: Sequence[str], file: str = "NULL"
    ) -> tuple[dict[int, tuple[int, int | None]], list[str]]:
        """Rows, and windows where columns tell them, of each micro-batch between two; files of all after the first.

        Args:
            file: the path of a row's file, as SQL; without it, no files are named.
        """
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
