"""Outcome of a run of a streaming model, in words."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from dbt.adapters.sparkstream.streaming.reports.late_rows import LeftOut
from dbt.adapters.sparkstream.streaming.reports.progress import Progress, bytes_in_words, counted
from dbt.adapters.sparkstream.streaming.spark.engine import Engine


@dataclass(frozen=True)
class Outcome:
    """What a run did.

    Attributes:
        message: for the line that dbt prints.
        rows: how many were appended.
        late: how many came too late.
        is_caught_up: whether it has ended as there was nothing more to read, and not as it was told to end.
        goes_on: whether it is to be left running, now that a staged rebuild has its place.
    """

    message: str
    rows: int
    late: int = 0
    is_caught_up: bool = True
    goes_on: bool = False


def outcome(
    engine: Engine, progress: Progress, rows: int, windows: int | None, corrected: int, left: LeftOut
) -> Outcome:
    """What a run did, in words and numbers.

    Args:
        engine: the run's session, whose clock the watermark is shown on.
        progress: of its micro-batches.
        rows: how many were appended.
        windows: how many windows were closed; None where columns don't tell them.
        corrected: how many closed windows late rows have corrected.
        left: rows that no window has, or that can't be read.
    """
    parts = [f"+{counted(rows, 'row')}"]
    if windows is not None:
        parts.append(f"{counted(windows, 'window')} closed")
    if corrected:
        parts.append(f"{counted(corrected, 'window')} corrected")
    if left.late:
        parts.append(counted(left.late, "late row"))
    if left.ahead:
        parts.append(f"{counted(left.ahead, 'row')} too far ahead")
    if left.untimed:
        parts.append(f"{counted(left.untimed, 'row')} without a time")
    if left.unreadable:
        parts.append(counted(left.unreadable, "unreadable row"))
    watermark, last = progress.watermark, progress.last
    if watermark is not None:
        parts.append("all windows closed" if watermark.year > 9000 else f"watermark {_local(engine, watermark)}")
    if last is not None:
        parts.append(f"state {bytes_in_words(last.state_bytes if last.state_rows else 0)}")
    else:
        parts.append("nothing new")
    return Outcome(", ".join(parts), rows, left.late)


def _local(engine: Engine, moment: datetime) -> str:
    """A moment on the clock of the session's time zone."""
    # Spark has the answer when it plans a query on VALUES, and runs no job for it.
    micros = round(moment.timestamp() * 1_000_000)
    [(text,)] = engine.sql(f"SELECT CAST(timestamp_micros(m) AS STRING) FROM VALUES ({micros}L) AS v (m)")
    return str(text).removesuffix(":00")
