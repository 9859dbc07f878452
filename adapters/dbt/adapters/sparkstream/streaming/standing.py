"""Standing of a streaming table: what Spark says of its checkpoint, its sources and its files, asked once each."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from dbt.adapters.sparkstream.streaming.decide import Wanted
from dbt.adapters.sparkstream.streaming.ledger import Ledger
from dbt.adapters.sparkstream.streaming.model import Model
from dbt.adapters.sparkstream.streaming.outdated import Leftovers
from dbt.adapters.sparkstream.streaming.refusals import StreamingError
from dbt.adapters.sparkstream.streaming.reports.late_rows import tables_beside
from dbt.adapters.sparkstream.streaming.sidecars import Places, definition_folder
from dbt.adapters.sparkstream.streaming.sources.inputs import Sources
from dbt.adapters.sparkstream.streaming.sources.source import StreamSource
from dbt.adapters.sparkstream.streaming.spark.checkpoint import Noted
from dbt.adapters.sparkstream.streaming.spark.engine import Engine
from dbt.adapters.sparkstream.streaming.tables.table import BATCH, StreamTable


class Standing:
    """The answers for a decision (`decide.Facts`) of a table of which a ledger is recorded.

    Args:
        engine: the run's session.
        model: the model.
        table: its table.
        sources: its sources.
        places: the table's sidecar folders.
        leftovers: of the table.
        ledger: what is recorded of the table.
        wanted: what the table has to be made for.
    """

    def __init__(
        self,
        engine: Engine,
        model: Model,
        table: StreamTable,
        sources: Sources,
        places: Places,
        leftovers: Leftovers,
        ledger: Ledger,
        wanted: Wanted,
    ) -> None:
        self._engine = engine
        self._model = model
        self._table = table
        self._sources = sources
        self._leftovers = leftovers
        self._ledger = ledger
        self._wanted = wanted
        self._checkpoint = places.checkpoint(ledger)
        sources.look_again()

    @cached_property
    def noted(self) -> Noted:
        return Noted.of(self._engine, self._checkpoint, self._ledger.batch)

    @cached_property
    def recorded(self) -> Sequence[str]:
        return self._engine.folders.lines(definition_folder(self._checkpoint))

    def another(self, source: StreamSource, before: str) -> str | None:
        return self._sources.is_another(source, before)

    def has_rows_to_read(self) -> bool:
        return self._sources.has_rows_to_read(self._wanted.sources, self._checkpoint, self.noted)

    def are_sources_as_read(self) -> bool:
        return self._sources.are_as_read(self._wanted.sources, self.noted)

    def is_table_as_left(self) -> bool:
        config, table, ledger = self._model.config, self._table, self._ledger
        if not table.is_tidy(ledger) or (config.keep_late and not self._engine.exists(tables_beside(self._model)[0])):
            return False
        try:
            table.check_foreign(ledger, self.noted.begun, config.on_foreign_write == "accept")
        except StreamingError:
            return False  # a run that has the table to itself will tell, unless one that began meanwhile has written
        return table.is_recorded(ledger) and not table.is_scattered(ledger, self._model.compact_every)

    def has_kept_state(self) -> bool:
        return bool(self._engine.folders.stored_files(f"{self._checkpoint}/state"))

    def columns(self) -> Sequence[tuple[str, str]]:
        described = self._engine.described(self._model.relation)
        return [(name, type_) for name, type_ in described if name.casefold() != BATCH]

    def has_staging(self) -> bool:
        return self._leftovers.staging(self._ledger, self._wanted.definition) is not None
