"""One SELECT as pieces of text: its projections, FROM, WHERE and WINDOW clause, and the calls in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sqlglot import exp
from sqlglot.tokens import Token, TokenType

from dbt.adapters.sparkstream.sql.core.source import SPAN, Source, Span
from dbt.adapters.sparkstream.sql.grammar.specs import LastJoin

_CLAUSES = {
    TokenType.FROM: "from",
    TokenType.WHERE: "where",
    TokenType.GROUP_BY: "group",
    TokenType.HAVING: "having",
    TokenType.WINDOW: "window",
    TokenType.ORDER_BY: "order",
    TokenType.SORT_BY: "sort",
    TokenType.CLUSTER_BY: "cluster",
    TokenType.DISTRIBUTE_BY: "distribute",
    TokenType.LIMIT: "limit",
    TokenType.OFFSET: "offset",
    TokenType.UNION: "union",
    TokenType.EXCEPT: "except",
    TokenType.INTERSECT: "intersect",
}


class Block:
    """A SELECT of a statement.

    Attributes:
        select: its node.
        span: from SELECT to the end of its last clause.
        projections: where each item of the SELECT list stands, with its alias.
        clauses: clause -> the span from its keyword to its end.
    """

    def __init__(self, source: Source, select: exp.Select) -> None:
        self.source = source
        self.select = select
        tokens = source.tokens_in(select.meta[SPAN])
        tokens = tokens[_select_at(tokens) :]  # without the CTEs
        self.span: Span = tokens[0].start, select.meta[SPAN][1]
        self.clauses: dict[str, Span] = {}
        self._split(tokens)

    def _split(self, tokens: list[Token]) -> None:
        joins = [j.meta[SPAN] for j in self.select.find_all(LastJoin) if j.find_ancestor(exp.Select) is self.select]
        skipped = {t.start for join in joins for t in self.source.tokens_in(join)}
        depth = 0
        starts: list[tuple[str, Token]] = [("select", tokens[0])]
        commas: list[int] = []
        for i, token in enumerate(tokens):
            kind = token.token_type
            depth += (kind == TokenType.L_PAREN) - (kind == TokenType.R_PAREN)
            if depth or not i or token.start in skipped:
                continue
            if kind == TokenType.COMMA and starts[-1][0] == "select":
                commas.append(token.start)
            elif kind in _CLAUSES and not self._is_operand(starts[-1][0], tokens, i):
                starts.append((_CLAUSES[kind], token))
        ends = [*(self._before(tokens, t) for _, t in starts[1:]), self.span[1]]
        self.clauses = {name: (token.start, end) for (name, token), end in zip(starts, ends, strict=True)}
        first = self._list_start(tokens)
        bounds = [first, *(c + 1 for c in commas)], [*commas, self.clauses["select"][1]]
        self.projections = [self.trim((a, b)) for a, b in zip(*bounds, strict=True)]

    @staticmethod
    def _is_operand(clause: str, tokens: list[Token], i: int) -> bool:
        """Whether a keyword is part of an expression: IS DISTINCT FROM, a column named window."""
        kind = tokens[i].token_type
        if kind == TokenType.FROM:
            return tokens[i - 1].token_type == TokenType.DISTINCT
        if kind == TokenType.WINDOW:
            return clause == "select" or i + 2 >= len(tokens) or tokens[i + 2].token_type != TokenType.ALIAS
        if kind in (TokenType.EXCEPT, TokenType.OFFSET):
            return clause == "select"
        return False

    @staticmethod
    def _before(tokens: list[Token], token: Token) -> int:
        return tokens[next(i for i, t in enumerate(tokens) if t is token) - 1].end + 1

    @staticmethod
    def _list_start(tokens: list[Token]) -> int:
        """Where the first item of the SELECT list begins."""
        i = 1
        while i < len(tokens) and (
            tokens[i].token_type in (TokenType.DISTINCT, TokenType.ALL, TokenType.HINT)
            or (
                tokens[i].text.upper() == "STREAM"
                and i == 1
                and len(tokens) > 2
                and tokens[2].token_type not in (TokenType.COMMA, TokenType.DOT, TokenType.FROM, TokenType.ALIAS)
            )
        ):
            i += 1
        return tokens[i].start if i < len(tokens) else tokens[-1].end + 1

    def trim(self, span: Span) -> Span:
        """A span without the white space and comments around it."""
        tokens = self.source.tokens_in(span)
        return (tokens[0].start, tokens[-1].end + 1) if tokens else span

    def text(self, span: Span, replaced: Iterable[tuple[Span, str]] = ()) -> str:
        """The text of a span with the edits made so far, and other text in the place of some pieces of it."""
        out: list[str] = []
        at = span[0]
        for (first, last), text in sorted(replaced):
            if first < at or last > span[1]:
                continue
            out += (self.source.render((at, first)), text)
            at = last
        out.append(self.source.render((at, span[1])))
        return "".join(out)

    def condition(self) -> str | None:
        """The condition of WHERE."""
        if "where" not in self.clauses:
            return None
        start, end = self.clauses["where"]
        return self.text(self.trim((start + len("where"), end)))

    def columns(self, span: Span) -> Iterator[exp.Column]:
        """The columns of this SELECT itself, not of queries within it, that stand in a span."""
        for column in self.select.find_all(exp.Column):
            if column.find_ancestor(exp.Select) is not self.select:
                continue
            place = self.source.span(column)
            if span[0] <= place[0] and place[1] <= span[1]:
                yield column


def _select_at(tokens: list[Token]) -> int:
    """Where SELECT stands among the tokens of a query, behind its CTEs."""
    depth = 0
    for i, token in enumerate(tokens):
        depth += (token.token_type == TokenType.L_PAREN) - (token.token_type == TokenType.R_PAREN)
        if depth == 0 and token.token_type == TokenType.SELECT:
            return i
    return 0


def inside(inner: Span, outer: Span) -> bool:
    """Whether a span lies within another, or is the same."""
    return outer[0] <= inner[0] and inner[1] <= outer[1]
