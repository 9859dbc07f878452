"""Topics of Kafka that were deleted and made again.

Spark knows a record by its topic, partition and offset. A topic that is made again counts from 0. When it has more
records than the old one had, Spark would go on in its middle, and never read the records before. So the last record
that was read of each partition is recorded, and the next run looks whether it is still the same.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

from dbt.adapters.sparkstream.streaming.refusals import StreamingError
from dbt.adapters.sparkstream.streaming.sources.kind import Positions
from dbt.adapters.sparkstream.streaming.sources.portions import Portions
from dbt.adapters.sparkstream.streaming.sources.source import StreamSource
from dbt.adapters.sparkstream.streaming.spark.checkpoint import Offsets
from dbt.adapters.sparkstream.streaming.spark.engine import Engine
from dbt.adapters.sparkstream.streaming.tables.table import Facts


class Topics:
    """The topics that a model has read.

    Args:
        engine: the Spark that reads them.
        sources: the model's streams.
        checkpoint: its checkpoint.
        facts_of: tells what the catalog knows of a table.
    """

    def __init__(
        self, engine: Engine, sources: Sequence[StreamSource], checkpoint: str, facts_of: Callable[[str], Facts]
    ) -> None:
        self._engine = engine
        self._sources = {source.view: source for source in sources if source.kind.topics}
        self._portions = Portions(engine, sources, checkpoint, facts_of)
        self._checkpoint = checkpoint
        self._notes = f"{checkpoint}_topics"

    def note(self, batch: int) -> None:
        """Records the last offsets that were read up to and with a micro-batch."""
        if not self._sources:
            return
        now = Offsets.of(self._engine, self._checkpoint, batch)
        portions = self._portions.between(now, now) if now is not None else None
        if portions is None:
            return
        lines = []
        for view, source in self._sources.items():
            until = portions[view].until
            last = {topic: {n: offset - 1 for n, offset in of.items() if offset > 0} for topic, of in until.items()}
            with suppress(StreamingError):
                lines += [json.dumps([view, *record]) for record in self._records(source, last)]
        if lines:
            self._engine.folders.write_lines(self._notes, lines)

    def replaced(self) -> Iterator[tuple[str, str]]:
        """The topics that were rebuilt since they were read, each after the source that reads it."""
        if not self._sources:
            return
        recorded: dict[str, dict[tuple[str, int, int], list[int]]] = {}
        for line in self._engine.folders.lines(self._notes):
            view, topic, partition, offset, *facts = json.loads(line)
            recorded.setdefault(view, {})[topic, partition, offset] = facts
        for view, source in self._sources.items():
            known = recorded.get(view, {})
            places: dict[str, dict[str, int]] = {}
            for topic, partition, offset in known:
                places.setdefault(topic, {})[str(partition)] = offset
            # A record that is gone tells nothing, nor does a topic: Spark itself tells of what it has to read.
            with suppress(StreamingError):
                for topic, partition, offset, *facts in self._records(source, places):
                    if known.get((topic, partition, offset), facts) != facts:
                        yield source.relation, topic
                        break

    def _records(self, source: StreamSource, places: Positions) -> list[tuple[str, int, int, int, int]]:
        """Topic, partition, offset, time and a hash of some records, as far as they are there."""
        places = {topic: offsets for topic, offsets in places.items() if offsets}
        return self._engine.streams.records(source, places) if places else []
