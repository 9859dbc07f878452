"""What Spark notes in a checkpoint of the micro-batches."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass

from dbt.adapters.sparkstream.streaming.engine import Engine


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
        sources: for each source, the last number in its log that is part of the micro-batch; None for other sources.
    """

    watermark: int
    clock: int
    sources: tuple[int | None, ...]

    @classmethod
    def of(cls, engine: Engine, checkpoint: str, batch: int) -> Offsets | None:
        lines = engine.folders.lines(f"{checkpoint}/offsets/{batch}")
        if len(lines) < 2:
            return None
        facts = json.loads(lines[1])
        return cls(int(facts["batchWatermarkMs"]), int(facts["batchTimestampMs"]), tuple(map(_log_offset, lines[2:])))


NOTHING_YET = Offsets(0, 0, ())


def _log_offset(line: str) -> int | None:
    if not line.startswith("{"):
        return None
    facts = json.loads(line)
    return int(facts["logOffset"]) if "logOffset" in facts else None
