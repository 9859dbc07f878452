"""OpenMLDB's aggregates of a group or of a whole table: `SELECT k, sum_where(x, c) FROM t GROUP BY k`."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.frames import Frame, Kind
from dbt.adapters.sparkstream.sql.core.names.columns import Resolver
from dbt.adapters.sparkstream.sql.core.source import SPAN, Edit, Source
from dbt.adapters.sparkstream.sql.core.tree import enclosing, find
from dbt.adapters.sparkstream.sql.grammar.specs import WindowSpec
from dbt.adapters.sparkstream.sql.passes.framing.arrays import LISTED
from dbt.adapters.sparkstream.sql.passes.framing.calls import Call, Window, read_call
from dbt.adapters.sparkstream.sql.passes.framing.evaluation import Additions, Aggregate, Evaluation
from dbt.adapters.sparkstream.sql.passes.framing.functions import call_sql
from dbt.adapters.sparkstream.sql.passes.framing.names import AGGREGATES, CATEGORIES, usage
from dbt.adapters.sparkstream.sql.passes.framing.select import FramedSelect
from dbt.adapters.sparkstream.sql.passes.framing.streams import Stream

_WHOLE = Frame(Kind.ROWS, None, 0)
_IN_ORDER = frozenset({"LAG", "AT", "EW_AVG", "DRAWDOWN", "NTH_VALUE_WHERE"})
"""Functions that need the order of a window."""
_OURS = frozenset({*LISTED, *(f"{name}_WHERE" for name in CATEGORIES), "DISTINCT_COUNT"})
"""Functions that Spark has not."""
_OTHER_SUMS = ("smallint", "int", "float", "timestamp", None)
"""Arguments of SUM whose sum is of another type in Spark; None is a type that isn't known."""


class _Group(Evaluation):
    """An aggregate of all rows of a group, to which Spark's aggregates need no OVER."""

    def __init__(self, select: FramedSelect, call: Call) -> None:
        super().__init__(select, Stream(1, (), None, None), Additions(inline_unnamed=True), call)

    def typed(self, value: str) -> str:
        return f"any_value({value})"

    def past(self, aggregate: Aggregate, *, default: str, condition: str | None = None) -> str:
        return aggregate(self._rows(False, condition), "")


class GroupedCalls:
    """Edits aggregates that stand in a SELECT without a window."""

    def __init__(self, source: Source, resolver: Resolver) -> None:
        self._source = source
        self._resolver = resolver

    def edits(self, tree: exp.Expr) -> Iterator[Edit]:
        """One edit for each aggregate that Spark has not, or that gives another type there."""
        read: dict[int, FramedSelect] = {}
        for node in find(tree, exp.Anonymous):
            select = enclosing(node, exp.Select)
            if node.name.upper() not in AGGREGATES or select is None or SPAN not in select.meta:
                continue
            if "start" not in node.meta or isinstance(enclosing(node, exp.Window, exp.Select), exp.Window):
                continue
            if id(select) not in read:
                read[id(select)] = FramedSelect(self._source, self._resolver, select, "openmldb", None)
            if not read[id(select)].our_windows:
                yield from self._call(node, read[id(select)])

    def _call(self, node: exp.Anonymous, select: FramedSelect) -> Iterator[Edit]:
        span = self._source.call_span(node)
        window = Window(None, WindowSpec(span, _WHOLE), span)
        group = _Group(select, read_call(self._source, node, self._source.tokens.at(span[0]), window))
        if group.name in _IN_ORDER:
            raise group.fail(
                f"{group.word} goes by the order of rows, and needs a window",
                f"write {usage(group.call.name)} OVER (PARTITION BY ... ORDER BY ... ROWS BETWEEN ...)",
            )
        summed = group.name == "SUM" and not group.call.distinct and group.type() in _OTHER_SUMS
        if group.name in _OURS or summed:
            yield Edit(span, lambda: call_sql(_Group(select, group.call)))
