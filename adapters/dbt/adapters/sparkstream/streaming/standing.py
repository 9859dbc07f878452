"""Standing of a streaming table: what Spark says of its checkpoint, its sources and its files, asked once each."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from dbt.adapters.sparkstream.streaming.decide import Wanted
from dbt.adapters.sparkstream.streaming.ledger import Ledger
from dbt.adapters.sparkstream.streaming.parts import Parts
from dbt.adapters.sparkstream.streaming.refusals import StreamingError
from dbt.adapters.sparkstream.streaming.reports.late_rows import side_tables
from dbt.adapters.sparkstream.streaming.sidecars import definition_folder
from dbt.adapters.sparkstream.streaming.sources.source import StreamSource
from dbt.adapters.sparkstream.streaming.spark.checkpoint import Recorded
from dbt.adapters.sparkstream.streaming.tables.table import BATCH


class Standing:
    """The answers for a decision (`decide.Facts`) of a table of which a ledger is recorded.

    Args:
        parts: of the run.
        ledger: what is recorded of the table.
        wanted: what the table has to be made for.
    """

    def __init__(self, parts: Parts, ledger: Ledger, wanted: Wanted) -> None:
        self._parts = parts
        self._ledger = ledger
        self._wanted = wanted
        self._checkpoint = parts.places.checkpoint(ledger)
        parts.sources.look_again()

    @cached_property
    def recorded(self) -> Recorded:
        return Recorded.of(self._parts.engine, self._checkpoint, self._ledger.batch)

    @cached_property
    def made_for(self) -> Sequence[str]:
        return self._parts.engine.folders.lines(definition_folder(self._checkpoint))

    def another(self, source: StreamSource, before: str) -> str | None:
        return self._parts.sources.is_another(source, before)

    def has_rows_to_read(self) -> bool:
        return self._parts.sources.has_rows_to_read(self._wanted.sources, self._checkpoint, self.recorded)

    def are_sources_as_read(self) -> bool:
        return self._parts.sources.are_as_read(self._wanted.sources, self.recorded)

    def is_table_as_left(self) -> bool:
        model, table, ledger = self._parts.model, self._parts.table, self._ledger
        if not table.is_tidy(ledger) or (
            model.config.keep_late and not self._parts.engine.exists(side_tables(model)[0])
        ):
            return False
        try:
            table.check_foreign(ledger, self.recorded.begun, model.config.on_foreign_write == "accept")
        except StreamingError:
            return False  # a run that has the table to itself will tell, unless one that began meanwhile has written
        return table.is_recorded(ledger) and not table.is_scattered(ledger, model.compact_every)

    def has_kept_state(self) -> bool:
        return bool(self._parts.engine.folders.stored_files(f"{self._checkpoint}/state"))

    def columns(self) -> Sequence[tuple[str, str]]:
        described = self._parts.engine.described(self._parts.model.relation)
        return [(name, type_) for name, type_ in described if name.casefold() != BATCH]

    def has_staging(self) -> bool:
        return self._parts.leftovers.staging(self._ledger, self._wanted.definition) is not None
