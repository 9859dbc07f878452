"""Portions of each source that a micro-batch has read, by the checkpoint, so that it can be read again.

Spark knows a record of Kafka by its topic, partition and offset. A topic that is deleted and made again counts from 0.
When it has more records than the old one had, Spark would go on in its middle, and never read the records before. So
the last record that was read of each partition is recorded, and the next run looks whether it is still the same.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress

from dbt.adapters.sparkstream.streaming.refusals import StreamingError
from dbt.adapters.sparkstream.streaming.sources.kind import Portion, Positions, Read
from dbt.adapters.sparkstream.streaming.sources.source import StreamSource
from dbt.adapters.sparkstream.streaming.spark.checkpoint import NOTHING_YET, Offsets, first_positions
from dbt.adapters.sparkstream.streaming.spark.engine import Engine
from dbt.adapters.sparkstream.streaming.tables.catalog import Facts


class Portions:
    """What the micro-batches of a model have read."""

    def __init__(
        self, engine: Engine, sources: Sequence[StreamSource], checkpoint: str, facts_of: Callable[[str], Facts]
    ) -> None:
        self._engine = engine
        self._sources = sources
        self._of_topics = {source.view: source for source in sources if source.kind.topics}
        self._checkpoint = checkpoint
        self._facts_of = facts_of
        self._records = f"{checkpoint}_topics"

    def offsets(self, batch: int) -> tuple[Offsets, Offsets] | None:
        """Offsets of the micro-batch before one, and of the one itself; None where the checkpoint hasn't them."""
        now = Offsets.of(self._engine, self._checkpoint, batch)
        before = Offsets.of(self._engine, self._checkpoint, batch - 1) if batch > 0 else NOTHING_YET
        return None if now is None or before is None else (before, now)

    def between(self, before: Offsets, now: Offsets) -> dict[str, Portion] | None:
        """Source's name -> what a micro-batch has read of it; None where that can't be told, or not be read again."""
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
        lines = self._engine.folders.lines(f"{self._checkpoint}/sources/{source}")
        entries = [json.loads(line) for line in lines if line.startswith("{")]
        return [str(entry["path"]) for entry in entries if after < int(entry["batchId"]) <= until]

    def note_topics(self, batch: int) -> None:
        """Records the last records of topics that were read up to and with a micro-batch."""
        if not self._of_topics:
            return
        now = Offsets.of(self._engine, self._checkpoint, batch)
        portions = self.between(now, now) if now is not None else None
        if portions is None:
            return
        lines = []
        for view, source in self._of_topics.items():
            until = portions[view].until
            last = {topic: {n: offset - 1 for n, offset in of.items() if offset > 0} for topic, of in until.items()}
            with suppress(StreamingError):
                lines += [json.dumps([view, *record]) for record in self._there(source, last)]
        if lines:
            self._engine.folders.write_lines(self._records, lines)

    def remade_topics(self) -> Iterator[tuple[str, str]]:
        """The topics that were made again since they were read, each after the source that reads it."""
        if not self._of_topics:
            return
        recorded: dict[str, dict[tuple[str, int, int], list[int]]] = {}
        for line in self._engine.folders.lines(self._records):
            view, topic, partition, offset, *facts = json.loads(line)
            recorded.setdefault(view, {})[topic, partition, offset] = facts
        for view, source in self._of_topics.items():
            known = recorded.get(view, {})
            places: dict[str, dict[str, int]] = {}
            for topic, partition, offset in known:
                places.setdefault(topic, {})[str(partition)] = offset
            # A record that is gone tells nothing, nor does a topic: Spark itself tells of what it has to read.
            with suppress(StreamingError):
                for topic, partition, offset, *facts in self._there(source, places):
                    if known.get((topic, partition, offset), facts) != facts:
                        yield source.relation, topic
                        break

    def _there(self, source: StreamSource, places: Positions) -> list[tuple[str, int, int, int, int]]:
        """Topic, partition, offset, time and a hash of some records, as far as they are there."""
        places = {topic: offsets for topic, offsets in places.items() if offsets}
        return self._engine.streams.records(source, places) if places else []
