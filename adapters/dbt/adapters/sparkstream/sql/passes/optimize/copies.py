"""TUMBLE and HOP by groups: rows are grouped by where their windows begin, and each group gets its bounds.

The plain translation gives every row, or every copy of a row in HOP, both bounds in the type of the time column, and
groups by both. Where the time is a TIMESTAMP, each bound is a time on the clock that becomes an instant, which takes
longer than aggregating the row. With bounds once per group, HOP costs no more than `window()` written by hand. It
serves where slices don't: for windows that overlap little, and for aggregates that need all rows at once.
"""

from __future__ import annotations

from dbt.adapters.sparkstream.sql.core.errors import NoRule
from dbt.adapters.sparkstream.sql.core.names.columns import Resolver
from dbt.adapters.sparkstream.sql.core.types import LTZ
from dbt.adapters.sparkstream.sql.core.windows import WINDOW_COLUMNS, Hop, Tumble, WindowFunction
from dbt.adapters.sparkstream.sql.core.writing import Select, parenthesized, placed
from dbt.adapters.sparkstream.sql.passes.optimize.aggregates import Mergeable, Partial
from dbt.adapters.sparkstream.sql.passes.optimize.block import AggregateCall, WindowAggregate
from dbt.adapters.sparkstream.sql.passes.optimize.rule import AggregateRule
from dbt.adapters.sparkstream.sql.passes.optimize.slices import Cells, Slices


class HopCopies(AggregateRule[Hop]):
    """Aggregates over HOP, from copies of the rows."""

    name = "hop-copies"
    does = "rows are copied into their windows, and each group gets its bounds once"
    window = Hop
    identity = frozenset(WINDOW_COLUMNS)

    def pays(self, window: Hop) -> None:
        if window.slide > window.size:
            raise NoRule("windows with rows between them, which Spark's window() doesn't know")

    def rewrite(self, aggregate: WindowAggregate, window: Hop, indent: str) -> str:
        slices = Slices(aggregate, window.slide, 1, window.offset, whole)
        query = slices.query(["__start"], slices.clock.copies(slices.relation, window), "__start")
        bounds = slices.columns_until("__start", "__start", window.size)
        end = slices.clock.plus("__start", window.size)
        cells = slices.unless_another(Cells(Select(["*"], query)), window, "__start", end)
        lines = parenthesized(slices.result(cells, bounds), f"hop: {window.words()} on {slices.time}")
        return placed(lines, indent)


class TumbleGroups(AggregateRule[Tumble]):
    """Aggregates over TUMBLE, with bounds once per group."""

    name = "tumble-groups"
    does = "rows are grouped by the start of their window, and each group gets its bounds once"
    window = Tumble
    identity = frozenset(WINDOW_COLUMNS)

    def may_apply(self, function: WindowFunction, resolver: Resolver) -> bool:
        """True for a TUMBLE of a time that is known to be a TIMESTAMP: no other statement is parsed again for this."""
        time = resolver.columns(function.this).find(function.timecol.name)
        return time is not None and time.type == LTZ and super().may_apply(function, resolver)

    def pays(self, window: Tumble) -> None:
        """Accepts every TUMBLE."""

    def check(self, aggregate: WindowAggregate) -> None:
        if aggregate.time_type() != LTZ:
            raise NoRule("the time isn't known to be a TIMESTAMP, and bounds of a TIMESTAMP_NTZ take no time")
        super().check(aggregate)

    def rewrite(self, aggregate: WindowAggregate, window: Tumble, indent: str) -> str:
        slices = Slices(aggregate, window.size, 1, window.offset, whole)
        rows, start = slices.clock.slices(slices.relation, window.size, window.offset)
        query = slices.query([f"{start} AS __start"], rows, start)
        bounds = slices.columns_until("__start", "__start", window.size)
        result = slices.result(Cells(Select(["*"], query)), bounds)
        return placed(parenthesized(result, f"tumble: {window.words()} on {slices.time}"), indent)


def whole(call: AggregateCall) -> Mergeable:
    """An aggregate over all rows of a window at once: its one partial is the aggregate itself."""
    return Mergeable((Partial(call.sql),))
