"""Calls of functions in Flink SQL, with their FILTER and OVER."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlglot import exp
from sqlglot.tokens import TokenType

from dbt.adapters.sparkstream.sql.core import types
from dbt.adapters.sparkstream.sql.core.interval import TIME_UNITS
from dbt.adapters.sparkstream.sql.core.matching import NAVIGATION, ROWTIME, match_of
from dbt.adapters.sparkstream.sql.core.names.columns import Resolver
from dbt.adapters.sparkstream.sql.core.nodes import JsonConstructor, is_written_by_values
from dbt.adapters.sparkstream.sql.core.over import parts_of
from dbt.adapters.sparkstream.sql.core.source import Edit, Kept, Source, Span
from dbt.adapters.sparkstream.sql.core.windows import AUXILIARY, GROUP_WINDOWS
from dbt.adapters.sparkstream.sql.passes.flink import clocks, instants
from dbt.adapters.sparkstream.sql.passes.flink.aggregates import collect
from dbt.adapters.sparkstream.sql.passes.flink.calls import FlinkCall, RefusedError, UntypedError
from dbt.adapters.sparkstream.sql.passes.flink.clauses import QUANTIFIERS
from dbt.adapters.sparkstream.sql.passes.flink.constructs import is_exists_of_values
from dbt.adapters.sparkstream.sql.passes.flink.datetime import DATE_UNITS, MILLIS, difference
from dbt.adapters.sparkstream.sql.passes.flink.frames import ends_before_start, heeded, is_unheeded, leaves_peers_out
from dbt.adapters.sparkstream.sql.passes.flink.functions import AGGREGATES, FUNCTIONS, renamed
from dbt.adapters.sparkstream.sql.passes.flink.multisets import is_taken_apart, is_unnested
from dbt.adapters.sparkstream.sql.passes.flink.nullability import can_be_null
from dbt.adapters.sparkstream.sql.passes.flink.rewriter import Rewriter
from dbt.adapters.sparkstream.sql.passes.flink.unheeded import NEIGHBOURS, UNORDERED
from dbt.adapters.sparkstream.sql.passes.flink.variants import is_json

_OTHER_CALLS = frozenset({"TIMESTAMPADD", "TIMESTAMPDIFF", *AUXILIARY, *GROUP_WINDOWS})
"""Calls that are no entry of the function table, as another place translates them or Spark has them as they are."""
_UTC_UNITS = {
    "DAY": (24, "HOUR"),
    "WEEK": (168, "HOUR"),
    "MONTH": (1, "MONTH"),
    "QUARTER": (3, "MONTH"),
    "YEAR": (12, "MONTH"),
}
"""Units that Flink adds to an instant on the clock of UTC, in hours or months."""
_DISTINCT_OVER = ("COUNT", "MIN", "MAX", "")
"""Aggregates that Spark can be told with DISTINCT and OVER."""


def _is_no_call(node: exp.Expr, name: str) -> bool:
    """Whether another place translates a node: `ALL (...)`, a unit of an interval, `EXISTS (VALUES ...)`, JSON."""
    of_interval = isinstance(node.parent, (exp.Interval, exp.IntervalSpan))
    return name in _OTHER_CALLS or name in QUANTIFIERS or of_interval or is_exists_of_values(node) or is_json(node)


class Invocations(Rewriter):
    """Edits calls of functions, with their windows."""

    def __init__(self, source: Source, resolver: Resolver) -> None:
        super().__init__(source, resolver)
        self.handlers = {
            exp.Anonymous: self._call,
            exp.Window: self._window,
        }

    def _call(self, node: exp.Expr) -> Iterator[Edit]:
        assert isinstance(node, exp.Anonymous)
        name = node.name.upper()
        span = self.source.call_span(node)
        if name in ("TIMESTAMPADD", "TIMESTAMPDIFF"):
            yield from self._timestamp_arithmetic(node, name, span)
            return
        if _is_no_call(node, name):
            return
        if name in (*NAVIGATION, ROWTIME, *AGGREGATES) and match_of(node) is not None:
            return  # it reads the rows of a match (passes/match)
        function = FUNCTIONS.get(name)
        if function is None:
            return  # Spark's own
        given = [a.this if isinstance(a, exp.Order) else a for a in node.expressions]
        if given != node.expressions and name != UNORDERED:
            return
        skips_nulls = any(isinstance(a, exp.IgnoreNulls) for a in given)
        plain = [a.this if isinstance(a, (exp.IgnoreNulls, exp.RespectNulls)) else a for a in given]
        if plain != given and name != UNORDERED:
            return
        given = plain
        arguments = [a for a in given if not isinstance(a, exp.Distinct)]
        distinct = [a for a in given if isinstance(a, exp.Distinct)]
        arguments += [inner for a in distinct for inner in a.expressions]
        if function.arguments and not function.arguments[0] <= len(arguments) <= function.arguments[1]:
            return
        yield from self._without_all(span)
        outer = self._outer(node, name)
        if outer is None:
            return
        if isinstance(outer, exp.Window) and isinstance(node.parent, (exp.IgnoreNulls, exp.RespectNulls)):
            words = self.source.tokens_in((span[1], self.source.span(outer)[1]))
            yield Edit((words[0].start, words[2].start), lambda: "")  # IGNORE NULLS, which OVER follows
        if name == "NTILE" and arguments and self.text(arguments[0]).lstrip("-0") in ("", "."):
            self.refuse(span, "NTILE takes a number of groups, and 0 is none", "write NTILE(4)")
        if function.rewrite is None or (name == "ROW" and is_written_by_values(node)):
            return
        rewrite = self._collected(node, span) if name == "COLLECT" else function.rewrite
        whole = self.source.span(outer) if outer is not node else span
        types_ = tuple(self.type(a) for a in arguments)

        def text() -> str:
            call = FlinkCall(
                name=self.source.text[node.meta["start"] : node.meta["end"] + 1],
                args=tuple(self.text(a) for a in arguments),
                types=types_,
                literals=tuple(a.name if isinstance(a, exp.Literal) and a.is_string else None for a in arguments),
                distinct=bool(distinct),
                suffix=self.source.render((span[1], whole[1])),
                nested=tuple(isinstance(a, JsonConstructor) for a in arguments),
                skips_nulls=skips_nulls,
                nullable=tuple(map(can_be_null, arguments)) if name == "TYPEOF" else (),
            )
            try:
                return rewrite(call)
            except UntypedError:
                return call.same()
            except RefusedError as error:
                raise self.source.error(span, str(error), error.hint) from None

        yield Edit((span[0], whole[1]), text)

    def _collected(self, node: exp.Anonymous, span: Span) -> Callable[[FlinkCall], str]:
        """COLLECT, which is an array where only UNNEST reads it."""
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
        """Leaves the ALL of `SUM(ALL x)` out, which says nothing."""
        inner = self.source.tokens_in(span)[2:4]
        if len(inner) == 2 and inner[0].token_type == TokenType.ALL:
            yield Edit((inner[0].start, inner[1].start), lambda: "")

    def _outer(self, node: exp.Anonymous, name: str) -> exp.Expr | None:
        """The call with its FILTER and OVER; None where WITHIN GROUP or IGNORE NULLS is there, as Flink has neither."""
        outer: exp.Expr = node
        while isinstance(outer.parent, (exp.Filter, exp.Window, exp.WithinGroup, exp.IgnoreNulls, exp.RespectNulls)):
            if outer.arg_key != "this":
                break
            outer = outer.parent
            skips = isinstance(outer, (exp.IgnoreNulls, exp.RespectNulls)) and name not in NEIGHBOURS
            if skips or isinstance(outer, exp.WithinGroup):
                return None
        return outer

    def _timestamp_arithmetic(self, node: exp.Anonymous, name: str, span: Span) -> Iterator[Edit]:
        if len(node.expressions) != 3:
            return
        unit, first, last = node.expressions
        word = unit.name.upper().removeprefix("SQL_TSI_")
        if word not in TIME_UNITS:
            return
        if name == "TIMESTAMPADD":
            type_ = self.type(last)
            if type_ is not None and types.is_clock(type_):
                yield Edit(span, lambda: clocks.added(word, self.text(first), self.text(last), type_))
                return
            if type_ == "timestamp" and word in _UTC_UNITS:
                yield Edit(span, lambda: self._later(word, self.text(first), self.text(last)))
                return
            if self.type(last) == "date" and word not in DATE_UNITS:
                yield Edit(self.source.span(last), lambda: f"CAST({self.text(last)} AS TIMESTAMP_NTZ)", level=1)
            elif self.type(last) == "date":
                yield Edit(span, lambda: f"CAST({self.source.render(span)} AS DATE)", level=1)
            if word != unit.name.upper():
                yield self.edit(unit, lambda: word)
            return

        times_of_day = [types.is_clock(self.type(each)) for each in (first, last) if self.type(each) is not None]
        if any(times_of_day) and (not all(times_of_day) or word in ("MONTH", "QUARTER", "YEAR")):
            self.refuse(span, "a TIME is compared with another one, in hours or less", f"write {name}(HOUR, t1, t2)")

        def text() -> str:
            start, end = self.text(first), self.text(last)
            if any(times_of_day):
                return clocks.between(word, start, end)
            kinds = {self.type(first), self.type(last)}
            instants = kinds == {"timestamp"}
            timed = (instants or kinds <= {types.NTZ, "date"}) and word in MILLIS
            if timed or word in ("MONTH", "QUARTER", "YEAR"):
                return difference(word, start, end, instants)
            return f"CAST(TIMESTAMPDIFF({word}, {start}, {end}) AS INT)"

        yield Edit(span, text)

    def _later(self, unit: str, number: str, time: str) -> str:
        """TIMESTAMPADD of an instant: Spark adds hours as they elapse, but days on the clock of the session's zone."""
        count, of = _UTC_UNITS[unit]
        many = number if count == 1 else str(count * int(number)) if number.isdecimal() else f"{count} * ({number})"
        if of == "HOUR":
            return f"TIMESTAMPADD(HOUR, {many}, {time})"
        return instants.months_later(time, "+", f"MAKE_YM_INTERVAL(0, {many})")

    def _unheeded_frame(self, node: exp.Window) -> Iterator[Edit]:
        """Leaves a frame out behind a window's name, and one of rows where nothing orders them, as Flink does."""
        parts, own = parts_of(node), node.args.get("spec")
        if parts.frame is None or (parts.order is not None and not is_unheeded(node)):
            return
        if parts.order is None and (parts.frame.args.get("kind") or "").upper() == "RANGE":
            self.refuse(node, "RANGE needs the order of the rows", "write OVER (... ORDER BY ts RANGE ...)")
        if own is not None and own.args.get("kind") != "GROUPS":  # which Spark refuses
            tokens, span = self.source.tokens, self.source.span(node)
            at = max(i for i in tokens.within(span) if tokens[i].text.upper() in ("ROWS", "RANGE"))
            end = next(i for i in range(at, len(tokens)) if tokens[i].token_type == TokenType.R_PAREN)
            before = tokens[at - 1]
            start = tokens[at].start if before.token_type == TokenType.L_PAREN else before.end + 1
            yield Edit((start, tokens[end].start), lambda: "")

    def _window(self, node: exp.Expr) -> Iterator[Edit]:
        assert isinstance(node, exp.Window)
        own = node.args.get("spec")
        if own is not None and ends_before_start(own):
            self.refuse(
                node,
                "this frame ends before it starts",
                "write the earlier bound first: BETWEEN CURRENT ROW AND 1 FOLLOWING",
            )
        yield from self._unheeded_frame(node)
        if node.arg_key == "windows":
            return
        function = node.this
        name = function.name.upper() if isinstance(function, exp.Anonymous) else ""
        parts = parts_of(node)
        order, frame = parts.order, heeded(node).frame
        if frame is not None and order is not None and leaves_peers_out(frame):
            key = order.expressions[0].this
            empty = " ELSE 0" if "COUNT" in name else ""
            kept = Kept(self.source, self.source.span(key))
            yield kept.edit
            yield Edit(
                self.source.span(node),
                lambda: f"CASE WHEN {kept.text} IS NOT NULL THEN {self.text(node)}{empty} END",
                level=1,
            )
