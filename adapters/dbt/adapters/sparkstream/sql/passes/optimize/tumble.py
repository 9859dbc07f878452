"""TUMBLE by groups: rows are grouped by where their windows begin, and each group gets its bounds.

The plain translation gives every row both bounds in the type of the time column, and groups by both. Where the time is
a TIMESTAMP, each bound is a time on the clock that becomes an instant, which takes longer than aggregating the row.
"""

from __future__ import annotations

from dbt.adapters.sparkstream.sql.core.names.columns import Resolver
from dbt.adapters.sparkstream.sql.core.types import LTZ
from dbt.adapters.sparkstream.sql.core.windows import WINDOW_COLUMNS, Tumble, WindowFunction
from dbt.adapters.sparkstream.sql.core.writing import Select, parenthesized, placed
from dbt.adapters.sparkstream.sql.passes.optimize.block import WindowAggregate
from dbt.adapters.sparkstream.sql.passes.optimize.copies import whole
from dbt.adapters.sparkstream.sql.passes.optimize.norule import NoRule
from dbt.adapters.sparkstream.sql.passes.optimize.rule import AggregateRule
from dbt.adapters.sparkstream.sql.passes.optimize.slices import Cells, Slices, check_one_window


class TumbleGroups(AggregateRule[Tumble]):
    """Aggregates over TUMBLE, with bounds once per group."""

    name = "tumble-groups"
    window = Tumble
    identity = frozenset(WINDOW_COLUMNS)

    def may_apply(self, function: WindowFunction, resolver: Resolver) -> bool:
        """For a TUMBLE of a time that is known to be a TIMESTAMP: no other statement is parsed again for it."""
        time = resolver.columns(function.this).find(function.timecol.name)
        return time is not None and time.type == LTZ and super().may_apply(function, resolver)

    def pays(self, window: Tumble) -> None:
        """It pays for every TUMBLE."""

    def check(self, aggregate: WindowAggregate) -> None:
        if aggregate.time_type() != LTZ:
            raise NoRule("the time isn't known to be a TIMESTAMP, and bounds of a TIMESTAMP_NTZ take no time")
        check_one_window(aggregate, self.identity)

    def rewrite(self, aggregate: WindowAggregate, window: Tumble, indent: str) -> str:
        slices = Slices(aggregate, window.size, 1, window.offset, whole)
        rows, start = slices.clock.slices(slices.relation, window.size, window.offset)
        query = slices.query([f"{start} AS __start"], rows, start)
        bounds = slices.columns_until("__start", "__start", window.size)
        result = slices.result(Cells(Select(["*"], query)), bounds)
        return placed(parenthesized(result, f"tumble: {window.words()} on {slices.time}"), indent)
