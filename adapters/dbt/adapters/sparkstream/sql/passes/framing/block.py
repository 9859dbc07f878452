"""One SELECT as pieces of text: its projections, FROM, WHERE and WINDOW clause, and the calls in it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence

from sqlglot import exp
from sqlglot.tokens import TokenType

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
_BEHIND_NAME = (TokenType.COMMA, TokenType.DOT, TokenType.FROM, TokenType.ALIAS)
"""What stands behind a column: the STREAM of `SELECT STREAM, x` is one."""


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
        tokens, places = source.tokens, source.tokens.within(select.meta[SPAN])
        level = tokens.level(places.start, places.stop)
        # The CTEs before SELECT are no part of it.
        first = next((i for i in level if tokens[i].token_type == TokenType.SELECT), places.start)
        self.span: Span = tokens[first].start, select.meta[SPAN][1]
        self.clauses: dict[str, Span] = {}
        self._split(range(first, places.stop))

    def _split(self, places: range) -> None:
        tokens = self.source.tokens
        joins = [j.meta[SPAN] for j in self.select.find_all(LastJoin) if j.find_ancestor(exp.Select) is self.select]
        skipped = {i for join in joins for i in tokens.within(join)}
        starts = [("select", places.start)]
        commas: list[int] = []
        for i in tokens.level(places.start + 1, places.stop):
            kind = tokens[i].token_type
            if i in skipped:
                continue
            if kind == TokenType.COMMA and starts[-1][0] == "select":
                commas.append(tokens[i].start)
            elif kind in _CLAUSES and not self._is_operand(starts[-1][0], i, places):
                starts.append((_CLAUSES[kind], i))
        ends = [*(tokens[i - 1].end + 1 for _, i in starts[1:]), self.span[1]]
        self.clauses = {name: (tokens[i].start, end) for (name, i), end in zip(starts, ends, strict=True)}
        first = self._list_start(places)
        bounds = [first, *(c + 1 for c in commas)], [*commas, self.clauses["select"][1]]
        items = list(zip(*bounds, strict=True))
        if len(items) > 1 and not tokens.within(items[-1]):  # a comma before FROM (OpenMLDB)
            items.pop()
        if len(items) > 1 and (gap := next((item for item in items if not tokens.within(item)), None)):
            raise self.source.error((gap[1], gap[1] + 1), "nothing stands before this comma", "leave it out")
        self.projections = [self.trim(item) for item in items]

    def _is_operand(self, clause: str, i: int, places: range) -> bool:
        """Whether a keyword is part of an expression: IS DISTINCT FROM, a column named window."""
        tokens = self.source.tokens
        kind = tokens[i].token_type
        if kind == TokenType.FROM:
            counted = [token.text.upper() for token in tokens[i + 1 : i + 3]]
            side = counted[:1] in (["FIRST"], ["LAST"]) and counted[1:] in (["OVER"], ["IGNORE"], ["RESPECT"])
            return tokens[i - 1].token_type == TokenType.DISTINCT or (clause == "select" and side)
        if kind == TokenType.WINDOW:
            return clause == "select" or i + 2 not in places or tokens[i + 2].token_type != TokenType.ALIAS
        if kind in (TokenType.EXCEPT, TokenType.OFFSET):
            return clause == "select"
        return False

    def _list_start(self, places: range) -> int:
        """Where the first item of the SELECT list begins."""
        tokens = self.source.tokens
        i = places.start + 1
        if i + 1 in places and tokens[i].text.upper() == "STREAM" and tokens[i + 1].token_type not in _BEHIND_NAME:
            i += 1
        while i in places and tokens[i].token_type in (TokenType.DISTINCT, TokenType.ALL, TokenType.HINT):
            i += 1
        return tokens[i].start if i in places else tokens[places.stop - 1].end + 1

    def trim(self, span: Span) -> Span:
        """A span without the white space and comments around it."""
        tokens = self.source.tokens_in(span)
        return (tokens[0].start, tokens[-1].end + 1) if tokens else span

    def text(self, span: Span, replaced: Iterable[tuple[Span, str]] = (), rendered: Collection[Span] = ()) -> str:
        """The text of a span with the edits made so far, and other text in the place of some pieces of it.

        Args:
            rendered: the pieces whose text holds what edits have inserted at their end.
        """
        out: list[str] = []
        at, behind = span[0], False
        for (first, last), text in sorted(replaced):
            if first < at or last > span[1]:
                continue
            out += (self.source.render((at, first), behind=behind), text)
            at, behind = last, (first, last) in rendered
        out.append(self.source.render((at, span[1]), behind=behind))
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


def holding(span: Span, spans: Sequence[Span]) -> int | None:
    """Which of some spans a span lies in; None if it lies in none.

    Args:
        spans: spans side by side, in the order of the text, such as the items of a SELECT list.
    """
    before = bisect_right(spans, span[0], key=lambda s: s[0]) - 1
    return before if before >= 0 and span[1] <= spans[before][1] else None


def inside(inner: Span, outer: Span) -> bool:
    """Whether a span lies within another, or is the same."""
    return outer[0] <= inner[0] and inner[1] <= outer[1]
