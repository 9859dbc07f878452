"""Columns of a stream that carry a watermark: marks in their metadata."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dbt.adapters.sparkstream.streaming.refusals import StreamingError

DELAY = "spark.watermarkDelayMs"
"""Key in the metadata of a column that carries a watermark; Spark's own."""

CLOSES = "sparkstream.closes"
"""Key in the metadata of a `window_time`: it may carry the watermark of the window's end."""


def marks_of(function: str, time: str, metadata: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any]:
    """The metadata of a window function's time column.

    Raises:
        StreamingError: it has no watermark.
    """
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
