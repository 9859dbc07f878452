"""SESSION by slices: the rows of each slice are aggregated, and sessions are put together from slices.

A slice is as long as the gap, so all rows of a key in one slice are in the same session. A slice opens a session if its
first row comes more than the gap after the last row of the slice before. So slices are sorted, and not rows.

The rows of a key come to one task before they are aggregated: the slices are there then, and are sorted there. Spark
would aggregate first, bring the slices together by key and slice, and then bring them together by key, which takes
longer than `session_window()` where a slice has hardly a row, also where one key has most of the rows.
"""

from __future__ import annotations

from dataclasses import replace

from dbt.adapters.sparkstream.sql.core.errors import NoRule
from dbt.adapters.sparkstream.sql.core.interval import MILLISECOND, ZERO
from dbt.adapters.sparkstream.sql.core.windows import Session
from dbt.adapters.sparkstream.sql.core.writing import Select, parenthesized, placed
from dbt.adapters.sparkstream.sql.passes.optimize.block import WindowAggregate
from dbt.adapters.sparkstream.sql.passes.optimize.rule import AggregateRule
from dbt.adapters.sparkstream.sql.passes.optimize.slices import Cells, Slices, counts_values


class SessionSlices(AggregateRule[Session]):
    """Aggregates over SESSION, each row once."""

    name = "session-slices"
    does = "rows are aggregated once, into slices as long as the gap, and slices into sessions"
    window = Session
    identity = frozenset({"window_start"})

    def pays(self, window: Session) -> None:
        if window.gap is None or window.max_duration is not None:
            raise NoRule("rows of one slice may be of several sessions where more than a constant gap ends them")

    def check(self, aggregate: WindowAggregate) -> None:
        if counts_values(aggregate):
            raise NoRule("count(DISTINCT ...) of sessions can't be put together from slices")
        function, grouping = aggregate.function, aggregate.grouping
        if function.close_on is not None:
            raise NoRule("rows of one slice may be of several sessions where some rows close theirs")
        if grouping.has_sets:
            raise NoRule("grouping sets put sessions of several keys together")
        keys = {key.name.casefold() for key in function.partition_by}
        grouped = {key.form for key in grouping.keys}
        if grouped - keys:
            raise NoRule(
                "it groups by more than the keys of PARTITION BY, so a session's first row may be in another group"
            )
        if keys - grouped:
            raise NoRule(
                "it doesn't group by all keys of PARTITION BY, and sessions of several keys may have the same bounds"
            )
        if aggregate.filters_rows:
            raise NoRule(
                "rows that WHERE leaves out count for the bounds of their sessions; or filter them in a subquery"
            )

    def rewrite(self, aggregate: WindowAggregate, window: Session, indent: str) -> str:
        gap = window.constant_gap
        slices = Slices(aggregate, gap, 1, ZERO)
        bounds = slices.columns_until("__first", "__last", gap)
        result = slices.result(Cells(Select(["*"], _sessions(slices))), bounds)
        per = f", per {', '.join(slices.keys)}" if slices.keys else ""
        comment = f"session: {window.words()} on {slices.time}{per}, put together from slices of {gap.words()}"
        return placed(parenthesized(result, comment), indent)


def _sessions(slices: Slices) -> Select:
    """A row for every session, with its slices merged."""
    clock, gap = slices.clock, slices.slice
    rows, time = clock.slices(slices.relation, MILLISECOND, ZERO)
    rows = replace(rows, distribute=slices.keys)
    start = clock.floor(time, gap, ZERO)
    query = slices.query([f"{start} AS __start", f"min({time}) AS __first", f"max({time}) AS __last"], rows, start)
    per = slices.per()
    opens = f"coalesce(__first - lag(__last) OVER ({per}ORDER BY __start) > {clock.length(gap)}, TRUE)"
    opening = Select(["*", f"{opens} AS __opens"], query)
    running = f"count_if(__opens) OVER ({per}ORDER BY __start ROWS UNBOUNDED PRECEDING)"
    numbered = Select(["*", f"{running} AS __session"], opening)
    return slices.merging(numbered, ["__session"], ["min(__first) AS __first", "max(__last) AS __last"])
