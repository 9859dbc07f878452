"""Columns of a stream that carry a watermark: marks in their metadata."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any

from dbt.adapters.sparkstream.sql.core.interval import Interval
from dbt.adapters.sparkstream.streaming.refusals import StreamingError

DELAY = "spark.watermarkDelayMs"
"""Key in the metadata of a column that carries a watermark; Spark's own."""

CLOSES = "sparkstream.closes"
"""Key in the metadata of a `window_time`: it may carry the watermark of the window's end."""


def marks_of(function: str, time: str, metadata: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any]:
    """The metadata of a window function's time column."""
    found = metadata.get(time.casefold(), {})
    if DELAY in found or CLOSES in found:
        return found
    carriers = [name for name, marks in metadata.items() if DELAY in marks or CLOSES in marks]
    raise StreamingError(
        f"{function}'s time column {time} has no watermark\n  "
        + (
            f"{' and '.join(carriers)} has one: window by that, or make {time} the event_time"
            if carriers
            else f"write config(event_time='{time}', watermark='10 minutes'): how much later than others a row may come"
        )
    )


NEVER = "timestamp'9999-01-01'"
"""No row of a stream has a time from here on: the rows of a flush do."""

ASIDE = "timestamp_micros(-62135596792222223)"
"""The time, in the first seconds of the year 1, that stands for one too far ahead."""

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)

OBSERVED = "sparkstream_times_"
"""What the names of observations begin with."""


def limit(max_future: Interval | None, now: str = "current_timestamp()") -> str:
    """The first time that is too far ahead, as SQL.

    Args:
        max_future: how far ahead of the clock a time may be; None for any up to the year 9999.
        now: the clock, as SQL. In a stream, Spark's `current_timestamp()` is when the micro-batch was planned. The
            checkpoint has it, so a micro-batch that comes again has the same.
    """
    return NEVER if max_future is None else f"least({now} + {max_future.sql()}, {NEVER})"


def is_ahead(watermark: datetime, max_future: Interval) -> bool:
    """Whether a watermark is further ahead of the clock than a time may be, and no flush has set it."""
    until = datetime.now(timezone.utc) + timedelta(microseconds=max_future.micros)
    return until < watermark and watermark.year < 9000


def guarded(time: str, until: str) -> str:
    """A time, or `ASIDE` where it is too far ahead, as SQL."""
    return f"CASE WHEN {time} >= {until} THEN {ASIDE} ELSE {time} END"


def is_in_time(time: str) -> str:
    """Whether a guarded time isn't too far ahead, as SQL; Spark moves no condition on the time below the watermark."""
    return f"coalesce({time} <> {ASIDE}, TRUE)"


def observation(time: str, until: str) -> tuple[str, ...]:
    """Aggregates over the rows of a stream: what is to be known of their times."""
    return (
        f"count_if({time} IS NULL) AS untimed",
        f"count_if({time} >= {until}) AS ahead",
        f"max(unix_micros(CASE WHEN {time} >= {until} THEN {time} END)) AS furthest",
        f"min(unix_micros({time})) AS earliest",
    )


@dataclass(frozen=True)
class Observed:
    """The times of the rows of a micro-batch, as Spark has observed them in the query itself.

    Attributes:
        untimed: rows without a time.
        ahead: rows whose time is too far ahead.
        furthest: the latest of the times that are too far ahead.
        earliest: the earliest time of all rows.
    """

    untimed: int = 0
    ahead: int = 0
    furthest: datetime | None = None
    earliest: datetime | None = None

    @classmethod
    def read(cls, metrics: Mapping[str, Any]) -> Observed | None:
        """What is observed in all streams of a query; None where none is."""
        found = [facts for name, facts in metrics.items() if name.startswith(OBSERVED)]
        if not found:
            return None
        furthest = [moment(f["furthest"]) for f in found if f.get("furthest") is not None]
        earliest = [moment(f["earliest"]) for f in found if f.get("earliest") is not None]
        return cls(
            sum(int(f.get("untimed") or 0) for f in found),
            sum(int(f.get("ahead") or 0) for f in found),
            max(furthest, default=None),
            min(earliest, default=None),
        )


def moment(micros: int) -> datetime:
    """A moment from microseconds since the epoch; the first or last that Python has for one beyond."""
    try:
        return EPOCH + timedelta(microseconds=int(micros))
    except OverflowError:
        return (datetime.max if micros > 0 else datetime.min).replace(tzinfo=timezone.utc)
