"""Source that a streaming model reads as a stream."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dbt.adapters.sparkstream.sql.core.interval import Interval
from dbt.adapters.sparkstream.sql.streaming import RowView


@dataclass(frozen=True)
class View:
    """A view over the rows of a table.

    Attributes:
        query: its query.
        columns: the names of its columns.
    """

    query: RowView
    columns: tuple[str, ...]


Positions = Mapping[str, Mapping[str, int]]
"""Of Kafka: topic -> partition -> an offset."""


@dataclass(frozen=True)
class Portion:
    """What a micro-batch has read of a stream.

    Attributes:
        files: the files.
        since: of Kafka, where the first records are.
        until: the same, of the first records that come after it.
    """

    files: tuple[str, ...] = ()
    since: Positions = field(default_factory=dict)
    until: Positions = field(default_factory=dict)


@dataclass(frozen=True)
class StreamSource:
    """A stream that a model reads under a name.

    Attributes:
        view: the name that the model's query has for it.
        relation: the table, as SQL names it.
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

    @property
    def as_written(self) -> Mapping[str, Any]:
        """The reader with its path as the source's meta has it: the same wherever the project lies."""
        return self.reader if self.path is None else {**self.reader, "path": self.path}
