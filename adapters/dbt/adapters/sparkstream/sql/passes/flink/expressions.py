"""Calls of functions in Flink SQL with their FILTER and OVER, and the owners of all nodes that are edited."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from sqlglot import exp
from sqlglot.tokens import TokenType

from dbt.adapters.sparkstream.sql.core import types
from dbt.adapters.sparkstream.sql.core.errors import RefusedError
from dbt.adapters.sparkstream.sql.core.interval import MICROS, TIME_UNITS
from dbt.adapters.sparkstream.sql.core.matching import match_of
from dbt.adapters.sparkstream.sql.core.names.columns import Resolver
from dbt.adapters.sparkstream.sql.core.nodes import JsonConstructor, every, is_written_by_values
from dbt.adapters.sparkstream.sql.core.source import Edit, Source, Span
from dbt.adapters.sparkstream.sql.core.windows import AUXILIARY, GROUP_WINDOWS
from dbt.adapters.sparkstream.sql.passes.flink import clocks
from dbt.adapters.sparkstream.sql.passes.flink.aggregates import collect, is_taken_apart, is_unnested
from dbt.adapters.sparkstream.sql.passes.flink.arithmetic import Arithmetic
from dbt.adapters.sparkstream.sql.passes.flink.arrays import Constructs
from dbt.adapters.sparkstream.sql.passes.flink.casts import Casts, Literals
from dbt.adapters.sparkstream.sql.passes.flink.datetime import DATE_UNITS, MONTHS_OF, difference
from dbt.adapters.sparkstream.sql.passes.flink.frames import OverWindows
from dbt.adapters.sparkstream.sql.passes.flink.functions import FUNCTIONS, Function, FunctionKind, renamed
from dbt.adapters.sparkstream.sql.passes.flink.grouping import Groupings
from dbt.adapters.sparkstream.sql.passes.flink.json import Json
from dbt.adapters.sparkstream.sql.passes.flink.names import FlinkNames
from dbt.adapters.sparkstream.sql.passes.flink.predicates import Predicates
from dbt.adapters.sparkstream.sql.passes.flink.queries import FlinkQueries
from dbt.adapters.sparkstream.sql.passes.flink.relations import QUANTIFIERS, Relations, Subqueries, is_exists_of_values
from dbt.adapters.sparkstream.sql.passes.flink.rewriter import (
    NUMBERS,
    FlinkCall,
    Rewrite,
    Rewriter,
    UntypedError,
    handles,
    text_constant,
)
from dbt.adapters.sparkstream.sql.passes.flink.temporal import TemporalJoins
from dbt.adapters.sparkstream.sql.passes.flink.texts import TextParts
from dbt.adapters.sparkstream.sql.passes.flink.times import TimeExpressions
from dbt.adapters.sparkstream.sql.passes.flink.typenames import can_be_null


class Invocations(Rewriter):
    """Edits calls of functions."""

    @handles(exp.Anonymous)
    def _call(self, node: exp.Anonymous) -> Iterator[Edit]:
        name = node.name.upper()
        function = FUNCTIONS.get(name)
        if name in QUANTIFIERS:
            yield from Subqueries(self.source, self.resolver).quantified(node)
        elif is_exists_of_values(node):
            yield from Subqueries(self.source, self.resolver).selected(self.source.call_span(node)[0])
        elif name == "TIMESTAMPADD":
            yield from self._timestampadd(node)
        elif name == "TIMESTAMPDIFF":
            yield from self._timestampdiff(node)
        elif name == "NULLIF" and node.expressions:
            yield from self.as_floats(node.expressions[0], node.expressions[1:])
        elif isinstance(node.parent, (exp.Interval, exp.IntervalSpan)) or name in {*AUXILIARY, *GROUP_WINDOWS}:
            return  # a unit such as `SECOND(3)`, or what another pass writes
        elif function is not None:
            yield from self._known_call(node, name, function)
            if function.alike:
                yield from self.alike(node.expressions, NUMBERS.common_of_arguments)
            if function.kind is FunctionKind.GROUPING:
                yield from Groupings(self.source, self.resolver).call(node)

    def _known_call(self, node: exp.Anonymous, name: str, function: Function) -> Iterator[Edit]:
        if function.kind is FunctionKind.AGGREGATE and match_of(node) is not None:
            return  # it reads the rows of a match (passes/match)
        span = self.source.call_span(node)
        given = [a.this if isinstance(a, exp.Order) else a for a in node.expressions]
        skips_nulls = any(isinstance(a, exp.IgnoreNulls) for a in given)
        given = [a.this if isinstance(a, (exp.IgnoreNulls, exp.RespectNulls)) else a for a in given]
        if None in given or (given != node.expressions and not function.ordered):
            return  # no value stands before ORDER BY, or Flink has none there
        arguments = [a for a in given if not isinstance(a, exp.Distinct)]
        distinct = [a for a in given if isinstance(a, exp.Distinct)]
        arguments += [inner for a in distinct for inner in a.expressions]
        if function.arguments and not function.arguments[0] <= len(arguments) <= function.arguments[1]:
            return
        yield from self._without_all(span)
        outer = self._outer(node, function.kind)
        if outer is None:
            return
        if isinstance(outer, exp.Window) and isinstance(node.parent, (exp.IgnoreNulls, exp.RespectNulls)):
            words = self.source.tokens_in((span[1], self.source.span(outer)[1]))
            yield Edit.to((words[0].start, words[2].start), "")  # IGNORE NULLS, which OVER follows
        if function.rewrite is None or (name == "ROW" and is_written_by_values(node)):
            return
        rewrite = self._collected(node, span) if name == "COLLECT" else function.rewrite
        whole = self.source.span(outer) if outer is not node else span
        types_ = tuple(self.type(a) for a in arguments)

        def text() -> str:
            call = FlinkCall(
                name=self.source.text[node.meta["start"] : node.meta["end"] + 1],
                args=tuple(self.source.operand(a) for a in arguments),
                types=types_,
                literals=tuple(map(text_constant, arguments)),
                distinct=bool(distinct),
                suffix=self.source.render((span[1], whole[1])),
                is_over=isinstance(outer, exp.Window),
                nested=tuple(isinstance(a, JsonConstructor) for a in arguments),
                skips_nulls=skips_nulls,
                nullable=tuple(map(can_be_null, arguments)) if name == "TYPEOF" else (),
            )
            try:
                return call.by(rewrite)
            except UntypedError:
                return call.same()
            except RefusedError as error:
                raise self.source.error(span, str(error), error.hint) from None

        yield Edit((span[0], whole[1]), text)

    def _collected(self, node: exp.Anonymous, span: Span) -> Rewrite:
        """Rewrite of COLLECT: to an array where only UNNEST reads it."""
        if is_taken_apart(node):
            return renamed("COLLECT_LIST")
        if is_unnested(node):
            self.refuse(
                span,
                "COLLECT gives a MULTISET, a type that Spark doesn't have, and UNNEST isn't all that reads it",
                "write ARRAY_AGG(...)",
            )
        return collect

    def _without_all(self, span: Span) -> Iterator[Edit]:
        """Leaves out the ALL of `SUM(ALL x)`, which is the default."""
        inner = self.source.tokens_in(span)[2:4]
        if len(inner) == 2 and inner[0].token_type == TokenType.ALL:
            yield Edit.to((inner[0].start, inner[1].start), "")

    def _outer(self, node: exp.Anonymous, kind: FunctionKind) -> exp.Expr | None:
        """The call with its FILTER and OVER; None where WITHIN GROUP or IGNORE NULLS is there, as Flink has neither."""
        outer: exp.Expr = node
        while isinstance(outer.parent, (exp.Filter, exp.Window, exp.WithinGroup, exp.IgnoreNulls, exp.RespectNulls)):
            if outer.arg_key != "this":
                break
            outer = outer.parent
            skips = isinstance(outer, (exp.IgnoreNulls, exp.RespectNulls)) and kind is not FunctionKind.NEIGHBOUR
            if skips or isinstance(outer, exp.WithinGroup):
                return None
        return outer

    # -- TIMESTAMPADD, TIMESTAMPDIFF -----------------------------------------------------------------------
    def _timestampadd(self, node: exp.Anonymous) -> Iterator[Edit]:
        unit = _unit(node)
        if unit is None:
            return
        word, number, time = node.expressions
        span, type_ = self.source.call_span(node), self.type(time)
        if types.is_clock(type_):
            yield Edit(span, lambda: clocks.added(unit, self.text(number), self.text(time), type_ or ""))
            return
        if type_ == "timestamp" and unit in DATE_UNITS:
            yield Edit(span, lambda: _later(unit, self.text(number), self.text(time)))
            return
        if type_ == "date" and unit not in DATE_UNITS:
            yield self.edit(time, lambda: f"CAST({self.text(time)} AS TIMESTAMP_NTZ)", level=2)
        elif type_ == "date":
            yield Edit(span, lambda: f"CAST({self.source.render(span)} AS DATE)", level=1)
        if unit != word.name.upper():
            yield self.edit(word, lambda: unit)

    def _timestampdiff(self, node: exp.Anonymous) -> Iterator[Edit]:
        unit = _unit(node)
        if unit is None:
            return
        _, first, last = node.expressions
        span, kinds = self.source.call_span(node), {self.type(first), self.type(last)}
        times_of_day = [types.is_clock(kind) for kind in kinds if kind is not None]

        def text() -> str:
            start, end = self.text(first), self.text(last)
            if any(times_of_day):
                return clocks.between(unit, start, end)
            instants_ = kinds == {"timestamp"}
            timed = (instants_ or kinds <= {types.NTZ, "date"}) and MICROS.get(unit, 0) >= MICROS["SECOND"]
            if timed or unit in MONTHS_OF:
                return difference(unit, start, end, instants_)
            return f"CAST(TIMESTAMPDIFF({unit}, {start}, {end}) AS INT)"

        yield Edit(span, text)


def _unit(call: exp.Anonymous) -> str | None:
    """The unit of TIMESTAMPADD and TIMESTAMPDIFF; None for a wrong call, which Spark refuses."""
    word = call.expressions[0].name.upper().removeprefix("SQL_TSI_") if len(call.expressions) == 3 else ""
    return word if word in TIME_UNITS else None


def _later(unit: str, number: str, time: str) -> str:
    """TIMESTAMPADD of an instant on the clock of UTC: Spark adds hours as they elapse, days on the session's clock."""
    count = clocks.HOURS_OF.get(unit) or MONTHS_OF[unit]
    many = number if count == 1 else str(count * int(number)) if number.isdecimal() else f"{count} * ({number})"
    if unit in clocks.HOURS_OF:
        return f"TIMESTAMPADD(HOUR, {many}, {time})"
    return clocks.months_later(time, "+", f"MAKE_YM_INTERVAL(0, {many})")


REWRITERS: tuple[type[Rewriter], ...] = (
    FlinkQueries,
    FlinkNames,
    Relations,
    TemporalJoins,
    Subqueries,
    Groupings,
    OverWindows,
    Invocations,
    Predicates,
    Arithmetic,
    Constructs,
    Casts,
    Literals,
    TextParts,
    TimeExpressions,
    Json,
)
"""All rewriters; each kind of node that is edited belongs to one of them."""


class FlinkExpressions:
    """Edits the expressions of a statement written in Flink SQL.

    Args:
        joins_versions: True if temporal joins are edited, too.
    """

    def __init__(self, source: Source, resolver: Resolver, *, joins_versions: bool = True) -> None:
        self._handlers: dict[type[exp.Expr], Callable[[exp.Expr], Iterable[Edit]]] = {}
        for kind in REWRITERS:
            if joins_versions or kind is not TemporalJoins:
                rewriter = kind(source, resolver)
                self._handlers |= {node: getattr(rewriter, name) for node, name in kind.handlers.items()}

    def edits(self, tree: exp.Expr) -> Iterator[Edit]:
        """The edits of a statement, wherever Flink SQL and Spark SQL differ."""
        for node in every(tree):
            handler = self._handlers.get(type(node))
            if handler is not None:
                yield from handler(node)
