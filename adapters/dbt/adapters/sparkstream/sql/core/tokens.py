"""The tokens of a text, and which of them belong together."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import cached_property

from sqlglot.tokens import Token, TokenType

from dbt.adapters.sparkstream.sql.core.traced import Span

_TEXTS = frozenset("()[]")
_BRACKETS = (TokenType.L_PAREN, TokenType.R_PAREN, TokenType.L_BRACKET, TokenType.R_BRACKET)


class Tokens(list[Token]):
    """The tokens of a text, and an index of its brackets that one pass makes when it is first needed.

    Every number that a method takes or gives is the place of a token in the list, so nothing copies or counts tokens.
    Both kinds of brackets count, `( )` and `[ ]`. Of `SELECT f(a, b) FROM t` the tokens are

        0 SELECT  1 f  2 (  3 a  4 ,  5 b  6 )  7 FROM  8 t

    so `closing(2)` is 6, `around(4)` is 2, `around(7)` is None, and `level(0)` gives 0, 1, 2, 7 and 8.
    Nothing changes the list once the index is made.
    """

    # -- places --------------------------------------------------------------------------------------
    @cached_property
    def _starts(self) -> list[int]:
        return [token.start for token in self]

    def at(self, offset: int) -> int:
        """The last token that begins at a character or before it."""
        return bisect_right(self._starts, offset) - 1

    def within(self, span: Span) -> range:
        """The tokens that begin within a span."""
        return range(bisect_left(self._starts, span[0]), bisect_left(self._starts, span[1]))

    def span(self, places: range) -> Span:
        """Span in the text of some tokens, one behind another."""
        return self[places.start].start, self[places.stop - 1].end + 1

    # -- brackets ------------------------------------------------------------------------------------
    @cached_property
    def _brackets(self) -> list[int]:
        """Every bracket, in the order of the text."""
        # Most tokens are none, and a text is compared faster than a kind; but a quoted name may be `(`, too.
        likely = [i for i, token in enumerate(self) if token.text in _TEXTS]
        return [i for i in likely if self[i].token_type in _BRACKETS]

    @cached_property
    def parentheses(self) -> list[int]:
        """Every `(`, in the order of the text."""
        opening = TokenType.L_PAREN
        return [i for i in self._brackets if self[i].token_type is opening]

    @cached_property
    def _pairs(self) -> tuple[dict[int, int], dict[int, int], list[int | None]]:
        """Opening bracket -> closing bracket, closing -> opening, and the bracket open behind each bracket.

        A `)` closes the last open `(`, whatever `[` was opened behind it. What is never closed has the end of the list
        for its closing bracket.
        """
        closings: dict[int, int] = {}
        openings: dict[int, int] = {}
        open_behind: list[int | None] = []
        opened: list[int] = []
        for i in self._brackets:
            kind = self[i].token_type
            if kind is TokenType.L_PAREN or kind is TokenType.L_BRACKET:
                opened.append(i)
            else:
                at = len(opened) - 1
                if kind is TokenType.R_PAREN:
                    while at >= 0 and self[opened[at]].token_type is TokenType.L_BRACKET:
                        at -= 1
                elif at >= 0 and self[opened[at]].token_type is TokenType.L_PAREN:
                    at = -1
                if at >= 0:
                    closings[opened[at]] = i
                    openings[i] = opened[at]
                    del opened[at:]
            open_behind.append(opened[-1] if opened else None)
        closings.update(dict.fromkeys(opened, len(self)))
        return closings, openings, open_behind

    def closing(self, opening: int) -> int | None:
        """The place of the bracket that closes the bracket at a place; None if it is never closed."""
        closing = self._pairs[0].get(opening)
        return None if closing == len(self) else closing

    def opening(self, closing: int) -> int | None:
        """The place of the bracket that the bracket at a place closes; None if nothing opens it."""
        return self._pairs[1].get(closing)

    def behind(self, opening: int) -> int:
        """The place behind a pair of brackets; the end of the list where the opening one is never closed."""
        closing = self.closing(opening)
        return len(self) if closing is None else closing + 1

    def around(self, i: int) -> int | None:
        """The innermost bracket that is open at a token; None outside all brackets."""
        before = bisect_left(self._brackets, i)
        return self._pairs[2][before - 1] if before else None

    def level(self, first: int, last: int | None = None) -> Iterator[int]:
        """Tokens of one level, from `first` up to the bracket that closes the level.

        What brackets on the way hold is skipped: of `a(b, c), d)` come `a`, `(`, `,`, `d` and `)`.

        Args:
            first: where to begin.
            last: the token to end before; the end of the list if None.
        """
        closings = self._pairs[0]
        end = len(self) if last is None else last
        while first < end:
            yield first
            kind = self[first].token_type
            if kind is TokenType.R_PAREN or kind is TokenType.R_BRACKET:
                return
            first = closings.get(first, first) + 1

    def pieces(self, first: int, last: int) -> list[range]:
        """Pieces between the commas of a list, as places of tokens; a piece may be empty.

        Args:
            first: its first token.
            last: the token to end before.
        """
        commas = [i for i in self.level(first, last) if self[i].token_type is TokenType.COMMA]
        return [range(a, b) for a, b in zip([first, *(c + 1 for c in commas)], [*commas, last], strict=True)]

    def deepest(self) -> Token:
        """The token that most brackets and CASEs are open at, each counted with the operators before it in a list."""
        operators, queries = [0], [0]
        depth, most, found = 0, 0, self[0]
        for token in self:
            kind = token.token_type
            if kind in _OPENING:
                operators.append(0)
                queries.append(0)
                depth += 1
            elif kind in _CLOSING and len(operators) > 1:
                depth -= 1 + operators.pop() + queries.pop()
            elif kind in _ENDING:
                depth -= operators[-1]
                operators[-1] = 0
            elif kind in _OPERATORS:
                operators[-1] += 1
                depth += 1
            elif kind in _SETS:
                queries[-1] += 1
                depth += 1
            if depth > most:
                most, found = depth, token
        return found


def with_by(given: list[Token]) -> Tokens:
    """The tokens, where GROUP BY and the like are one token also with a comment between their words."""
    tokens = Tokens(given)
    for i in range(len(given) - 1, 0, -1):
        first, by = given[i - 1], given[i]
        if by.token_type is TokenType.VAR and by.text.upper() == "BY":
            is_word = first.token_type in (TokenType.VAR, TokenType.PARTITION)
            if is_word and (kind := _BY.get(first.text.upper())):
                text = f"{first.text} {by.text}"
                tokens[i - 1 : i + 1] = [Token(kind, text, by.line, by.col, first.start, by.end, first.comments)]
    return tokens


def retyped(token: Token, type_: TokenType) -> Token:
    """A token as one of another type, in the same place."""
    return Token(type_, token.text, token.line, token.col, token.start, token.end, token.comments)


_BY = {word: TokenType[f"{word}_BY"] for word in ("CLUSTER", "DISTRIBUTE", "GROUP", "ORDER", "PARTITION", "SORT")}
_OPENING = (TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.CASE)
_CLOSING = (TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.END)
_ENDING = (TokenType.COMMA, TokenType.FROM, TokenType.WHERE)
"""Tokens that end an expression."""
_OPERATORS = (
    *(TokenType.PLUS, TokenType.DASH, TokenType.STAR, TokenType.SLASH, TokenType.DPIPE),
    *(TokenType.NOT, TokenType.AND, TokenType.OR),
)
_SETS = (TokenType.UNION, TokenType.EXCEPT, TokenType.INTERSECT)
