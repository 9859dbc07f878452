"""What a run of a streaming model says it did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from dbt.adapters.sparkstream.streaming.engine import Engine
from dbt.adapters.sparkstream.streaming.late import Aside
from dbt.adapters.sparkstream.streaming.progress import Batch, bytes_in_words, counted


@dataclass(frozen=True)
class Outcome:
    """What a run did.

    Attributes:
        message: for the line that dbt prints.
        rows: how many were appended.
        late: how many came too late.
    """

    message: str
    rows: int
    late: int = 0


def outcome(
    engine: Engine,
    batches: Sequence[Batch],
    appended: Mapping[int, tuple[int, int | None]],
    aside: Mapping[int, Aside],
) -> Outcome:
    """What a run did, in words and numbers.

    Args:
        engine: the run's session, whose clock the watermark is shown on.
        batches: its micro-batches.
        appended: micro-batch -> rows appended, and windows closed where columns tell them.
        aside: micro-batch -> rows that no window has, or that can't be read.
    """
    rows = sum(written for written, _ in appended.values())
    windows = [closed for _, closed in appended.values() if closed is not None]
    parts = [f"+{counted(rows, 'row')}"]
    if windows:
        parts.append(f"{counted(sum(windows), 'window')} closed")
    left = Aside.total(aside.values())
    if left.late:
        parts.append(counted(left.late, "late row"))
    if left.ahead:
        parts.append(f"{counted(left.ahead, 'row')} too far ahead")
    if left.untimed:
        parts.append(f"{counted(left.untimed, 'row')} without a time")
    if left.unreadable:
        parts.append(counted(left.unreadable, "unreadable row"))
    watermark = next((b.watermark for b in reversed(batches) if b.watermark), None)
    if watermark is not None:
        parts.append("all windows closed" if watermark.year > 9000 else f"watermark {_local(engine, watermark)}")
    if batches:
        parts.append(f"state {bytes_in_words(batches[-1].state_bytes if batches[-1].state_rows else 0)}")
    else:
        parts.append("nothing new")
    return Outcome(", ".join(parts), rows, left.late)


def _local(engine: Engine, moment: datetime) -> str:
    """A moment on the clock of the session's time zone."""
    # Spark has the answer when it plans a query on VALUES, and runs no job for it.
    micros = round(moment.timestamp() * 1_000_000)
    [(text,)] = engine.sql(f"SELECT CAST(timestamp_micros(m) AS STRING) FROM VALUES ({micros}L) AS v (m)")
    return str(text).removesuffix(":00")
