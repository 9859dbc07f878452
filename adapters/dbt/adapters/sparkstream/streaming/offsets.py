"""What Spark notes in a checkpoint of the micro-batches."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

from dbt.adapters.sparkstream.streaming.engine import Engine
from dbt.adapters.sparkstream.streaming.source import Positions


def last_begun(engine: Engine, checkpoint: str) -> int:
    """The last micro-batch that has begun; -1 where none has."""
    return _last(engine, f"{checkpoint}/offsets")


def last_done(engine: Engine, checkpoint: str) -> int:
    """The last micro-batch whose rows are in the table; -1 where there is none."""
    noted = engine.folders.lines(done_folder(checkpoint))
    return max(_last(engine, f"{checkpoint}/commits"), *map(int, noted), -1)


def done_folder(checkpoint: str) -> str:
    """Where the sink notes the micro-batch whose rows are in the table."""
    return f"{checkpoint}_done"


def _last(engine: Engine, folder: str) -> int:
    found = -1
    for name in engine.folders.names(folder):
        with suppress(ValueError):
            found = max(found, int(name))
    return found


@dataclass(frozen=True)
class Offsets:
    """What Spark notes in the checkpoint before a micro-batch.

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
        lines = engine.folders.lines(f"{checkpoint}/offsets/{batch}")
        if len(lines) < 2:
            return None
        facts = json.loads(lines[1])
        return cls(int(facts["batchWatermarkMs"]), int(facts["batchTimestampMs"]), tuple(map(_offset, lines[2:])))


NOTHING_YET = Offsets(0, 0, ())


def first_positions(engine: Engine, checkpoint: str, source: int) -> Positions:
    """Where a stream of Kafka began to read; empty where the checkpoint doesn't tell.

    Args:
        engine: the Spark that has the checkpoint.
        checkpoint: the checkpoint.
        source: the number of the source in it.
    """
    lines = engine.folders.lines(f"{checkpoint}/sources/{source}/0")
    found = _offset(lines[-1]) if lines else None
    return found if isinstance(found, Mapping) else {}


def _offset(line: str) -> int | Positions | None:
    if not line.startswith("{"):
        return None
    facts = json.loads(line)
    if isinstance(facts.get("logOffset"), int):
        return int(facts["logOffset"])
    # Those of a source that somebody has written may be anything.
    is_kafka = facts and all(isinstance(v, dict) and all(map(str.isdigit, v)) for v in facts.values())
    return facts if is_kafka else None
