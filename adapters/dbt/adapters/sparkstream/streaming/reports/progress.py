"""Progress of a micro-batch, as Spark reports it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from typing import Any

from dbt.adapters.sparkstream.sql.core.interval import Interval
from dbt.adapters.sparkstream.sql.core.literals import read_time
from dbt.adapters.sparkstream.streaming.sources.values import OBSERVED as VALUES
from dbt.adapters.sparkstream.streaming.spark.watermarks import EPOCH, Observed


@dataclass(frozen=True)
class MicroBatch:
    """A micro-batch.

    Attributes:
        number: its number since the table was made, from 0.
        rows: how many rows it read from the sources.
        watermark: the watermark that it closed windows by; None before there is one.
        state_rows: rows in state after it: keys of open windows, and rows that wait.
        state_bytes: memory that the state takes.
        late: rows that came after their windows were closed, as Spark counts them.
        is_behind: whether a row may have a time before the watermark.
        ran: whether it was a micro-batch at all, and not a report that there was nothing to do.
        is_odd: whether a row may have no time, or one too far ahead.
        observed: the times of its rows, where they are observed; else `is_odd` goes by what Spark always reports.
        unreadable: rows with values that could not be read.
    """

    number: int
    started: datetime
    milliseconds: int
    rows: int
    watermark: datetime | None
    state_rows: int
    state_bytes: int
    late: int
    is_behind: bool
    ran: bool
    is_odd: bool = False
    observed: Observed | None = None
    unreadable: int = 0

    @classmethod
    def read(cls, text: str) -> MicroBatch:
        """Reads Spark's StreamingQueryProgress, in JSON."""
        facts: dict[str, Any] = json.loads(text)
        operators = facts.get("stateOperators") or []
        times = {name: _time(text) for name, text in (facts.get("eventTime") or {}).items()}
        moment = times.get("watermark")
        durations = facts.get("durationMs") or {}
        metrics = _by_name(facts.get("observedMetrics") or {})
        observed = Observed.read(metrics)
        # Spark reports the times of one stream only, and has 1970 for NULL.
        earliest = times.get("min") if observed is None else observed.earliest
        is_odd = bool(observed.untimed or observed.ahead) if observed else "min" in times and times["min"] <= EPOCH
        return cls(
            number=int(facts["batchId"]),
            started=_time(facts["timestamp"]),
            milliseconds=int(facts.get("batchDuration") or durations.get("triggerExecution") or 0),
            rows=sum(int(source.get("numInputRows") or 0) for source in facts.get("sources") or []),
            watermark=None if moment is None or moment <= EPOCH else moment,
            state_rows=sum(int(o.get("numRowsTotal") or 0) for o in operators),
            state_bytes=sum(int(o.get("memoryUsedBytes") or 0) for o in operators),
            late=sum(int(o.get("numRowsDroppedByWatermark") or 0) for o in operators),
            is_behind=earliest is not None and moment is not None and earliest < moment,
            is_odd=is_odd,
            ran="addBatch" in durations,
            observed=observed,
            unreadable=sum(int(m.get("unreadable") or 0) for name, m in metrics.items() if name.startswith(VALUES)),
        )

    def closing(self, lateness: Interval | None) -> MicroBatch:
        """The same with the watermark that closes windows: ahead of Spark's, where late rows correct windows."""
        if lateness is None or self.watermark is None:
            return self
        return replace(self, watermark=self.watermark + timedelta(microseconds=lateness.micros))


def told(batch: MicroBatch, state: str) -> str:
    """A micro-batch in a line.

    Args:
        state: what each row of Spark's state is, such as `open window`.
    """
    rate = _rate(batch.rows, batch.milliseconds)
    return f"micro-batch {batch.number}: {counted(batch.rows, 'row')} {rate}{_state(batch, state)}"


@dataclass
class Progress:
    """What the micro-batches of a run have done together. It takes no more room when there are more of them.

    Attributes:
        many: how many there were.
        rows: how many rows they have read.
        milliseconds: how long they took.
        last: the last one.
        watermark: the last watermark that windows were closed by.
    """

    many: int = 0
    rows: int = 0
    milliseconds: int = 0
    last: MicroBatch | None = None
    watermark: datetime | None = None

    def add(self, batch: MicroBatch) -> None:
        """Adds a micro-batch."""
        self.many += 1
        self.rows += batch.rows
        self.milliseconds += batch.milliseconds
        self.last = batch
        self.watermark = batch.watermark or self.watermark

    def told(self, doing: str, state: str) -> str:
        """All of it in a line, with what the run does at the moment.

        Args:
            doing: in Spark's words.
            state: what each row of Spark's state is, such as `open window`.
        """
        if self.last is None:
            return doing.lower()
        rows, many = counted(self.rows, "row"), counted(self.many, "micro-batch", "micro-batches")
        rate = _rate(self.rows, self.milliseconds)
        return f"{rows} in {many} {rate}{_state(self.last, state)}, {doing.lower()}"


def _rate(rows: int, milliseconds: int) -> str:
    return f"({rows * 1000 // max(milliseconds, 1):,}/s)"


def _state(batch: MicroBatch, state: str) -> str:
    watermark = f", watermark {batch.watermark:%Y-%m-%d %H:%M:%S} UTC" if batch.watermark else ""
    many = "rows waiting" if state == "row waiting" else None
    return f"{watermark}, {counted(batch.state_rows, state, many)}, {bytes_in_words(batch.state_bytes)} of state"


def _by_name(metrics: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """What is observed, column -> value for each observation. Spark Connect reports a list of values and a schema."""
    found = {}
    for name, row in metrics.items():
        if isinstance(row.get("values"), list) and isinstance(row.get("schema"), Mapping):
            columns = [str(field["name"]) for field in row["schema"]["fields"]]
            found[name] = dict(zip(columns, row["values"], strict=True))
        else:
            found[name] = dict(row)
    return found


def _time(text: str) -> datetime:
    """A time as Spark writes it; the first or last that Python has for one of a year before 1 or after 9999."""
    try:
        return read_time(text)
    except ValueError:
        last = text.startswith("+")
        return (datetime.max if last else datetime.min).replace(tzinfo=timezone.utc)


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
