"""Scan of a statement's tokens before parsing for our constructs; it may find too many, never too few."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import astuple, dataclass
from itertools import islice, pairwise

from sqlglot.tokens import Token, TokenType

from dbt.adapters.sparkstream.sql.core.tokens import Tokens
from dbt.adapters.sparkstream.sql.core.windows import AUXILIARY, WINDOWS
from dbt.adapters.sparkstream.sql.grammar.words import may_hold_frames

_WINDOW_PARTS = ("PARTITION BY", "ORDER BY", "ROWS", "RANGE", ")")
"""Texts that may follow the name of the window that another window refers to."""
FRAME_WORDS = ("ROWS_RANGE", "MAXSIZE", "INSTANCE_NOT_IN_WINDOW")
MATCH_CONDITION = "MATCH_CONDITION"
_FRAME_WORDS = frozenset({*FRAME_WORDS, "EXCLUDE", "OPEN"})
_CALLED = frozenset({*WINDOWS, *AUXILIARY})
_BEFORE_RELATION = (TokenType.FROM, TokenType.JOIN, TokenType.LT)
_IN_JOIN = frozenset(
    {TokenType.ON, TokenType.USING, TokenType.ORDER_BY, TokenType.JOIN, TokenType.WHERE, TokenType.GROUP_BY}
    | {TokenType.LIMIT, TokenType.UNION, TokenType.EXCEPT, TokenType.INTERSECT, TokenType.COMMA, TokenType.WINDOW}
)
"""Tokens that tell how a join goes on."""
_BEFORE_GROUP = (TokenType.GROUP_BY, TokenType.COMMA, TokenType.L_PAREN)


@dataclass(frozen=True)
class Found:
    """Constructs of ours that a statement may hold.

    Attributes:
        calls: a window function, or a function for a bound of one such as TUMBLE_START, is called.
        relations: a window function is called where only a table can stand: `FROM TUMBLE(...)`.
        groups: a window in GROUP BY may be called, or is, as a function for a bound of one is called.
        frames: places in the text of the `(` of each frame of ours, such as `OVER (... ROWS_RANGE ...)`.
        last_joins: it may have a LAST JOIN; in Spark, LAST may be the alias of the table before JOIN.
        asof_joins: it has an ASOF JOIN.
    """

    calls: bool = False
    relations: bool = False
    groups: bool = False
    frames: frozenset[int] = frozenset()
    last_joins: bool = False
    asof_joins: bool = False

    def __or__(self, other: Found) -> Found:
        """Constructs that two statements hold together."""
        return Found(*(mine | theirs for mine, theirs in zip(astuple(self), astuple(other), strict=True)))

    @property
    def framed(self) -> bool:
        """True if the pass that writes frames, LAST JOIN and ASOF JOIN has something to do."""
        return bool(self.frames) or self.last_joins or self.asof_joins


def is_base(name: Token | None, behind: Token | None) -> bool:
    """True if a window begins with the name of another window: `(w ROWS 3 PRECEDING)`, `(w)`.

    Args:
        name: the first token behind the parenthesis.
        behind: the next one.
    """
    named = name is not None and name.token_type in (TokenType.VAR, TokenType.IDENTIFIER)
    return named and behind is not None and behind.text.upper() in _WINDOW_PARTS


def scan(tokens: Tokens, sql: str) -> Found:
    """Constructs that a statement in dialect `spark` may hold; takes time linear in its length.

    Args:
        tokens: the statement's tokens.
        sql: the text that it is part of.
    """
    calls = list(window_calls(tokens))
    text = sql[tokens[0].start : tokens[-1].end + 1].lower()
    return Found(
        calls=bool(calls),
        relations=any(_is_relation(tokens, i) for i in calls),
        groups=any(_may_group(tokens, i) for i in calls),
        frames=_frames(tokens) if may_hold_frames(text) else frozenset(),
        last_joins="last" in text and any(True for _ in _last_joins(tokens)),
        asof_joins="asof" in text and any(True for _ in _asof_joins(tokens)),
    )


def certain_places(tokens: Tokens, found: Found) -> frozenset[int]:
    """Places of the tokens that are a construct of ours for certain.

    Args:
        tokens: a statement's tokens, or some of them.
        found: what the statement holds.
    """
    calls = (i for i in window_calls(tokens) if _is_relation(tokens, i))
    frames = (i for i in tokens.parentheses if tokens[i].start in found.frames)
    joins = (i for i in _last_joins(tokens) if is_ordered(tokens, i)) if found.last_joins else ()
    return frozenset([*calls, *frames, *joins, *(_asof_joins(tokens) if found.asof_joins else ())])


def window_calls(tokens: Tokens) -> Iterator[int]:
    """Places of the calls of window functions, and of functions for a bound of one."""
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
    """True if a call is in TABLE( )."""
    return (
        call > 1 and tokens[call - 1].token_type is TokenType.L_PAREN and tokens[call - 2].token_type is TokenType.TABLE
    )


def _may_be_window(tokens: Tokens, opening: int) -> bool:
    """True if a parenthesis is that of `OVER (` or `name AS (`; `) AS (` begins a CTE with columns."""
    if opening < 2 or tokens[opening].token_type is not TokenType.L_PAREN:
        return False
    before = tokens[opening - 1].token_type
    return before is TokenType.OVER or (
        before is TokenType.ALIAS and tokens[opening - 2].token_type is not TokenType.R_PAREN
    )


def _frames(tokens: Tokens) -> frozenset[int]:
    """Places in the text of the `(` of each window that Spark SQL doesn't know."""
    words = (i for i in range(1, len(tokens) - 1) if _is_frame_word(tokens, i))
    unions = (i - 1 for i in range(1, len(tokens)) if tokens[i].token_type is TokenType.UNION)
    openings = {*(tokens.around(i) for i in words), *unions}
    return frozenset(tokens[i].start for i in openings if i is not None and _may_be_window(tokens, i))


def _last_joins(tokens: Tokens) -> Iterator[int]:
    """Places of LAST before JOIN."""
    join, name = TokenType.JOIN, TokenType.IDENTIFIER
    for i, (last, following) in enumerate(pairwise(tokens)):
        if following.token_type is join and last.token_type is not name and last.text.upper() == "LAST":
            yield i


def _asof_joins(tokens: Tokens) -> Iterator[int]:
    """Places of ASOF before JOIN and a relation with MATCH_CONDITION; another ASOF is the alias of the table before."""
    for i, (asof, following) in enumerate(pairwise(tokens)):
        if following.token_type is TokenType.JOIN and asof.text.upper() == "ASOF" and is_matched(tokens, i):
            yield i


def is_matched(tokens: Tokens, asof: int) -> bool:
    """True if ASOF JOIN has MATCH_CONDITION before any other part that a join goes on with.

    Args:
        asof: the place of ASOF.
    """
    for i in tokens.level(asof + 2):
        following = tokens[i + 1].token_type if i + 1 < len(tokens) else None
        if tokens[i].text.upper() == MATCH_CONDITION and following is TokenType.L_PAREN:
            return True
        if tokens[i].token_type in _IN_JOIN:
            return False
    return False


def is_ordered(tokens: Tokens, last: int) -> bool:
    """True if LAST JOIN has ORDER BY before ON, which Spark's JOIN hasn't.

    Args:
        last: the place of LAST.
    """
    kinds = (tokens[i].token_type for i in tokens.level(last + 2))
    found = list(islice((k for k in kinds if k in _IN_JOIN), 2))
    return found == [TokenType.ORDER_BY, TokenType.ON]


def _is_frame_word(tokens: Tokens, i: int) -> bool:
    """True if a word is one of our frames', such as ROWS_RANGE or MAXSIZE; a column may have this name, too."""
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
