"""Spark SQL with our windows, every call a name and arguments, and the place of each expression noted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from sqlglot import exp
from sqlglot.tokens import Token, TokenType

from dbt.adapters.sparkstream.sql.dialects.openmldb import KEPT_FUNCTIONS
from dbt.adapters.sparkstream.sql.dialects.sparkstream import SparkStream
from dbt.adapters.sparkstream.sql.grammar.scan import may_have_rules
from dbt.adapters.sparkstream.sql.grammar.span_parser import EXPRESSIONS
from dbt.adapters.sparkstream.sql.grammar.spans import with_spans
from dbt.adapters.sparkstream.sql.grammar.window_parser import WindowParser

_BINARY = ("factor_operand", "factor", "term", "bitwise", "comparison", "equality", "conjunction", "disjunction")
_NOTED = tuple(name for name in EXPRESSIONS if name.removeprefix("_parse_") not in _BINARY)
"""An operator with an operand on each side is where these are; noting that costs time."""


class SparkSpans(SparkStream):
    """What the optimiser reads; no dialect for users."""

    # The span of a SELECT stays its own, without a WITH before it.
    @with_spans(*_NOTED)
    class Parser(WindowParser):
        FUNCTIONS: ClassVar[dict[str, Callable[..., Any]]] = {}
        FUNCTION_PARSERS = {name: WindowParser.FUNCTION_PARSERS[name] for name in KEPT_FUNCTIONS}

        def parse(self, raw_tokens: list[Token], sql: str) -> list[exp.Expr | None]:
            self.noted = self.places(raw_tokens)
            return super().parse(raw_tokens, sql)

        def places(self, tokens: list[Token]) -> bytearray | None:
            """For each token, and the end, whether what begins there is noted; None for everything."""
            # Noting costs as much as parsing: only in the queries that a rule may be for.
            return _queries_over_windows(tokens)


class WholeSpans(SparkSpans):
    """The same, with the places of the expressions in all queries."""

    class Parser(SparkSpans.Parser):
        def places(self, tokens: list[Token]) -> bytearray | None:
            return None


def _queries_over_windows(tokens: list[Token]) -> bytearray:
    """For each token, and the end, whether it stands in a SELECT that reads a window which has rules."""
    noted = bytearray(len(tokens) + 1)
    for at in range(len(tokens) - 1):
        if may_have_rules(tokens, at):
            first = _select_before(tokens, at)
            last = _end_of_query(tokens, first)
            noted[first:last] = b"\1" * (last - first)
            joining = _join_around(tokens, first, last)
            if joining is not None:
                first, last = joining, _end_of_query(tokens, joining)
                noted[first:last] = b"\1" * (last - first)
    return noted


def _join_around(tokens: list[Token], first: int, last: int) -> int | None:
    """Where the SELECT begins that joins the rows of a query, from its SELECT to its end; None if none does."""
    if first < 2 or tokens[first - 1].token_type != TokenType.L_PAREN:
        return None
    before = tokens[first - 2].token_type
    if before not in (TokenType.FROM, TokenType.JOIN):
        return None
    if any(token.token_type == TokenType.GROUP_BY for token in tokens[first:last]):
        return None
    around = _select_before(tokens, first - 1)
    joins = any(t.token_type == TokenType.JOIN for t in tokens[around : _end_of_query(tokens, around)])
    return around if joins else None


def _select_before(tokens: list[Token], at: int) -> int:
    """Where the innermost SELECT around a token begins."""
    depth = 0
    for i in range(at - 1, -1, -1):
        kind = tokens[i].token_type
        depth = max(0, depth + (kind == TokenType.R_PAREN) - (kind == TokenType.L_PAREN))
        if kind == TokenType.SELECT and depth == 0:
            return i
    return 0


def _end_of_query(tokens: list[Token], first: int) -> int:
    depth = 0
    for i in range(first, len(tokens)):
        kind = tokens[i].token_type
        depth += (kind == TokenType.L_PAREN) - (kind == TokenType.R_PAREN)
        if depth < 0:
            return i + 1
    return len(tokens) + 1
