"""OpenMLDB's aggregates of a group or of a whole table: `SELECT k, sum_where(x, c) FROM t GROUP BY k`."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.frames import Frame, Kind
from dbt.adapters.sparkstream.sql.core.names.columns import Resolver
from dbt.adapters.sparkstream.sql.core.source import SPAN, Edit, Source
from dbt.adapters.sparkstream.sql.core.tree import enclosing, find
from dbt.adapters.sparkstream.sql.grammar.specs import WindowSpec
from dbt.adapters.sparkstream.sql.passes.framing.additions import Additions
from dbt.adapters.sparkstream.sql.passes.framing.arrays import LISTED
from dbt.adapters.sparkstream.sql.passes.framing.calls import Call, Window, read_call
from dbt.adapters.sparkstream.sql.passes.framing.evaluation import Aggregate, Evaluation
from dbt.adapters.sparkstream.sql.passes.framing.functions import call_sql
from dbt.adapters.sparkstream.sql.passes.framing.names import AGGREGATES, CATEGORIES, usage
from dbt.adapters.sparkstream.sql.passes.framing.select import FramedSelect
from dbt.adapters.sparkstream.sql.passes.framing.streams import Stream

_WHOLE = Frame(Kind.ROWS, None, 0)
_IN_ORDER = frozenset({"LAG", "AT", "EW_AVG", "DRAWDOWN", "NTH_VALUE_WHERE"})
"""Functions that need the order of a window."""
_OURS = frozenset({*LISTED, *(f"{name}_WHERE" for name in CATEGORIES), "DISTINCT_COUNT"})
"""Functions that Spark has not."""
_OTHER_SUMS = ("smallint", "int", "float", "timestamp")
"""Arguments of SUM whose sum is of another type in Spark."""
_SILENT = ("SUM", "AVG")
"""Functions that Spark computes of types that OpenMLDB refuses."""
_NO_NUMBERS = ("timestamp", "timestamp_ntz", "string", "date", "boolean")
"""These types: OpenMLDB refuses them, or sums milliseconds."""


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
            if "start" not in node.meta or _has_window(node, select):
                continue
            if isinstance(enclosing(node, exp.Where, exp.Select), exp.Where):
                raise self._source.error(
                    self._source.call_span(node),
                    f"{node.name.lower()} can't stand in WHERE, which chooses rows before they are aggregated",
                    "write it into HAVING, or in a query around this one",
                )
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
        group.check_types()
        other = group.type() in _OTHER_SUMS or group.may_be_time
        if group.name in _OURS or (group.name == "SUM" and not group.call.distinct and other):
            yield Edit(span, lambda: call_sql(_Group(select, group.call)))
        elif group.name in _SILENT and group.type() is None and group.arguments:
            yield from self._guarded(group)

    def _guarded(self, group: _Group) -> Iterator[Edit]:
        """The argument of SUM or AVG, as nobody knows its type here: of a time, Spark would sum the seconds."""
        kinds = ", ".join(f"'{kind}'" for kind in _NO_NUMBERS)
        words = f"{group.word} takes a number here, or a column whose type is known"
        argument = self._source.span(group.call.arguments[0])

        def text() -> str:
            value = self._source.render(argument)
            return f"IF(typeof({value}) IN ({kinds}), raise_error('{words}'), {value})"

        yield Edit(argument, text, level=1, whole=True)


def _has_window(node: exp.Expr, select: exp.Select) -> bool:
    """Whether OVER stands behind a call, or behind a call around it."""
    around = node.parent
    while around is not None and around is not select:
        if isinstance(around, exp.Window):
            return True
        around = around.parent
    return False
