"""Spark's record of the micro-batches in a checkpoint."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from dbt.adapters.sparkstream.streaming.refusals import StreamingError
from dbt.adapters.sparkstream.streaming.sources.kind import Positions
from dbt.adapters.sparkstream.streaming.spark.engine import Engine

LOOKS = 25
PAUSE = 0.2
"""So often, and after so many seconds, a file is looked for that another one is just about to replace."""

AT_A_TIME = 8
"""How many micro-batches that nobody has counted yet are looked for at once; there are more only after a kill."""


def corrected_windows(engine: Engine, checkpoint: str) -> dict[int, int]:
    """How many closed windows each of the last micro-batches has corrected, as the sink records it."""
    for _ in range(LOOKS):
        with suppress(StreamingError):  # the sink puts another file in its place right now
            if lines := engine.folders.lines(done_folder(checkpoint)):
                return dict(map(_done, lines))
        time.sleep(PAUSE)
    return {}


def _done(line: str) -> tuple[int, int]:
    """A micro-batch that the sink has recorded, and how many windows it has corrected: version 0.1.0 records none."""
    number, _, windows = line.partition(" ")
    return int(number), int(windows or 0)


def done_folder(checkpoint: str) -> str:
    """The folder where the sink records the micro-batch whose rows are in the table."""
    return f"{checkpoint}_done"


def _last(engine: Engine, folder: str) -> int:
    return max(_numbers(engine.folders.names(folder)), default=-1)


def _numbers(names: Iterable[str]) -> list[int]:
    return [int(name) for name in names if name.isdigit()]


@dataclass(frozen=True)
class Offsets:
    """What Spark records in the checkpoint before a micro-batch.

    Attributes:
        watermark: milliseconds since the epoch.
        clock: the same, of the micro-batch's `current_timestamp()`.
        sources: for each source, what it has read up to and with the micro-batch: the last number in its log of files,
            of Kafka the first records that it hasn't, or None for other sources and for one that has read nothing yet.
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
class Recorded:
    """What a checkpoint and its sink have recorded of the micro-batches so far.

    Attributes:
        begun: the last micro-batch that has begun; -1 where none has.
        done: the last one whose rows are in the table; -1 where there is none.
        offsets: what the sources were read up to with that.
        files: the entries of the logs of files, each with the number of its source.
    """

    begun: int
    done: int
    offsets: Offsets
    files: tuple[tuple[str, Mapping[str, Any]], ...]

    @classmethod
    def of(cls, engine: Engine, checkpoint: str, last: int) -> Recorded:
        """Reads it in one go, however many micro-batches there were.

        Args:
            last: the last micro-batch that a run has counted; -1 for none.
        """
        numbers = range(max(last, 0), max(last, 0) + AT_A_TIME)
        some = ",".join(map(str, numbers))
        found: dict[str, dict[str, list[str]]] = {}
        for path, line in engine.folders.named_lines(
            f"{checkpoint}{{_done/part-*,/offsets/{{{some}}},/commits/{{{some}}},/sources/*/*}}"
        ):
            *_, folder, name = path.split("/")
            found.setdefault(folder, {}).setdefault(name, []).append(line)
        offsets, commits = found.get("offsets", {}), found.get("commits", {})
        begun = max(_numbers(offsets), default=-1)
        if begun in (-1, numbers[-1]):  # there may be others
            begun = _last(engine, f"{checkpoint}/offsets")
        # The only folder whose name isn't Spark's has the sink's note.
        done_there = [
            _done(line)[0]
            for folder in found
            if folder.endswith("_done")
            for lines in found[folder].values()
            for line in lines
        ]
        # A checkpoint of version 0.1.0 has no such note.
        committed = max(_numbers(commits), default=-1) if done_there else _last(engine, f"{checkpoint}/commits")
        done = max([committed, *done_there])
        own = Offsets.read(offsets.get(str(done), ())) or Offsets.of(engine, checkpoint, done) if done >= 0 else None
        return cls(begun, done, own or NOTHING_YET, tuple(_entries(found)))


def _entries(found: Mapping[str, Mapping[str, Sequence[str]]]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The entries of the logs of files. The log of each source is a folder, whose name is the source's number."""
    for source, files in found.items():
        if not source.isdigit():
            continue
        for line in (line for lines in files.values() for line in lines if line.startswith("{")):
            facts = json.loads(line)
            if isinstance(facts.get("path"), str):  # of Kafka, it would be a topic
                yield source, facts


def first_positions(engine: Engine, checkpoint: str, source: int) -> Positions:
    """Where a stream of Kafka began to read; empty where the checkpoint doesn't tell."""
    lines = engine.folders.lines(f"{checkpoint}/sources/{source}/0")
    found = _offset(lines[-1]) if lines else None
    return found if isinstance(found, Mapping) else {}


def _offset(line: str) -> int | Positions | None:
    if not line.startswith("{"):
        return None
    facts = json.loads(line)
    if isinstance(facts.get("logOffset"), int):
        return int(facts["logOffset"])
    # A user's data source may write any JSON as its offsets.
    is_kafka = facts and all(isinstance(v, dict) and all(map(str.isdigit, v)) for v in facts.values())
    return facts if is_kafka else None
