"""The parser that notes the place of every expression."""

from __future__ import annotations

from typing import Any

from sqlglot import exp
from sqlglot.tokens import TokenType

from dbt.adapters.sparkstream.sql.core.source import SPAN
from dbt.adapters.sparkstream.sql.grammar.spans import with_spans
from dbt.adapters.sparkstream.sql.grammar.window_parser import WindowParser

EXPRESSIONS = (
    "_parse_table",
    "_parse_cte",
    "_parse_function",
    "_parse_column",
    "_parse_primary",
    "_parse_unary",
    "_parse_types",
    "_parse_factor_operand",
    "_parse_factor",
    "_parse_term",
    "_parse_bitwise",
    "_parse_range",
    "_parse_comparison",
    "_parse_equality",
    "_parse_conjunction",
    "_parse_disjunction",
    "_parse_expression",
)
"""The parse methods of expressions and of what stands in FROM."""


@with_spans("_parse_statement", "_parse_select", *EXPRESSIONS)
class SpanParser(WindowParser):
    """Notes the span of every expression, for dialects whose expressions are edited."""

    def _parse_bracket(self, this: exp.Expr | None = None) -> exp.Expr | None:
        self._note_array(this)  # [1] has just been read, of [1][2]
        node = super()._parse_bracket(this)
        self._note_array(node)
        return node

    def _note_array(self, node: exp.Expr | None) -> None:
        """Notes the span of an array whose last bracket has just been read."""
        if not isinstance(node, exp.Array) or SPAN in node.meta or self._prev.token_type != TokenType.R_BRACKET:
            return
        depth, at = 0, self._index
        while depth or at == self._index:
            at -= 1
            kind = self._tokens[at].token_type
            depth += (kind == TokenType.R_BRACKET) - (kind == TokenType.L_BRACKET)
        first = at - 1 if at and self._tokens[at - 1].text.upper() == "ARRAY" else at
        node.meta[SPAN] = self._tokens[first].start, self._prev.end + 1

    def _parse_interval(self, *args: Any, **kwargs: Any) -> exp.Add | exp.Interval | None:
        first = self._curr
        node = super()._parse_interval(*args, **kwargs)
        if isinstance(node, exp.Add):  # INTERVAL 1 HOUR 2 MINUTES: sqlglot has made a sum of it
            raise self._error(
                "an interval has one number and one unit", "write INTERVAL '1:30' HOUR TO MINUTE", first, self._prev
            )
        return node
