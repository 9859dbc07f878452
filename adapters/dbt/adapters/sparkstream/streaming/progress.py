"""What a micro-batch did, as Spark reports it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


@dataclass(frozen=True)
class Batch:
    """A micro-batch.

    Attributes:
        number: its number since the table was made, from 0.
        started: when.
        milliseconds: how long it took.
        rows: how many rows it read from the sources.
        watermark: the watermark that it closed windows by; None before there is one.
        state_rows: rows in state after it: keys of open windows, and rows that wait.
        state_bytes: memory that the state takes.
        late: rows that came after their windows were closed, as Spark counts them.
        ran: whether it was a micro-batch at all, and not a report that there was nothing to do.
    """

    number: int
    started: datetime
    milliseconds: int
    rows: int
    watermark: datetime | None
    state_rows: int
    state_bytes: int
    late: int
    ran: bool

    @classmethod
    def read(cls, text: str) -> Batch:
        """Reads Spark's StreamingQueryProgress, in JSON."""
        facts: dict[str, Any] = json.loads(text)
        operators = facts.get("stateOperators") or []
        watermark = (facts.get("eventTime") or {}).get("watermark")
        moment = _time(watermark) if watermark else None
        durations = facts.get("durationMs") or {}
        return cls(
            number=int(facts["batchId"]),
            started=_time(facts["timestamp"]),
            milliseconds=int(facts.get("batchDuration") or durations.get("triggerExecution") or 0),
            rows=sum(int(source.get("numInputRows") or 0) for source in facts.get("sources") or []),
            watermark=None if moment is None or moment <= EPOCH else moment,
            state_rows=sum(int(o.get("numRowsTotal") or 0) for o in operators),
            state_bytes=sum(int(o.get("memoryUsedBytes") or 0) for o in operators),
            late=sum(int(o.get("numRowsDroppedByWatermark") or 0) for o in operators),
            ran="addBatch" in durations,
        )


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number with its noun: `1 row`, `1,234 rows`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def bytes_in_words(number: int) -> str:
    """A size as people say it: `3 KB`."""
    size = float(number)
    for unit in ("B", "KB", "MB", "GB"):
        if size < 1024 or unit == "GB":
            return f"{size:.0f} {unit}" if size >= 10 or size == int(size) else f"{size:.1f} {unit}"
        size /= 1024
    raise AssertionError
