"""The table of a streaming model in Iceberg: a micro-batch is a snapshot, and a column has its number."""

from __future__ import annotations

from collections.abc import Mapping

from dbt.adapters.sparkstream.streaming.replacing import Replacement, merge_rows
from dbt.adapters.sparkstream.streaming.table import StreamTable


class IcebergTable(StreamTable):
    """A table in Iceberg."""

    def replace(self, replaced: Replacement, known: Mapping[str, str], fact: Mapping[str, str]) -> None:
        merge_rows(self._engine, self.name, replaced)
