"""Portions of each source that a micro-batch has read, by the checkpoint, so that it can be read again."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence

from dbt.adapters.sparkstream.streaming.sources.kind import Portion, Positions, Read
from dbt.adapters.sparkstream.streaming.sources.source import StreamSource
from dbt.adapters.sparkstream.streaming.spark.checkpoint import Offsets, first_positions
from dbt.adapters.sparkstream.streaming.spark.engine import Engine
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
        if not all(source.kind.has_portions for source in self._sources):
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

        def since(number: int) -> Positions:
            first = before.sources[number] if number < len(before.sources) else None
            return first if isinstance(first, Mapping) else first_positions(self._engine, self._checkpoint, number)

        is_only = len(self._sources) == 1
        read = Read([*dict.fromkeys(files)], positions, since, is_only, lambda table: self._facts_of(table).location)
        found = {source.view: source.kind.portion(read) for source in self._sources}
        known = {view: portion for view, portion in found.items() if portion is not None}
        return known if len(known) == len(found) else None

    def _files(self, source: int, after: int, until: int) -> list[str]:
        entries = [
            json.loads(line)
            for line in self._engine.folders.lines(f"{self._checkpoint}/sources/{source}")
            if line.startswith("{")
        ]
        return [str(entry["path"]) for entry in entries if after < int(entry["batchId"]) <= until]
