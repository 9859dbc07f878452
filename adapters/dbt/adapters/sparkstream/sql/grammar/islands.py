"""A check of islands: `FROM << tumbel(t, ts, '5m') >>` names no window function."""

from __future__ import annotations

from sqlglot.tokens import Token, TokenType

from dbt.adapters.sparkstream.sql.core.near import did_you_mean
from dbt.adapters.sparkstream.sql.core.source import error_at
from dbt.adapters.sparkstream.sql.core.windows import WINDOWS

_BEFORE = (TokenType.FROM, TokenType.JOIN, TokenType.COMMA, TokenType.L_PAREN)
"""A `<<` behind one of these begins an island; anywhere else it is the operator that shifts bits."""


def check_islands(tokens: list[Token], sql: str) -> None:
    """Refuses `<<` where a relation begins and none of our functions follows."""
    for before, first, second, at in zip(tokens, tokens[1:], tokens[2:], range(3, len(tokens)), strict=False):
        if not (first.token_type is second.token_type is TokenType.LT and before.token_type in _BEFORE):
            continue
        name = tokens[at]
        called = at + 1 < len(tokens) and tokens[at + 1].token_type is TokenType.L_PAREN
        if name.text.upper() in WINDOWS:
            if called:
                continue
            message, hint = f"{name.text} takes its arguments in parentheses", f"write << {name.text}(...) >>"
        else:
            message = f"there is no window function {name.text}"
            known = [window.lower() for window in WINDOWS]
            hint = did_you_mean(name.text.lower(), known, f"behind << stands one of {', '.join(known)}")
        raise error_at(sql, (name.start, name.end + 1), message, hint)
