"""A streaming model as a run knows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dbt.adapters.sparkstream.streaming.config import StreamConfig
from dbt.adapters.sparkstream.streaming.sources.source import StreamSource


@dataclass(frozen=True)
class Model:
    """A streaming model as dbt knows it.

    Attributes:
        unique_id: its id.
        identifier: the last part of its table's name.
        relation: its table, as SQL names it.
        runs: the table of micro-batches, as SQL names it.
        sql: its query, with the streams by name.
        dialect: the dialect that the query is written in.
        config: its configs.
        sources: its streams.
        contract: column -> type, where the model has a contract.
        comments: column -> description, and the table's under an empty name, where the model persists them.
        run_id: dbt's invocation.
        staging_of: the model's own table, where `relation` is a staged rebuild; else empty.
    """

    unique_id: str
    identifier: str
    relation: str
    runs: str
    sql: str
    dialect: str
    config: StreamConfig
    sources: tuple[StreamSource, ...]
    contract: Mapping[str, str] = field(default_factory=dict)
    comments: Mapping[str, str] = field(default_factory=dict)
    run_id: str = ""
    staging_of: str = ""

    @property
    def compact_every(self) -> int | None:
        """After how many micro-batches the rows are put into few files; a staging table has to have its place first."""
        return None if self.staging_of else self.config.compact_every
