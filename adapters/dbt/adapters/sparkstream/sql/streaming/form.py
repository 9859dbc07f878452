"""A query as it is compared with the query of an earlier run: what a formatter changes makes no difference."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Iterator
from enum import Enum
from typing import Any

from sqlglot import exp
from sqlglot.tokens import Token, TokenType

from dbt.adapters.sparkstream.sql.dialects import DIALECTS
from dbt.adapters.sparkstream.sql.statement import whole_trees

_LITERALS = (
    *(TokenType.STRING, TokenType.NUMBER, TokenType.RAW_STRING, TokenType.NATIONAL_STRING, TokenType.UNICODE_STRING),
    *(TokenType.HEX_STRING, TokenType.BIT_STRING, TokenType.BYTE_STRING, TokenType.HEREDOC_STRING),
)
_NAMES = (TokenType.VAR, TokenType.IDENTIFIER)
_NEUTRAL = (
    *(TokenType.ALIAS, TokenType.INNER, TokenType.OUTER, TokenType.ASC),
    *(TokenType.L_PAREN, TokenType.R_PAREN, TokenType.SEMICOLON),
)
"""Tokens that make no difference, or whose meaning is in the tree."""
_KEPT = (exp.Literal, exp.JSONPathPart, exp.National, exp.RawString, exp.UnicodeString, exp.ByteString, exp.HexString)
"""Expressions whose texts differ by case."""

HUNKS = 3
"""Most places that are shown in which two queries differ."""


def form(sql: str, dialect: str) -> list[Any]:
    """Form of a query to compare with another query's, as lists and texts.

    White space, comments, parentheses around expressions, the case of keywords and of names, quotes of names, AS before
    an alias, INNER, OUTER and ASC make no difference. Literals and the fields of a VARIANT stay as they are. Of a query
    that sqlglot can't parse, the tokens are compared.

    Args:
        sql: the query.
        dialect: the dialect that it is written in.
    """
    tokens = DIALECTS[dialect]().tokenize(sql)
    trees = whole_trees(sql, dialect)
    if not trees:
        return [_folded(token) for token in tokens]
    # The trees say what belongs together. The words see to it that nothing is lost that a tree doesn't hold.
    words = [
        _folded(token) if token.token_type in (*_LITERALS, *_NAMES) else token.token_type.name
        for token in tokens
        if token.token_type not in _NEUTRAL
    ]
    return [words, [_shape(tree) for tree in trees]]


def differences(before: str, now: str, dialect: str) -> Iterator[tuple[str, str]]:
    """The places in which two queries differ: the lines of each that have other tokens; at most `HUNKS`.

    Args:
        before: a query.
        now: another one.
        dialect: what both are written in.
    """
    reader = DIALECTS[dialect]()
    old, new = reader.tokenize(before), reader.tokenize(now)
    matcher = difflib.SequenceMatcher(None, [_folded(t) for t in old], [_folded(t) for t in new], autojunk=False)
    shown = 0
    for tag, i, j, k, n in matcher.get_opcodes():
        if tag != "equal" and shown < HUNKS:
            shown += 1
            yield _lines(before, old, i, j), _lines(now, new, k, n)


def _lines(sql: str, tokens: list[Token], first: int, last: int) -> str:
    """The lines that some tokens stand in; empty for no tokens."""
    if first >= last:
        return ""
    start = sql.rfind("\n", 0, tokens[first].start) + 1
    end = sql.find("\n", tokens[last - 1].end)
    return " ".join(sql[start : end if end >= 0 else len(sql)].split())


def _folded(token: Token) -> str:
    if token.token_type in _LITERALS:
        return f"{token.token_type.name} {token.text}"
    return token.text.casefold()


def _shape(value: Any) -> Any:
    """A part of a syntax tree, without what makes no difference."""
    if isinstance(value, exp.Paren):
        return _shape(value.this)
    if isinstance(value, exp.Identifier):
        return ["Identifier", value.this.casefold()]
    if isinstance(value, exp.Expr):
        args = dict(value.args)
        if isinstance(value, exp.Join) and str(args.get("kind", "")).upper() in ("INNER", "OUTER"):
            args["kind"] = None
        kept = isinstance(value, _KEPT)
        given = {
            name: arg if kept and isinstance(arg, str) else _shape(arg)
            for name, arg in args.items()
            if arg not in (None, False, [], "")
        }
        return [type(value).__name__, sorted(given.items())]
    if isinstance(value, list | tuple):
        return [_shape(item) for item in value]
    if isinstance(value, Enum):
        return value.name
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [
            type(value).__name__,
            [[f.name, _shape(getattr(value, f.name))] for f in dataclasses.fields(value) if f.name != "span"],
        ]
    return value.casefold() if isinstance(value, str) else repr(value)
