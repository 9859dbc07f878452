"""Portions of each source that a micro-batch has read, by the checkpoint, so that it can be read again."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence

from dbt.adapters.sparkstream.streaming.sources.reader import given_options, is_kafka, is_other
from dbt.adapters.sparkstream.streaming.sources.source import Portion, Positions, StreamSource
from dbt.adapters.sparkstream.streaming.spark.checkpoint import Offsets, first_positions
from dbt.adapters.sparkstream.streaming.spark.engine import Engine
from dbt.adapters.sparkstream.streaming.spark.paths import path_of
from dbt.adapters.sparkstream.streaming.tables.table import Facts


class Portions:
    """What the micro-batches of a model have read.

    Args:
        engine: the Spark that has the checkpoint.
        sources: the model's streams.
        checkpoint: its checkpoint.
        facts_of: tells what the catalog knows of a table.
    """

    def __init__(
        self, engine: Engine, sources: Sequence[StreamSource], checkpoint: str, facts_of: Callable[[str], Facts]
    ) -> None:
        self._engine = engine
        self._sources = sources
        self._checkpoint = checkpoint
        self._facts_of = facts_of

    def between(self, before: Offsets, now: Offsets) -> dict[str, Portion] | None:
        """Source's name -> what a micro-batch has read of it; None where that can't be told, or not be read again.

        Args:
            before: of the micro-batch before.
            now: of the micro-batch.
        """
        if any(is_other(source.reader) for source in self._sources):
            return None  # its offsets may look like offsets of files or of Kafka
        files: list[str] = []
        positions: dict[int, Positions] = {}
        for i, offset in enumerate(now.sources):
            earlier = before.sources[i] if i < len(before.sources) else None
            if isinstance(offset, int):
                files += self._files(i, earlier if isinstance(earlier, int) else -1, offset)
            elif offset is None:
                return None
            else:
                positions[i] = offset
        found: dict[str, Portion] = {}
        for source in self._sources:
            if not is_kafka(source.reader):
                found[source.view] = Portion(tuple(name for name in dict.fromkeys(files) if self._is_of(source, name)))
                continue
            own = [i for i, until in positions.items() if all(_reads(source.reader, topic) for topic in until)]
            if len(own) != 1:
                return None
            since = before.sources[own[0]] if own[0] < len(before.sources) else None
            if not isinstance(since, Mapping):
                since = first_positions(self._engine, self._checkpoint, own[0])
            found[source.view] = Portion(since=since, until=positions[own[0]])
        return found

    def _files(self, source: int, after: int, until: int) -> list[str]:
        entries = [
            json.loads(line)
            for line in self._engine.folders.lines(f"{self._checkpoint}/sources/{source}")
            if line.startswith("{")
        ]
        return [str(entry["path"]) for entry in entries if after < int(entry["batchId"]) <= until]

    def _is_of(self, source: StreamSource, file: str) -> bool:
        """Whether a file is one of a source's."""
        if source.reader:
            # Its path may be relative to where Spark was started, which may be on another machine.
            folder = str(source.reader.get("path", "")).strip("./")
            return f"/{folder}/" in path_of(file) or "*" in folder or len(self._sources) == 1
        return path_of(file).startswith(path_of(self._facts_of(source.relation).location).rstrip("/") + "/")


def _reads(reader: Mapping[str, object], topic: str) -> bool:
    """Whether a source reads a topic of Kafka."""
    options = {name.casefold(): text for name, text in given_options(reader).items()}
    if "subscribe" in options:
        return topic in [name.strip() for name in options["subscribe"].split(",")]
    if "assign" in options:
        return topic in json.loads(options["assign"])
    return re.fullmatch(options["subscribepattern"], topic) is not None
