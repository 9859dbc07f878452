"""Windows that refer to another one (SQLstream): `WINDOW w AS (PARTITION BY k), w2 AS (w ROWS 3 PRECEDING)`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot.tokens import Token, TokenType

_PARTS = ("PARTITION BY", "ORDER BY", "ROWS", "RANGE", ")")
"""What stands behind the name of the window that another one refers to."""


@dataclass(frozen=True)
class _Definition:
    """A window in a WINDOW clause: where its tokens stand, from its name to its parenthesis."""

    name: str
    places: range

    @property
    def inner(self) -> range:
        """The places within its parentheses."""
        return range(self.places.start + 3, self.places.stop - 1)


def with_bases(tokens: Sequence[Token]) -> list[Token]:
    """The tokens with what a window refers to in the place of its name.

    A window without a frame that is only referred to is left out. A token keeps its place in the text.
    """
    defined = _definitions(tokens)
    parts: dict[str, list[Token]] = {}
    used: set[str] = set()

    def written(places: range) -> list[Token]:
        found: list[Token] = []
        for i in places:
            base = parts.get(tokens[i].text.lower()) if _refers(tokens, i) else None
            if base is None or (_has_frame(base) and tokens[i + 1].text != ")"):
                found.append(tokens[i])
            else:
                used.add(tokens[i].text.lower())
                found.extend(base)
        return found

    for each in defined:
        parts[each.name] = written(each.inner)
    if len(parts) < len(defined):  # a name stands for two windows
        return list(tokens)
    whole = {place: each for each in defined for place in each.places}
    kept: list[Token] = []
    for i in range(len(tokens)):
        window = whole.get(i)
        if window is None or i not in window.inner:
            kept.extend(written(range(i, i + 1)))
        elif i == window.inner.start:
            kept.extend(parts[window.name])
    only = [each for each in defined if each.name in used and not _has_frame(parts[each.name])]
    return _without(kept, {id(tokens[each.places.start]) for each in only})


def _definitions(tokens: Sequence[Token]) -> list[_Definition]:
    found = []
    for i, token in enumerate(tokens):
        at = i
        while token.token_type is TokenType.WINDOW and [each.token_type for each in tokens[at + 2 : at + 4]] == [
            TokenType.ALIAS,
            TokenType.L_PAREN,
        ]:
            end = _behind(tokens, at + 3)
            found.append(_Definition(tokens[at + 1].text.lower(), range(at + 1, end)))
            if end >= len(tokens) or tokens[end].token_type is not TokenType.COMMA:
                break
            at = end
    return found


def _behind(tokens: Sequence[Token], opening: int) -> int:
    """The place behind the parenthesis that closes one."""
    depth = 0
    for i in range(opening, len(tokens)):
        depth += (tokens[i].token_type is TokenType.L_PAREN) - (tokens[i].token_type is TokenType.R_PAREN)
        if not depth:
            return i + 1
    return len(tokens)


def _refers(tokens: Sequence[Token], i: int) -> bool:
    """Whether a name stands behind the parenthesis of OVER or AS, and nothing but the parts of a window follows."""
    if i < 2 or i + 1 >= len(tokens) or tokens[i].token_type not in (TokenType.VAR, TokenType.IDENTIFIER):
        return False
    before = tokens[i - 2].token_type, tokens[i - 1].token_type
    return (
        before[0] in (TokenType.OVER, TokenType.ALIAS)
        and before[1] is TokenType.L_PAREN
        and (tokens[i + 1].text.upper() in _PARTS)
    )


def _has_frame(tokens: Sequence[Token]) -> bool:
    return any(token.text.upper() in ("ROWS", "RANGE") for token in tokens)


def _without(tokens: list[Token], names: set[int]) -> list[Token]:
    """The tokens without the definitions whose names are these, and without WINDOW where none is left."""
    kept: list[Token] = []
    i = 0
    while i < len(tokens):
        if id(tokens[i]) not in names:
            kept.append(tokens[i])
            i += 1
            continue
        i = _behind(tokens, i + 2)
        if i < len(tokens) and tokens[i].token_type is TokenType.COMMA:
            i += 1
        else:
            kept.pop()  # the comma before it, or WINDOW
    return kept
