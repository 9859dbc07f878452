"""Results of a streaming model's last runs: watermark, state and dropped rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from dbt.adapters.sparkstream.explain.picture import clock
from dbt.adapters.sparkstream.explain.report import Section
from dbt.adapters.sparkstream.explain.sampling import Ask
from dbt.adapters.sparkstream.sql.core.literals import read_time

_LEFT_OUT = {
    "rows_late": "late",
    "rows_ahead": "too far ahead of the clock",
    "rows_without_time": "without a time",
    "rows_unreadable": "unreadable",
}


@dataclass(frozen=True)
class LastRun:
    """A streaming model as its last runs left it.

    Attributes:
        lines: its status, watermark, state and left-out rows, in words.
        watermark: microseconds on the session's clock since 1970; None for none.
    """

    lines: tuple[str, ...]
    watermark: float | None = None

    @classmethod
    def of(cls, told: Mapping[str, Any], ask: Ask) -> LastRun:
        """The last run in words.

        Args:
            told: the model's dict of `streaming.reports.overview.overview`.
            ask: runs a query on Spark, whose session has the time zone.
        """
        if "batch" not in told:
            return cls((f"the stream is {told['status']}, and no micro-batch is recorded",))
        mark = None if told["watermark"] is None else _on_the_clock(told["watermark"], ask)
        lines = [f"the stream is {told['status']}, after micro-batch {told['batch']:,}"]
        if mark is None:
            lines.append("no watermark yet: no window is closed")
        else:
            lines.append(f"watermark {clock(mark)}: windows that end by then are closed, and older rows are late")
        lines.append(f"state: {told['state_rows']:,} rows in {told['state_bytes']:,} bytes")
        left = [f"{told[name]:,} {words}" for name, words in _LEFT_OUT.items() if told.get(name)]
        read = f"{told['rows_read']:,} rows read by all runs since the table was made"
        lines.append(f"{read}; left out: {', '.join(left) or 'none'}")
        return cls(tuple(lines), mark)

    def marked(self, section: Section) -> Section:
        """A section with the watermark as a dashed line, where it is near drawn rows."""
        picture, mark = section.picture, self.watermark
        if picture is None or mark is None or not picture.timed or not picture.dots:
            return section
        places = [*(dot.at for dot in picture.dots), *(at for bar in picture.bars for at in (bar.start, bar.end))]
        if not min(places) <= mark <= max(places):
            return section
        note = f"The dashed line is the watermark, {clock(mark)}: windows that end by then are closed."
        return replace(section, picture=replace(picture, rules=(*picture.rules, mark)), notes=(*section.notes, note))


def _on_the_clock(seconds: float, ask: Ask) -> float:
    micros = round(seconds * 1_000_000)
    [[text]] = ask(f"SELECT CAST(CAST(timestamp_micros({micros}) AS TIMESTAMP_NTZ) AS STRING)")
    return (read_time(text) - datetime(1970, 1, 1)) / timedelta(microseconds=1)
