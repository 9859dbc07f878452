"""Spark's record of the micro-batches in a checkpoint, and of the portions that each has read of the sources."""

from __future__ import annotations

import json
import time
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

from dbt.adapters.sparkstream.sql.core.literals import exactly
from dbt.adapters.sparkstream.streaming.refusals import StreamingError
from dbt.adapters.sparkstream.streaming.sources.kafka import Kafka
from dbt.adapters.sparkstream.streaming.sources.source import Portion, Positions, StreamSource
from dbt.adapters.sparkstream.streaming.spark.engine import Engine
from dbt.adapters.sparkstream.streaming.spark.folders import path_of, within
from dbt.adapters.sparkstream.streaming.worker.sink import Done

LOOKS = 25
PAUSE = 0.2
"""Number of looks, and seconds between them, for a file that is being replaced by another one."""

AT_A_TIME = 8
"""Number of uncounted micro-batches that are looked for at once; there are more only after a kill."""


def corrected_windows(engine: Engine, checkpoint: str) -> dict[int, int]:
    """Micro-batch -> number of closed windows that it has corrected, for the last ones that the sink has recorded."""
    for _ in range(LOOKS):
        with suppress(StreamingError):  # the sink puts another file in its place right now
            if lines := engine.folders.lines(done_folder(checkpoint)):
                return Done.corrected(lines)
        time.sleep(PAUSE)
    return {}


def done_folder(checkpoint: str) -> str:
    """Folder with the sink's record of the last micro-batch whose rows are in the table."""
    return f"{checkpoint}_done"


def _last(names: Iterable[str]) -> int:
    return max((int(name) for name in names if name.isdigit()), default=-1)


@dataclass(frozen=True)
class Offsets:
    """Watermark, clock and offsets that Spark records in the checkpoint before a micro-batch.

    Attributes:
        watermark: milliseconds since the epoch.
        clock: the micro-batch's `current_timestamp()`, in milliseconds since the epoch.
        sources: the end of what each source has read: the last entry of its log of files, or Kafka's next offsets; None
            for other sources, and for one that has read nothing yet.
    """

    watermark: int
    clock: int
    sources: tuple[int | Positions | None, ...]

    @classmethod
    def of(cls, engine: Engine, checkpoint: str, batch: int) -> Offsets | None:
        return cls.read(engine.folders.lines(f"{checkpoint}/offsets/{batch}"))

    @classmethod
    def read(cls, lines: Sequence[str]) -> Offsets | None:
        """Reads the lines of the file of a micro-batch; None where there is no file."""
        if len(lines) < 2:
            return None
        facts = json.loads(lines[1])
        return cls(int(facts["batchWatermarkMs"]), int(facts["batchTimestampMs"]), tuple(map(_offset, lines[2:])))


NOTHING_YET = Offsets(0, 0, ())


@dataclass(frozen=True)
class ReadFiles:
    """The files that the runs so far have begun to read.

    Attributes:
        of_sources: path -> time of the file's last change then, in milliseconds, for each source that Spark numbers.
        done: paths, but for paths of a micro-batch that was interrupted.
    """

    of_sources: Sequence[Mapping[str, int]] = ()
    done: frozenset[str] = frozenset()

    @cached_property
    def all(self) -> Mapping[str, int]:
        """Path -> time, of all sources."""
        return dict(ChainMap(*map(dict, self.of_sources)))

    @classmethod
    def of(cls, found: Mapping[str, Mapping[str, Sequence[str]]], offsets: Offsets) -> ReadFiles:
        """The entries of the logs of files. The log of each source is a folder, whose name is the source's number."""
        last = {str(i): number if isinstance(number, int) else -1 for i, number in enumerate(offsets.sources)}
        each: dict[str, dict[str, int]] = {number: {} for number in last}
        done: set[str] = set()
        for source, files in found.items():
            lines = (line for lines in files.values() for line in lines if line.startswith("{"))
            for facts in map(json.loads, lines if source.isdigit() else ()):
                if isinstance(facts.get("path"), str):  # of Kafka, it would be a topic
                    path = path_of(facts["path"])
                    each.setdefault(source, {})[path] = int(facts["timestamp"])
                    if int(facts["batchId"]) <= last.get(source, -1):
                        done.add(path)
        return cls([*each.values()], frozenset(done))


@dataclass(frozen=True)
class Recorded:
    """Micro-batches, offsets and files that a checkpoint and its sink have recorded so far.

    Attributes:
        begun: the last micro-batch that has begun; -1 where none has.
        done: the last one whose rows are in the table; -1 where there is none.
        offsets: the offsets of `done`.
    """

    begun: int
    done: int
    offsets: Offsets
    files: ReadFiles = ReadFiles()

    @classmethod
    def of(cls, engine: Engine, checkpoint: str, last: int) -> Recorded:
        """Reads checkpoint and sink's record in one go; `last` is the last micro-batch counted, -1 for none."""
        numbers = range(max(last, 0), max(last, 0) + AT_A_TIME)
        some = ",".join(map(str, numbers))
        found: dict[str, dict[str, list[str]]] = {}
        for path, line in engine.folders.named_lines(
            f"{exactly(checkpoint)}{{_done/part-*,/offsets/{{{some}}},/commits/{{{some}}},/sources/*/*}}"
        ):
            *_, folder, name = path.split("/")
            found.setdefault(folder, {}).setdefault(name, []).append(line)

        def newest(kind: str) -> int:
            number = _last(found.get(kind, ()))
            is_newest = number not in (-1, numbers[-1])  # else there may be others
            return number if is_newest else _last(engine.folders.names(f"{checkpoint}/{kind}"))

        begun = newest("offsets")
        # The only folder whose name isn't Spark's has the sink's record.
        recorded = [lines for folder, files in found.items() if folder.endswith("_done") for lines in files.values()]
        done_there = [batch for lines in recorded for batch in Done.corrected(lines)]
        done = max([newest("commits") if begun >= 0 else -1, *done_there])
        own = Offsets.read(found.get("offsets", {}).get(str(done), ())) if done >= 0 else NOTHING_YET
        own = own or Offsets.of(engine, checkpoint, done) or NOTHING_YET
        return cls(begun, done, own, ReadFiles.of(found, own))


def _offset(line: str) -> int | Positions | None:
    if not line.startswith("{"):
        return None
    facts = json.loads(line)
    if isinstance(facts.get("logOffset"), int):
        return int(facts["logOffset"])
    # A user's data source may write any JSON as its offsets.
    is_kafka = facts and all(isinstance(v, dict) and all(map(str.isdigit, v)) for v in facts.values())
    return facts if is_kafka else None


@dataclass
class Portions:
    """Portions of each source that the micro-batches of a model have read, so that they can be read again.

    Spark knows a record of Kafka by its topic, partition and offset. A topic that is deleted and made again counts from
    0. When it has more records than the old one had, Spark would go on in its middle, and never read the records
    before. So the last record that was read of each partition is recorded, and the next run compares them.

    Attributes:
        folder_of: returns the folder of a source's files, as `Sources.folder`.
    """

    engine: Engine
    sources: Sequence[StreamSource]
    checkpoint: str
    folder_of: Callable[[StreamSource], str | None]

    def __post_init__(self) -> None:
        self._of_topics = {source.view: source for source in self.sources if isinstance(source, Kafka)}
        self._records = f"{self.checkpoint}_topics"

    def of(self, batch: int) -> tuple[Offsets, Offsets, dict[str, Portion]] | None:
        """Offsets before a micro-batch and with it, and source's name -> its portion; None if they can't be told."""
        now = Offsets.of(self.engine, self.checkpoint, batch)
        before = Offsets.of(self.engine, self.checkpoint, batch - 1) if batch > 0 else NOTHING_YET
        if now is None or before is None:
            return None
        portions = self._between(before, now)
        return None if portions is None else (before, now, portions)

    def _between(self, before: Offsets, now: Offsets) -> dict[str, Portion] | None:
        """Source's name -> its portion between two offsets; None if it can't be told."""
        # Offsets of a source that can't be read again may look like offsets of files or of Kafka.
        if None in now.sources or not all(source.has_portions for source in self.sources):
            return None
        earlier = dict(enumerate(before.sources))
        numbers = {i: last for i, last in enumerate(now.sources) if isinstance(last, int)}
        files = dict.fromkeys(path for i, last in numbers.items() for path in self._files(i, earlier.get(i), last))
        positions = {i: offset for i, offset in enumerate(now.sources) if isinstance(offset, Mapping)}
        found = {}
        for source in self.sources:
            if isinstance(source, Kafka):
                if (number := source.number_among(positions)) is None:
                    return None
                found[source.view] = Portion(since=self._since(number, earlier), until=positions[number])
            else:
                is_only, lies_there = len(self.sources) == 1, within(self.folder_of(source) or "")
                found[source.view] = Portion(tuple(name for name in files if is_only or lies_there(path_of(name))))
        return found

    def _since(self, number: int, earlier: Mapping[int, int | Positions | None]) -> Positions:
        """The first offsets of a stream of Kafka, by the offsets before."""
        first = earlier.get(number)
        if not isinstance(first, Mapping):  # what the stream began with
            lines = self.engine.folders.lines(f"{self.checkpoint}/sources/{number}/0")
            first = _offset(lines[-1]) if lines else None
        return first if isinstance(first, Mapping) else {}

    def _files(self, source: int, after: int | Positions | None, until: int) -> list[str]:
        begin = after if isinstance(after, int) else -1
        lines = self.engine.folders.lines(f"{self.checkpoint}/sources/{source}")
        entries = [json.loads(line) for line in lines if line.startswith("{")]
        return [str(entry["path"]) for entry in entries if begin < int(entry["batchId"]) <= until]

    def record_topics(self, batch: int) -> None:
        """Records the last records of topics that were read up to and with a micro-batch."""
        now = Offsets.of(self.engine, self.checkpoint, batch) if self._of_topics else None
        portions = None if now is None else self._between(now, now)  # where a portion begins isn't asked
        if portions is None:
            return
        lines = []
        for view, source in self._of_topics.items():
            until = portions[view].until
            last = {topic: {n: offset - 1 for n, offset in of.items() if offset > 0} for topic, of in until.items()}
            lines += [json.dumps([view, *record]) for record in self._there(source, last)]
        if lines:
            self.engine.folders.write_lines(self._records, lines)

    def remade_topics(self) -> Iterator[tuple[str, str]]:
        """The topics that were made again since they were read, each after the source that reads it."""
        if not self._of_topics:
            return
        recorded: dict[str, dict[tuple[str, int, int], list[int]]] = {}
        for line in self.engine.folders.lines(self._records):
            view, topic, partition, offset, *facts = json.loads(line)
            recorded.setdefault(view, {})[topic, partition, offset] = facts
        for view, source in self._of_topics.items():
            known = recorded.get(view, {})
            places: dict[str, dict[str, int]] = {}
            for topic, partition, offset in known:
                places.setdefault(topic, {})[str(partition)] = offset
            for topic, partition, offset, *facts in self._there(source, places):
                if known.get((topic, partition, offset), facts) != facts:
                    yield source.relation, topic
                    break

    def _there(self, source: Kafka, places: Positions) -> list[tuple[str, int, int, int, int]]:
        """Records at some offsets, as far as they exist; Spark itself reports records or topics that are gone."""
        places = {topic: offsets for topic, offsets in places.items() if offsets}
        with suppress(StreamingError):
            return self.engine.streams.records(source, places) if places else []
        return []
