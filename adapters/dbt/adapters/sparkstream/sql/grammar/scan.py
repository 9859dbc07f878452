"""What tokens may hold, told before they are parsed: quick looks that never miss a construct of ours."""

from __future__ import annotations

from itertools import pairwise

from sqlglot.tokens import Token, TokenType

from dbt.adapters.sparkstream.sql.core.windows import AUXILIARY, WINDOWS
from dbt.adapters.sparkstream.sql.grammar.words import may_hold_frames

FRAME_WORDS = ("ROWS_RANGE", "MAXSIZE", "INSTANCE_NOT_IN_WINDOW")


def is_ours(tokens: list[Token], opening: int) -> bool:
    """Whether the parentheses that open at an index hold a window that Spark SQL doesn't know."""
    if opening + 1 < len(tokens) and tokens[opening + 1].token_type == TokenType.UNION:
        return True
    depth = 0
    for i in range(opening, len(tokens)):
        kind, word = tokens[i].token_type, tokens[i].text.upper()
        depth += (kind == TokenType.L_PAREN) - (kind == TokenType.R_PAREN)
        if depth == 0:
            return False
        if depth > 1 or kind in (TokenType.IDENTIFIER, TokenType.STRING) or i + 1 >= len(tokens):
            continue
        after = tokens[i + 1].text.upper()
        # A name may be one of these words: then a comma, a dot or the end follows, never what follows here.
        if word == "ROWS_RANGE" and after not in (",", ")", ".", "=", "ROWS", "RANGE", "ORDER BY"):
            return True
        if word == "MAXSIZE" and tokens[i + 1].token_type in (TokenType.NUMBER, TokenType.DASH):
            return True
        if word == "EXCLUDE" and after in ("CURRENT_TIME", "CURRENT_ROW"):
            return True
        if word == "OPEN" and after == "PRECEDING":
            return True
        if word == "INSTANCE_NOT_IN_WINDOW" and tokens[i - 1].token_type not in (TokenType.COMMA, TokenType.DOT):
            return after in (")", "EXCLUDE", "MAXSIZE", "INSTANCE_NOT_IN_WINDOW")
    return False


def holds_frames(tokens: list[Token]) -> bool:
    """Whether a Spark statement holds a frame of ours or LAST JOIN."""
    for i, token in enumerate(tokens[1:-1], 1):
        kind = token.token_type
        if kind == TokenType.JOIN and tokens[i - 1].text.upper() == "LAST":
            return True
        opens = kind == TokenType.OVER or (kind == TokenType.ALIAS and tokens[i - 1].token_type != TokenType.R_PAREN)
        if opens and tokens[i + 1].token_type == TokenType.L_PAREN and is_ours(tokens, i + 1):
            return True
    return False


def window_calls(tokens: list[Token]) -> list[int]:
    """Where a window function, or an auxiliary function of one, is called."""
    opening, names = TokenType.L_PAREN, (TokenType.VAR, TokenType.SESSION)
    return [
        i
        for i, (token, following) in enumerate(pairwise(tokens))
        if following.token_type is opening and token.token_type in names and token.text.upper() in _CALLED
    ]


_CALLED = {*WINDOWS, *AUXILIARY}


def window_in_from(tokens: list[Token], calls: list[int]) -> bool:
    """Whether a window function stands where only a table can."""
    for i in calls:
        before = tokens[i - 1].token_type if i else None
        table = before == TokenType.L_PAREN and i > 1 and tokens[i - 2].token_type == TokenType.TABLE
        if tokens[i].text.upper() in WINDOWS and (table or before in _BEFORE_RELATION):
            return True
    return False


_BEFORE_RELATION = (TokenType.FROM, TokenType.JOIN, TokenType.LT)


def may_group(tokens: list[Token], calls: list[int]) -> bool:
    """Whether a group window may be among the calls, or one of its auxiliary functions."""
    before = (TokenType.GROUP_BY, TokenType.COMMA, TokenType.L_PAREN)
    return any(
        tokens[i].text.upper() in AUXILIARY
        or (tokens[i - 1].token_type in before and not (i > 1 and tokens[i - 2].token_type == TokenType.TABLE))
        for i in calls
    )


def framed(tokens: list[Token], sql: str) -> bool:
    """Whether a Spark statement holds a frame of ours or LAST JOIN."""
    text = sql.lower()
    return (may_hold_frames(text) or "last" in text) and holds_frames(tokens)
