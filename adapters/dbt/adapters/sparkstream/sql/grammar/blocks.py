"""The queries that a statement is made of, told by its tokens: where sqlglot knows less of Spark SQL than Spark.

Spark's syntax grows with each version (pipes, variant paths, options of tables), and a query without a construct of
ours needs no understanding. So a statement that can't be parsed is cut into its blocks: queries in parentheses, the
operands of UNION and the like, what stands behind the CTEs. A block that can't be parsed and holds no construct of
ours, outside of its inner blocks, becomes an `Opaque`; every other block has to be parsed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.errors import ParseError
from sqlglot.tokens import Token, TokenType

from dbt.adapters.sparkstream.sql.core.nodes import Opaque
from dbt.adapters.sparkstream.sql.core.source import SPAN
from dbt.adapters.sparkstream.sql.core.tokens import Tokens

_QUERY_WORDS = ("SELECT", "WITH", "FROM", "VALUES", "TABLE", "MAP", "REDUCE")
_NAMES = (TokenType.VAR, TokenType.IDENTIFIER, TokenType.SESSION)
_OPERATORS = (TokenType.UNION, TokenType.EXCEPT, TokenType.INTERSECT)
_BEHIND_OPERATOR = ("ALL", "DISTINCT")
_TRIES = 20
"""Most parses of each token, on average: blocks in blocks that can't be parsed are parsed again and again."""

Parse = Callable[[list[Token], dict[int, exp.Expr]], exp.Expr]
"""Parses tokens, with trees for some of them: the place in the text where such a token begins -> its tree."""


@dataclass(frozen=True)
class _Header:
    """CTEs before a query: the place of the first token behind them, and the tokens that sqlglot doesn't know there."""

    end: int
    unknown: frozenset[int]


class Blocks:
    """Parses a statement block by block.

    Args:
        tokens: the statement's tokens.
        parse: parses some of them.
        ours: the places of tokens that are a construct of ours for certain.
    """

    def __init__(self, tokens: Tokens, parse: Parse, ours: frozenset[int]) -> None:
        self._tokens = tokens
        self._parse = parse
        self._ours = ours
        self._left = _TRIES * len(tokens)

    def read(self) -> exp.Expr:
        """The tree of the statement.

        Raises:
            ParseError: a block that holds a construct of ours can't be parsed.
        """
        return self._read(range(len(self._tokens)))[0]

    def _read(self, block: range) -> tuple[exp.Expr, bool]:
        """The tree of a block, and whether sqlglot parses all of it; else it is opaque, or has opaque blocks."""
        try:
            return self._tried(self._tokens[block.start : block.stop], {}), True
        except ParseError as error:
            fault = error
        header = self._header(block)
        inner = list(self._inner(block, header))
        read = {part: self._read(part) for part in inner}
        trees = {part: tree for part, (tree, _) in read.items()}
        covered = {part: tree for part, (tree, parsed) in read.items() if not parsed}
        # sqlglot parses `TABLE t` alone, and fails on `EXISTS (TABLE t)`.
        for known in (covered, trees) if covered != trees else (trees,):
            if known or header.unknown:
                try:
                    return self._tried(*self._with_trees(block, known, header)), False
                except ParseError as error:
                    fault = error
        if any(i in block and not any(i in part for part in inner) for i in self._ours):
            raise fault
        opaque = Opaque(queries=list(trees.values()))
        opaque.meta[SPAN] = self._tokens.span(block)
        return opaque, False

    def _tried(self, tokens: list[Token], trees: dict[int, exp.Expr]) -> exp.Expr:
        self._left -= len(tokens)
        if self._left < 0:
            raise ParseError("this isn't expected here")
        return self._parse(tokens, trees)

    def _with_trees(
        self, block: range, covered: dict[range, exp.Expr], header: _Header
    ) -> tuple[list[Token], dict[int, exp.Expr]]:
        """A block's tokens with a SELECT for each covered block, and which tree stands for it."""
        tokens: list[Token] = []
        trees: dict[int, exp.Expr] = {}
        at = block.start
        for part, tree in covered.items():
            tokens += (self._tokens[i] for i in range(at, part.start) if i not in header.unknown)
            first = self._tokens[part.start]
            start, end = self._tokens.span(part)
            tokens.append(Token(TokenType.SELECT, "SELECT", first.line, first.col, start, end - 1))
            trees[start] = tree
            at = part.stop
        tokens += (self._tokens[i] for i in range(at, block.stop) if i not in header.unknown)
        return tokens, trees

    # -- blocks of a block ---------------------------------------------------------------------------
    def _inner(self, block: range, header: _Header) -> Iterator[range]:
        """The outermost blocks within a block, in the order of the text."""
        tokens = self._tokens
        if header.end > block.start:
            yield from self._queries(range(block.start, header.end))
            yield range(header.end, block.stop)
            return
        level = list(tokens.level(block.start, block.stop))
        query = next((i for i in level if tokens[i].token_type in (TokenType.SELECT, TokenType.WITH)), block.start)
        if not self._begins_query(block.start) and query > block.start:
            yield from self._queries(range(block.start, query))
            yield range(query, block.stop)
            return
        inside = (i for i in level if i > block.start and tokens[i - 1].token_type is not TokenType.STAR)
        operators = [i for i in inside if tokens[i].token_type in _OPERATORS]
        if not operators or any(tokens[i].token_type is TokenType.PIPE_GT for i in level):
            yield from self._queries(block)
            return
        starts = [block.start, *(self._operand(i) for i in operators)]
        yield from (range(a, b) for a, b in zip(starts, [*operators, block.stop], strict=True) if a < b)

    def _queries(self, block: range) -> Iterator[range]:
        """Contents of the outermost parentheses of a block that hold a query."""
        at = block.start
        for opening in self._tokens.parentheses:
            closing = self._tokens.closing(opening)
            if opening < at or closing is None or closing >= block.stop or not self._begins_query(opening + 1):
                continue
            yield range(opening + 1, closing)
            at = closing

    def _begins_query(self, i: int) -> bool:
        """True if a query begins at a token; `f(TABLE t)` and `f((SELECT 1), 2)` are calls."""
        first = i
        while i < len(self._tokens) and self._tokens[i].token_type is TokenType.L_PAREN:
            i += 1
        word = self._tokens[i].text.upper() if i < len(self._tokens) else ""
        called = first > 1 and self._tokens[first - 2].token_type in _NAMES
        return word in _QUERY_WORDS and not (called and (word == "TABLE" or i > first))

    def _operand(self, operator: int) -> int:
        """The first token behind an operator and its ALL, such as UNION ALL."""
        behind = operator + 1
        return behind + (behind < len(self._tokens) and self._tokens[behind].text.upper() in _BEHIND_OPERATOR)

    def _header(self, block: range) -> _Header:
        """End and names of the CTEs at a block's beginning; the block's start and no names without CTEs."""
        tokens, none = self._tokens, _Header(block.start, frozenset())
        if len(block) < 2 or tokens[block.start].token_type is not TokenType.WITH:
            return none
        at = block.start + 1 + (tokens[block.start + 1].token_type is TokenType.RECURSIVE)
        unknown: set[int] = set()
        while True:
            at += 1  # the name
            while at < block.stop and not (tokens[at].token_type is TokenType.L_PAREN and self._begins_query(at + 1)):
                if tokens[at].token_type is TokenType.L_PAREN:
                    at = tokens.behind(at)
                    continue
                if tokens[at].token_type is not TokenType.ALIAS:
                    unknown.add(at)  # such as MAX RECURSION LEVEL 10
                at += 1
            at = tokens.behind(at) if at < block.stop else block.stop
            if at >= block.stop:
                return none
            if tokens[at].token_type is not TokenType.COMMA:
                return _Header(at, frozenset(unknown))
            at += 1
