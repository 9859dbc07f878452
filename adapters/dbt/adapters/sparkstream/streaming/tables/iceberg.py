"""The table of a streaming model in Iceberg: a micro-batch is a snapshot, and a column has its number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dbt.adapters.sparkstream.sql.core.literals import backticked
from dbt.adapters.sparkstream.streaming.ledger import PREFIX, Ledger, properties
from dbt.adapters.sparkstream.streaming.tables.catalog import is_in_catalog
from dbt.adapters.sparkstream.streaming.tables.formats import BATCH, ICEBERG
from dbt.adapters.sparkstream.streaming.tables.logged import LoggedTable
from dbt.adapters.sparkstream.streaming.tables.staging import Rebuilt
from dbt.adapters.sparkstream.streaming.worker.appends import IcebergAppend

_SUMMARY = "spark.sql.iceberg.snapshot-property"


class IcebergTable(LoggedTable):
    """A table in Iceberg."""

    format = ICEBERG

    def sink(self, ledger: Ledger, **common: Any) -> IcebergAppend:
        return IcebergAppend(**self._without_done(common))

    @property
    def rebuilt(self) -> Rebuilt:
        # DROP leaves files of others, and of a table whose folder the catalog chose nobody else knows them.
        return Rebuilt(self._engine, self.name, self._recording, purges=is_in_catalog(self.name))

    def _placed(self, added: list[str], there: Sequence[str]) -> list[str]:
        last = [name for name in there if name.casefold() != BATCH][-1]
        return [f"{column} AFTER {backticked(last)}" for column in reversed(added)]

    def _commit_settings(self, generation: str, batch: int) -> dict[str, str]:
        said = properties(generation=generation, batch=batch)
        return {f"{_SUMMARY}.{PREFIX}{name}": text for name, text in said.items()}
