"""A scan of a statement's tokens before they are parsed: which of our constructs it may hold. It never misses one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import astuple, dataclass
from itertools import pairwise

from sqlglot.tokens import TokenType

from dbt.adapters.sparkstream.sql.core.tokens import Tokens
from dbt.adapters.sparkstream.sql.core.windows import AUXILIARY, WINDOWS

FRAME_WORDS = ("ROWS_RANGE", "MAXSIZE", "INSTANCE_NOT_IN_WINDOW")
_FRAME_WORDS = frozenset({*FRAME_WORDS, "EXCLUDE", "OPEN"})
_CALLED = frozenset({*WINDOWS, *AUXILIARY})
_BEFORE_RELATION = (TokenType.FROM, TokenType.JOIN, TokenType.LT)
_BEFORE_GROUP = (TokenType.GROUP_BY, TokenType.COMMA, TokenType.L_PAREN)


@dataclass(frozen=True)
class Found:
    """What a statement may hold of ours.

    Attributes:
        calls: a window function, or a function for a bound of one such as TUMBLE_START, is called.
        relations: a window function is called where only a table can stand: `FROM TUMBLE(...)`.
        groups: a window in GROUP BY may be called, or is, as a function for a bound of one is called.
        frames: it has a frame of ours, such as `OVER (... ROWS_RANGE ...)`.
        last_joins: it has a LAST JOIN.
    """

    calls: bool = False
    relations: bool = False
    groups: bool = False
    frames: bool = False
    last_joins: bool = False

    def __or__(self, other: Found) -> Found:
        """What two statements hold together."""
        return Found(*(mine or theirs for mine, theirs in zip(astuple(self), astuple(other), strict=True)))

    @property
    def framed(self) -> bool:
        """Whether the pass that writes frames and LAST JOIN has something to do."""
        return self.frames or self.last_joins


def scan(tokens: Tokens) -> Found:
    """What the tokens of a statement in dialect `spark` may hold; takes time linear in their number."""
    calls = list(window_calls(tokens))
    join = TokenType.JOIN
    return Found(
        calls=bool(calls),
        relations=any(_is_relation(tokens, i) for i in calls),
        groups=any(_may_group(tokens, i) for i in calls),
        frames=any(_may_be_window(tokens, i) and is_ours(tokens, i) for i in tokens.parentheses),
        last_joins=any(t.token_type is join and before.text.upper() == "LAST" for before, t in pairwise(tokens)),
    )


def window_calls(tokens: Tokens) -> Iterator[int]:
    """Where a window function, or a function for a bound of one, is called."""
    for opening in tokens.parentheses:
        name = tokens[opening - 1]
        if opening and name.token_type in (TokenType.VAR, TokenType.SESSION) and name.text.upper() in _CALLED:
            yield opening - 1


def _is_relation(tokens: Tokens, call: int) -> bool:
    before = tokens[call - 1].token_type if call else None
    return tokens[call].text.upper() in WINDOWS and (before in _BEFORE_RELATION or _is_wrapped(tokens, call))


def _may_group(tokens: Tokens, call: int) -> bool:
    if tokens[call].text.upper() in AUXILIARY:
        return True
    return call > 0 and tokens[call - 1].token_type in _BEFORE_GROUP and not _is_wrapped(tokens, call)


def _is_wrapped(tokens: Tokens, call: int) -> bool:
    """Whether a call stands in TABLE( )."""
    return (
        call > 1 and tokens[call - 1].token_type is TokenType.L_PAREN and tokens[call - 2].token_type is TokenType.TABLE
    )


def _may_be_window(tokens: Tokens, opening: int) -> bool:
    """Whether `OVER (` or `name AS (` stands here; `) AS (` begins a CTE with columns."""
    if opening < 2:
        return False
    before = tokens[opening - 1].token_type
    return before is TokenType.OVER or (
        before is TokenType.ALIAS and tokens[opening - 2].token_type is not TokenType.R_PAREN
    )


def is_ours(tokens: Tokens, opening: int) -> bool:
    """Whether the parentheses that open here hold a window that Spark SQL doesn't know."""
    inside = opening + 1
    if inside < len(tokens) and tokens[inside].token_type is TokenType.UNION:
        return True
    return any(_is_frame_word(tokens, i) for i in tokens.level(inside, min(tokens.behind(opening), len(tokens) - 1)))


def _is_frame_word(tokens: Tokens, i: int) -> bool:
    """Whether a word is one that only a frame of ours has; a name may be such a word, too."""
    word = tokens[i].text.upper()
    if word not in _FRAME_WORDS or tokens[i].token_type in (TokenType.IDENTIFIER, TokenType.STRING):
        return False
    following = tokens[i + 1]
    after = following.text.upper()
    if word == "ROWS_RANGE":
        return after not in (",", ")", ".", "=", "ROWS", "RANGE", "ORDER BY")
    if word == "MAXSIZE":
        return following.token_type in (TokenType.NUMBER, TokenType.DASH)
    if word == "EXCLUDE":
        return after in ("CURRENT_TIME", "CURRENT_ROW")
    if word == "OPEN":
        return after == "PRECEDING"
    named = tokens[i - 1].token_type in (TokenType.COMMA, TokenType.DOT)
    return not named and after in (")", "EXCLUDE", "MAXSIZE", "INSTANCE_NOT_IN_WINDOW")
