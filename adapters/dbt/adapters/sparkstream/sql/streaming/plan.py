"""Plan of a query on streams: the views, the streaming query, and what brings its rows into the table."""

from __future__ import annotations

from dataclasses import dataclass

from dbt.adapters.sparkstream.sql.passes.optimize.passes import Decision
from dbt.adapters.sparkstream.sql.streaming.endings import Direct, Ending, OnSlices, OnWindows
from dbt.adapters.sparkstream.sql.streaming.stages import Arrivals, Stage

_DIRECT = Direct()

RANKED = "ranked groups (new in dbt-sparkstream 0.3.0)"
SHARED = "shared DISTINCT values (new in dbt-sparkstream 0.3.0)"


@dataclass(frozen=True)
class StreamPlan:
    """Plan of a query on streams: its views, its streaming query, and its ending.

    Attributes:
        stages: views to make first, in this order.
        query: the streaming query, over streams and stages.
        streams: the streams that it reads.
        ending: brings the rows of `query` into the table.
        buffered: True if the rows of `query` have to wait until their window is closed.
        late: the rows of the streams that are late when their `window_end` is not after the watermark.
        waits: True if anything in it waits for the watermark.
        read_once: True if it reads one stream, once.
        decisions: for each HOP and CUMULATE, that its slices are kept, or why its windows are.
        time: the column by whose watermark rows have to leave the stream; None where Spark checks that itself.
        waits_longer: True if `time` is later than the event times of some rows, which wait until then.
        windows: the columns that tell the window of a row, where the rows have them: its end is the last one.
        by_instant: True if there is a SESSION whose gap is elapsed time, and not, as in batch, on the wall clock.
        joined: True if rows of one stream wait for rows of another stream, by their times.
        held: True if the stream holds all rows back until their window is closed, and drops rows that come later.
        meets: True if rows of a stream meet rows of another stream, or of the same, in a join.
        forms: names of what is in Spark's state in another form than in version 0.2.0.
    """

    stages: tuple[Stage, ...]
    query: str
    streams: tuple[str, ...]
    ending: Ending = _DIRECT
    buffered: bool = False
    late: tuple[Arrivals, ...] = ()
    waits: bool = False
    read_once: bool = True
    windows: tuple[str, ...] = ()
    time: str | None = None
    decisions: tuple[Decision, ...] = ()
    waits_longer: bool = False
    by_instant: bool = False
    joined: bool = False
    held: bool = False
    meets: bool = False
    forms: tuple[str, ...] = ()

    @property
    def slices(self) -> bool:
        """True if `query` gives slices, of which windows are made."""
        return self.updates and not isinstance(self.ending, OnWindows)

    @property
    def updates(self) -> bool:
        """True if `query` gives the slices or windows that a micro-batch has changed, and not rows that are final."""
        return isinstance(self.ending, OnSlices)

    @property
    def keeps(self) -> tuple[str, ...]:
        """Names of forms of the state: `slices`, `open` or `corrected` windows, or those of `forms`."""
        ending = self.ending
        if not isinstance(ending, OnSlices):
            return self.forms
        has = {"slices": self.slices, "open": ending.open is not None, "corrected": ending.corrected is not None}
        return tuple(name for name, is_kept in has.items() if is_kept)

    @property
    def has_state(self) -> bool:
        """True if the query needs state: the result of a row depends on other rows, or on its time of arrival."""
        waits = self.waits or self.buffered or self.joined or self.meets
        return waits or bool(self.stages) or not isinstance(self.ending, Direct)

    @property
    def why(self) -> str | None:
        """Reason why windows are kept and no slices; None where slices are kept, or the query has none."""
        return next((d.reason for d in self.decisions), None)

    @property
    def state(self) -> str:
        """Meaning of a row of Spark's state: `slice`, `row waiting` or `open window`."""
        return "slice" if self.slices else "row waiting" if self.buffered or self.joined else "open window"

    def describe(self) -> str:
        """The plan as one text, for people."""
        stages = ",\n".join(f"{stage.view} AS (\n{stage.sql}\n)" for stage in self.stages)
        text = f"/* windows are kept, and no slices: {self.why} */\n" if self.why else ""
        text += f"WITH {stages}\nSELECT * FROM (\n{self.query}\n)" if stages else self.query
        if ending := self.ending.describe():
            text += f"\n\n{ending}"
        return text
