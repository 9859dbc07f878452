"""A SELECT with windows of ours, or with LAST JOIN, as it is written: its clauses, windows, calls and tables."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from functools import cached_property

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.literals import quoted
from dbt.adapters.sparkstream.sql.core.names.columns import Resolver
from dbt.adapters.sparkstream.sql.core.names.scope import name_of, sources
from dbt.adapters.sparkstream.sql.core.nodes import own
from dbt.adapters.sparkstream.sql.core.source import Source, Span
from dbt.adapters.sparkstream.sql.grammar.specs import LastJoin
from dbt.adapters.sparkstream.sql.passes.framing.block import Block, inside
from dbt.adapters.sparkstream.sql.passes.framing.calls import Call, Window, find_calls, find_windows
from dbt.adapters.sparkstream.sql.passes.framing.streams import MARK
from dbt.adapters.sparkstream.sql.passes.framing.times import likely_times, may_be_time


@dataclass(frozen=True)
class FrameRules:
    """Rules of a dialect for calls over frames.

    Attributes:
        millis: a time may stand where a number of milliseconds does.
        narrow_sums: SUM has the type of its argument, and wraps.
        keyless: rows without a key are kept.
        free_keys: frames of ROWS take keys of any type, and keys finer than milliseconds order rows.
        by_rowtime: ROWTIME orders the rows where a window has no key, and rows with equal keys.
        exp_avg: EXP_AVG(x, INTERVAL '10' SECOND) is a function.
        lag_arguments: the most arguments of LAG.
        printed_names: a column without an alias is named by its expression.
        counted_names: a column without an alias is named EXPR$0, EXPR$1.
    """

    millis: bool = False
    narrow_sums: bool = False
    keyless: bool = True
    free_keys: bool = False
    by_rowtime: bool = False
    exp_avg: bool = False
    lag_arguments: int = 2
    printed_names: bool = False
    counted_names: bool = False


FRAME_RULES = {
    "spark": FrameRules(free_keys=True),
    "openmldb": FrameRules(millis=True, narrow_sums=True, keyless=False, printed_names=True),
    "sqlstream": FrameRules(by_rowtime=True, exp_avg=True, lag_arguments=3, counted_names=True),
}
"""Dialect -> its rules."""


class FramedSelect:
    """A SELECT as it is written.

    Attributes:
        source: the text of its statement.
        select: its node.
        rules: what differs in its dialect.
        arrival: the column that numbers rows in order of arrival, or None.
        requested: True if its first table holds a request's row.
        running: True if aggregates that can be subtracted come from running ones.
        skewed: True if one key has most of the rows.
        block: its clauses.
        windows: declared windows by name, in lower case; None for a window that Spark has itself.
        calls: the outermost calls over windows of ours.
        last_joins: its LAST JOINs.
    """

    def __init__(
        self,
        source: Source,
        resolver: Resolver,
        select: exp.Select,
        *,
        dialect: str,
        arrival: str | None = None,
        request: bool = False,
        running: bool = False,
        skewed: bool = False,
    ) -> None:
        self.source = source
        self.running = running
        self.skewed = skewed
        self.resolver = resolver
        self.select = select
        self.rules = FRAME_RULES[dialect]
        self.arrival = arrival
        tables = sources(select)[:1] if request else []
        self.requested = any(resolver.columns(table).find(MARK) for table in tables)
        self.block = Block(source, select)
        self.windows = find_windows(source, self.block)
        self.calls = find_calls(source, self.block, self.windows)
        self.last_joins = list(own(select, LastJoin))

    @property
    def is_ours(self) -> bool:
        """True if the SELECT has a frame, a function or a join that Spark lacks."""
        return bool(self.calls or self.last_joins or any(self.windows.values()))

    def calls_in(self, span: Span) -> list[Call]:
        """The calls that stand within a span."""
        first = bisect_left(self._places, (span[0],))
        return [call for call in self.calls[first : bisect_left(self._places, (span[1],))] if inside(call.span, span)]

    @cached_property
    def _places(self) -> list[Span]:
        return [call.span for call in self.calls]

    @cached_property
    def our_windows(self) -> list[Window]:
        """Every window of ours: first the declared windows, used or not, then the windows written in OVER itself."""
        found: dict[int, Window] = {id(w): w for w in self.windows.values() if w}
        for call in self.calls:
            found.setdefault(id(call.window), call.window)
        return list(found.values())

    @cached_property
    def _times(self) -> frozenset[str]:
        return likely_times(self.select)

    def may_be_time(self, node: exp.Expr) -> bool:
        """True if an expression is a column that may well be a time, or a column shifted by milliseconds."""
        return may_be_time(node, self._times)

    @property
    def has_unions(self) -> bool:
        """True if a window has UNION tables."""
        return any(window.spec.unions for window in self.our_windows)

    @cached_property
    def apart(self) -> bool:
        """True if joined tables stay apart though rows of UNION tables come in: the table of each column is known."""
        tables = sources(self.select)
        if len(tables) < 2 or not self.has_unions or self.requested or self.select.args.get("laterals"):
            return False
        return all(name_of(table) and self.resolver.columns(table).complete for table in tables)

    def type_of(self, node: exp.Expr) -> str | None:
        """The Spark type of an expression."""
        return self.resolver.type(node, self.select)

    def render(self, span: Span) -> str:
        """The text of a span with the edits made so far."""
        return self.source.render(span)


def side(select: FramedSelect, node: exp.Expr, right: str) -> str:
    """Side whose columns an expression has: `right` or `left` of the join, `both`, or `unknown`."""
    found: set[str] = set()
    for column in node.find_all(exp.Column):
        if column.table:
            found.add("right" if quoted(column.table).lower() == right.lower() else "left")
            continue
        owners = [name_of(s) for s in sources(select.select) if select.resolver.columns(s).find(column.name)]
        known = all(select.resolver.columns(s).complete for s in sources(select.select))
        if not known or len(owners) != 1:
            return "unknown"
        found.add("right" if (owners[0] or "").lower() == right.lower() else "left")
    if len(found) > 1:
        return "both"
    return found.pop() if found else "left"


def equality(select: FramedSelect, node: exp.Expr, right: str) -> tuple[exp.Expr, exp.Expr] | None:
    """The left and the right side of a comparison of left rows with the right table by `=` or IS NOT DISTINCT FROM."""
    if not isinstance(node, (exp.EQ, exp.NullSafeEQ)):
        return None
    sides = side(select, node.this, right), side(select, node.expression, right)
    if sides == ("left", "right"):
        return node.this, node.expression
    return (node.expression, node.this) if sides == ("right", "left") else None
