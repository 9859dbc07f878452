"""Windows that refer to another one (SQLstream): `WINDOW w AS (PARTITION BY k), w2 AS (w ROWS 3 PRECEDING)`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot.tokens import Token, TokenType

from dbt.adapters.sparkstream.sql.core.tokens import Tokens
from dbt.adapters.sparkstream.sql.core.traced import Span
from dbt.adapters.sparkstream.sql.grammar.scan import is_base


@dataclass(frozen=True)
class _Definition:
    """A window in a WINDOW clause: where its tokens stand, from its name to its parenthesis."""

    name: str
    places: range

    @property
    def inner(self) -> range:
        """The places within its parentheses."""
        return range(self.places.start + 3, self.places.stop - 1)


def with_bases(given: Sequence[Token]) -> tuple[list[Token], list[Span]]:
    """The tokens, with the definition of the window that a window refers to in the place of its name.

    A window without a frame that is only referred to is left out. A token keeps its place in the text.

    Returns:
        The tokens, and the pieces of the text that are left out.
    """
    tokens = Tokens(given)
    defined = _definitions(tokens)
    if not defined:
        return tokens, []
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
        return tokens, []
    whole = {place: each for each in defined for place in each.places}
    kept: list[Token] = []
    for i in range(len(tokens)):
        window = whole.get(i)
        if window is None or i not in window.inner:
            kept.extend(written(range(i, i + 1)))
        elif i == window.inner.start:
            kept.extend(parts[window.name])
    only = [each for each in defined if each.name in used and not _has_frame(parts[each.name])]
    return _without(Tokens(kept), {id(tokens[each.places.start]) for each in only})


def _definitions(tokens: Tokens) -> list[_Definition]:
    found = []
    for i, token in enumerate(tokens):
        at = i
        while token.token_type is TokenType.WINDOW and [each.token_type for each in tokens[at + 2 : at + 4]] == [
            TokenType.ALIAS,
            TokenType.L_PAREN,
        ]:
            end = tokens.behind(at + 3)
            found.append(_Definition(tokens[at + 1].text.lower(), range(at + 1, end)))
            if end >= len(tokens) or tokens[end].token_type is not TokenType.COMMA:
                break
            at = end
    return found


def _refers(tokens: Sequence[Token], i: int) -> bool:
    """True if a name follows the parenthesis of OVER or AS, and the parts of a window or its end follow the name."""
    if i < 2 or i + 1 >= len(tokens) or not is_base(tokens[i], tokens[i + 1]):
        return False
    return tokens[i - 2].token_type in (TokenType.OVER, TokenType.ALIAS) and (
        tokens[i - 1].token_type is TokenType.L_PAREN
    )


def _has_frame(tokens: Sequence[Token]) -> bool:
    return any(token.text.upper() in ("ROWS", "RANGE") for token in tokens)


def _without(tokens: Tokens, names: set[int]) -> tuple[list[Token], list[Span]]:
    """The tokens without the definitions whose names are these, and without WINDOW where none is left.

    Returns:
        The tokens, and the pieces of the text that are left out.
    """
    kept: list[Token] = []
    left_out: list[Span] = []
    i = 0
    while i < len(tokens):
        if id(tokens[i]) not in names:
            kept.append(tokens[i])
            i += 1
            continue
        first = tokens[i]
        i = tokens.behind(i + 2)
        if i < len(tokens) and tokens[i].token_type is TokenType.COMMA:
            i += 1
        else:
            first = kept.pop()  # the comma before it, or WINDOW
        left_out.append((first.start, tokens[i - 1].end + 1))
    return kept, left_out
