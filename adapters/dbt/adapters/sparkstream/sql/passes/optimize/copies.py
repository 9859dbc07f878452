"""HOP by copies: each row is copied once for each window, as in the plain translation, but without the window's bounds.

The plain translation gives every copy its bounds in the type of the time column. A query that aggregates needs them
once per group only, so this rule costs no more than `window()` written by hand. It serves where slices don't: for
windows that overlap little, and for aggregates that need all rows at once.
"""

from __future__ import annotations

from dbt.adapters.sparkstream.sql.core.windows import WINDOW_COLUMNS, Hop
from dbt.adapters.sparkstream.sql.core.writing import Select, parenthesized, placed
from dbt.adapters.sparkstream.sql.passes.optimize.aggregates import Mergeable, Partial
from dbt.adapters.sparkstream.sql.passes.optimize.block import AggregateCall, WindowAggregate
from dbt.adapters.sparkstream.sql.passes.optimize.norule import NoRule
from dbt.adapters.sparkstream.sql.passes.optimize.rule import AggregateRule
from dbt.adapters.sparkstream.sql.passes.optimize.slices import Cells, Slices, check_one_window


class HopCopies(AggregateRule[Hop]):
    """Aggregates over HOP, from copies of the rows."""

    name = "hop-copies"
    window = Hop
    identity = frozenset(WINDOW_COLUMNS)

    def pays(self, window: Hop) -> None:
        if window.slide > window.size:
            raise NoRule("windows with rows between them, which Spark's window() doesn't know")

    def check(self, aggregate: WindowAggregate) -> None:
        check_one_window(aggregate, self.identity)

    def rewrite(self, aggregate: WindowAggregate, window: Hop, indent: str) -> str:
        slices = Slices(aggregate, window.slide, 1, window.offset, whole)
        query = slices.query(["__start"], slices.clock.copies(slices.relation, window), "__start")
        bounds = slices.columns_until("__start", "__start", window.size)
        end = slices.clock.plus("__start", window.size)
        cells = slices.unless_another(Cells(Select(["*"], query)), window, "__start", end)
        lines = parenthesized(slices.result(cells, bounds), f"hop: {window.words()} on {slices.time}")
        return placed(lines, indent)


def whole(call: AggregateCall) -> Mergeable:
    """An aggregate over all rows of a window at once: its one partial is the aggregate itself."""
    return Mergeable((Partial(call.sql),))
