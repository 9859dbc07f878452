"""Source that a streaming model reads as a stream."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from dbt.adapters.sparkstream.sql.core.interval import Interval
from dbt.adapters.sparkstream.sql.streaming import RowView
from dbt.adapters.sparkstream.streaming.sources.kafka import KAFKA, Kafka
from dbt.adapters.sparkstream.streaming.sources.kind import Files, Kind, Table
from dbt.adapters.sparkstream.streaming.sources.python import DATA_SOURCE, PythonClass


@dataclass(frozen=True)
class View:
    """A view over the rows of a table."""

    query: RowView
    columns: tuple[str, ...]


@dataclass(frozen=True)
class StreamSource:
    """A stream that a model reads under a name.

    Attributes:
        event_time: the column with the time that the watermark is of; None for the model's `event_time`.
        watermark: how late a row may be; None for the model's `watermark`.
        reader: format, options, path and schema of a source that isn't a table (`meta: stream:` of a dbt source).
        checksum: of a seed's rows; None for what is no seed.
        seen: the view through which the rows of `relation`, its table, are read; None for a table itself.
        path: the reader's path as the source's meta has it, which may be relative; None for the same.
    """

    view: str
    relation: str
    event_time: str | None = None
    watermark: Interval | None = None
    reader: Mapping[str, Any] = field(default_factory=dict)
    checksum: str | None = None
    seen: View | None = None
    path: str | None = None

    @cached_property
    def kind(self) -> Kind:
        """What kind of source it is."""
        return kind_of(self.relation, self.reader, self.path)


def kind_of(relation: str, reader: Mapping[str, Any], path: str | None = None) -> Kind:
    """The kind of a source.

    Args:
        reader: what `meta: stream:` of it says; empty for a table.
        path: the reader's path as the source's meta has it; None for the same.
    """
    if not reader:
        return Table(relation, reader)
    if DATA_SOURCE in reader:
        return PythonClass(relation, reader, path)
    if str(reader.get("format", "")).casefold() == KAFKA:
        return Kafka(relation, reader, path)
    return (Files if "path" in reader else Kind)(relation, reader, path)
