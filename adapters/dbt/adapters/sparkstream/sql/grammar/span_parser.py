"""The parsers of all dialects: they record the place of every expression, and read calls as they are written."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any, ClassVar

from sqlglot import exp
from sqlglot.tokens import TokenType

from dbt.adapters.sparkstream.sql.core.source import SPAN
from dbt.adapters.sparkstream.sql.grammar.spans import spanned, start_of, with_spans
from dbt.adapters.sparkstream.sql.grammar.window_parser import WindowParser

_OWN_GRAMMAR = ("CAST", "TRY_CAST", "EXTRACT", "CEIL", "FLOOR", "OVERLAY", "POSITION", "SUBSTRING", "TRIM")
"""Functions whose arguments have a grammar of their own, such as `CAST(x AS INT)`."""

_UNIT_FIRST = ("DATEADD", "DATE_ADD", "DATEDIFF", "DATE_DIFF", "TIMESTAMPADD", "TIMESTAMPDIFF")
"""Functions that take the name of a unit before two values."""


_SPANS = {("YEAR", "MONTH"), *combinations(("DAY", "HOUR", "MINUTE", "SECOND"), 2)}
"""First and last unit of a length of time: `INTERVAL '1-2' YEAR TO MONTH`."""

_PLACED = ("statement", "table", "cte", "expression", "function", "lambda", "unary", "ordered")
"""Pieces of the grammar that get their span; operators follow from these."""


@with_spans(*(f"_parse_{piece}" for piece in _PLACED))
class SpanParser(WindowParser):
    """Records the span of every expression; an operator with an operand on each side spans both operands.

    A call is a name and its arguments (`exp.Anonymous`), in every dialect: what it means, the passes know.
    """

    FUNCTIONS: ClassVar[dict[str, Callable[..., Any]]] = {}
    FUNCTION_PARSERS = {name: WindowParser.FUNCTION_PARSERS[name] for name in _OWN_GRAMMAR}
    RANGE_PARSERS = {token: spanned(read) for token, read in WindowParser.RANGE_PARSERS.items()}

    def _parse_function_call(self, *args: Any, **kwargs: Any) -> exp.Expr | None:
        call = super()._parse_function_call(*args, **kwargs)
        if isinstance(call, exp.Anonymous) and call.name.upper() in _UNIT_FIRST and len(call.expressions) == 3:
            _name_no_column(call.expressions[0])  # MONTH in DATEADD(MONTH, 1, d)
        return call

    def _parse_paren(self) -> exp.Expr | None:
        return self._parse_parentheses() if self._curr.token_type == TokenType.L_PAREN else None

    def _parse_grouping_set(self) -> exp.Expr | None:
        return self._parse_grouping_sets() or self._parse_cube_or_rollup() or self._parse_disjunction()

    def _parse_cube_or_rollup(self, with_prefix: bool = False) -> exp.Cube | exp.Rollup | None:
        """`CUBE (a, b > 3)`: sqlglot reads no conditions there."""
        kind: type[exp.Cube | exp.Rollup] = exp.Rollup
        if self._match(TokenType.CUBE):
            kind = exp.Cube
        elif not self._match(TokenType.ROLLUP):
            return None
        keys = [] if with_prefix else self._parse_wrapped_csv(self._parse_disjunction)
        return self.expression(kind(expressions=keys))

    @spanned
    def _parse_parentheses(self) -> exp.Expr | None:
        return super()._parse_paren()


class ForeignParser(SpanParser):
    """Reads arrays in brackets and lengths of time, which other systems write otherwise than Spark."""

    def _parse_bracket(self, this: exp.Expr | None = None) -> exp.Expr | None:
        self._note_brackets(this)  # [1] has just been read, of [1][2]
        node = super()._parse_bracket(this)
        self._note_brackets(node)
        return node

    def _parse_is_rhs(self, distinct: bool = False) -> exp.Expr | None:
        """`a IS DISTINCT FROM b < c` compares a and b first, where Spark compares b and c."""
        return self._parse_range() if distinct else super()._parse_is_rhs()

    def _note_brackets(self, node: exp.Expr | None) -> None:
        """Records the span of an array or a subscript whose last bracket has just been read."""
        if not isinstance(node, (exp.Array, exp.Bracket)) or self._prev.token_type != TokenType.R_BRACKET:
            return
        at = self._brackets.opening(self._index - 1)
        if at is None or SPAN in node.meta:
            return
        if isinstance(node, exp.Bracket):
            if node.this.name.upper() == "MAP":
                _name_no_column(node.this)  # MAP['a', 1]
            start = start_of(node.this)
            if start is not None:
                node.meta[SPAN] = start, self._prev.end + 1
            return
        first = at - 1 if at and self._tokens[at - 1].text.upper() == "ARRAY" else at
        node.meta[SPAN] = self._tokens[first].start, self._prev.end + 1

    def _parse_interval_span(self, *args: Any, **kwargs: Any) -> exp.Interval:
        """A length of time. In `FLOOR(d - INTERVAL '1' YEAR TO WEEK)`, TO is FLOOR's: no length is YEAR TO WEEK."""
        length = super()._parse_interval_span(*args, **kwargs)
        span = length.args.get("unit")
        if not (isinstance(span, exp.IntervalSpan) and self._match(TokenType.R_PAREN, advance=False)):
            return length
        if (span.this.name.upper(), span.expression.name.upper()) not in _SPANS:
            self._retreat(self._index - 2)
            length.set("unit", span.this)
        return length


def _name_no_column(node: exp.Expr) -> None:
    """Makes a word of the grammar of what sqlglot takes for a column."""
    if isinstance(node, exp.Column) and not node.table and not node.this.args.get("quoted"):
        node.replace(exp.Var(this=node.name).update_positions(node.this))
