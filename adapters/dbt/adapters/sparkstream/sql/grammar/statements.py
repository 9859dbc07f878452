"""A text's statements: split at semicolons, and parsed if they hold a construct of ours."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from types import MappingProxyType

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ErrorLevel, ParseError, TokenError
from sqlglot.tokens import Token, TokenType

from dbt.adapters.sparkstream.sql.core.errors import TranslationError, did_you_mean
from dbt.adapters.sparkstream.sql.core.nodes import Opaque
from dbt.adapters.sparkstream.sql.core.source import error_at
from dbt.adapters.sparkstream.sql.core.tokens import Tokens, retyped
from dbt.adapters.sparkstream.sql.core.windows import WINDOWS
from dbt.adapters.sparkstream.sql.dialects.sparkstream import SparkStream
from dbt.adapters.sparkstream.sql.grammar.blocks import Blocks
from dbt.adapters.sparkstream.sql.grammar.scan import Found, certain_places, window_calls
from dbt.adapters.sparkstream.sql.grammar.spans import span_of
from dbt.adapters.sparkstream.sql.grammar.spec_grammar import SpecGrammar

_LONGEST_NUMBER = 1000
"""Digits of a number: a double may be written with some hundreds."""
_NO_TREES: Mapping[int, exp.Expr] = MappingProxyType({})
_QUERY = (TokenType.SELECT, TokenType.WITH)


def split(tokens: Tokens) -> list[Tokens]:
    """The tokens of each statement of a text, without the semicolons between them; in a script, also without DO."""
    ends = [i for i, token in enumerate(tokens) if token.token_type is TokenType.SEMICOLON]
    if ends and any(token.token_type is TokenType.BEGIN for token in tokens[:3]):  # behind a label
        ends = sorted({*ends, *(i for i in tokens.level(0) if _ends_head(tokens, i))})
    if not ends:
        return [tokens] if tokens else []
    bounds = zip([0, *(end + 1 for end in ends)], [*ends, len(tokens)], strict=True)
    return [Tokens(tokens[first:last]) for first, last in bounds if first < last]


def _ends_head(tokens: Tokens, i: int) -> bool:
    """True if a token is the DO behind the head of a loop, and not a name: FOR r AS SELECT ... DO."""
    if tokens[i].text.upper() != "DO" or tokens[i].token_type is TokenType.IDENTIFIER or i + 1 >= len(tokens):
        return False
    word = tokens[i + 1].text.upper()
    return word.isalpha() and word not in ("FROM", "AS", "AND", "OR", "IN", "IS")


def check_several(reader: SparkStream, statements: list[Tokens], sql: str) -> None:
    """Refuses a second statement where a text holds one."""
    if reader.SEVERAL is not None and len(statements) > 1:
        second = statements[1]
        raise error_at(sql, second.span(range(len(second))), *reader.SEVERAL)


def read(reader: SparkStream, tokens: Tokens, found: Found, sql: str, dialect: str, whole: bool) -> exp.Expr | None:
    """The syntax tree of a statement if it holds a construct of ours, or of any statement if `whole`; else None.

    Args:
        tokens: the statement's tokens.
        found: what they hold.
        sql: the text that it is part of.
    """
    _check_query(reader, tokens, sql)
    check_islands(tokens, sql)
    certain = whole or dialect != "spark" or bool(certain_places(tokens, found))
    if not (certain or found.calls or found.framed):
        return None
    _check_numbers(tokens, sql)
    return _parse_statement(reader, tokens, found, sql, certain, opaque=dialect == "spark")


def _check_numbers(tokens: Tokens, sql: str) -> None:
    """Refuses numbers that are too long for Python to read."""
    number = TokenType.NUMBER
    for token in tokens:
        if token.token_type is number and len(token.text) > _LONGEST_NUMBER:
            raise error_at(
                sql,
                span_of(token, token),
                f"this number has {len(token.text):,} digits, and Spark takes 38",
                "write a shorter one",
            )


def _check_query(reader: SparkStream, tokens: Tokens, sql: str) -> None:
    """Refuses statements that Flink, OpenMLDB or SQLstream has and Spark hasn't."""
    first = tokens[0].text.upper()
    for (word, second), (message, hint) in reader.FOREIGN.items():
        if first == word and (second is None or (len(tokens) > 1 and tokens[1].text.upper().startswith(second))):
            raise error_at(sql, span_of(tokens[0], tokens[-1 if second else 0]), message, hint)


def unclosed(reader: Dialect, sql: str) -> int:
    """Start of the string, quoted name or comment that goes on to the end of a text."""
    tokenizer = reader.tokenizer_class(dialect=reader)
    with suppress(TokenError):
        tokenizer.tokenize(sql)
    known = tokenizer.tokens[-1].end + 1 if tokenizer.tokens else 0
    for at in range(known, len(sql)):
        if sql[at] in "'\"`" or sql.startswith("/*", at):
            try:
                reader.tokenize(sql[known : at + 2 if sql[at] == "/" else at + 1])
            except TokenError:
                return at
    return known


def _parse_statement(
    reader: SparkStream, tokens: Tokens, found: Found, sql: str, certain: bool, *, opaque: bool
) -> exp.Expr | None:
    """Parses one statement, or the query in it when its head is none that sqlglot knows.

    Args:
        opaque: True if queries that can't be parsed may stay as they are.
    """
    faults: list[ParseError] = []
    tokens = _as_spark_reads(tokens)
    parts = [Tokens(part) for part in (tokens, _query(tokens), [] if opaque else _parenthesised(tokens)) if part]
    for part in parts:
        try:
            return _parse(reader, found, sql, part)
        except ParseError as error:
            faults.append(error)
    if not certain:
        return None
    unread: exp.Expr | None = None
    for i, part in enumerate(parts if opaque else ()):
        try:
            tree = Blocks(part, partial(_parse, reader, found, sql), certain_places(part, found)).read()
        except ParseError as error:
            faults[i] = error
            continue
        if not isinstance(tree, Opaque):
            return tree
        unread = unread or tree
    if unread:
        return unread
    fault = faults[1 if len(faults) > 1 and tokens[0].token_type not in _QUERY else 0]
    raise _translation_error(fault, sql, reader.SHAPE)


def _parse(
    reader: Dialect, found: Found, sql: str, tokens: list[Token], trees: Mapping[int, exp.Expr] = _NO_TREES
) -> exp.Expr:
    """Parses tokens.

    Args:
        trees: the place in the text of a SELECT -> what it and all up to its end has been read as.
    """
    parser = reader.parser(error_level=ErrorLevel.IMMEDIATE)
    assert isinstance(parser, SpecGrammar)
    parser.frames = found.frames
    parser.trees = trees
    parsed = parser.parse(tokens, sql)
    tree = parsed[0] if parsed else None
    if tree is None:  # sqlglot ends at an ELSE that nothing is before
        parser.raise_error("this isn't expected here", tokens[0])
    assert tree is not None
    return tree


def _as_spark_reads(tokens: Tokens) -> Tokens:
    """The tokens for sqlglot's parser, with those changed that Spark reads in another way.

    WINDOW is a name unless a window is defined behind it, and `>>>` is one operator.
    """
    out = Tokens()
    window, greater = TokenType.WINDOW, TokenType.GT
    if not any(t.token_type is window or t.token_type is greater for t in tokens):
        return tokens
    for i, token in enumerate(tokens):
        if token.token_type not in (TokenType.WINDOW, TokenType.GT):
            out.append(token)
            continue
        kinds = [t.token_type for t in tokens[i + 1 : i + 3]]
        if token.token_type == TokenType.WINDOW and TokenType.ALIAS not in kinds[1:]:
            token = retyped(token, TokenType.VAR)
        elif token.token_type == TokenType.GT and len(out) > 1 and _shift(out[-2], out[-1]) and _shift(out[-1], token):
            continue
        out.append(token)
    return out


def _shift(left: Token, right: Token) -> bool:
    return left.token_type == right.token_type == TokenType.GT and left.end + 1 == right.start


def _query(tokens: Tokens) -> list[Token]:
    """The statement's tokens from its first SELECT or WITH outside parentheses, if that isn't where it begins."""
    first = next((i for i in tokens.level(0) if tokens[i].token_type in _QUERY and not _evolves(tokens, i)), 0)
    return tokens[first:] if first else []


def _evolves(tokens: Tokens, i: int) -> bool:
    """True if a WITH belongs to INSERT WITH SCHEMA EVOLUTION."""
    return [token.text.upper() for token in tokens[i : i + 3]] == ["WITH", "SCHEMA", "EVOLUTION"]


def _parenthesised(tokens: Tokens) -> list[Token]:
    """The innermost query in parentheses around the first window function."""
    inside = next((i for i in window_calls(tokens) if tokens[i].text.upper() in WINDOWS), 0)
    opening = tokens.around(inside)
    while opening is not None:
        if tokens[opening + 1].token_type in _QUERY:
            closing = tokens.closing(opening)
            return [] if closing is None else tokens[opening + 1 : closing]
        opening = tokens.around(opening)
    return []


def _translation_error(error: ParseError, sql: str, hint: str | None) -> TranslationError:
    span = getattr(error, "span", None) or (len(sql), len(sql))
    description = str((error.errors[0].get("description") if error.errors else None) or error)
    if description.startswith("Required keyword"):
        description = "something is missing here"
    elif description.startswith("Expected table name"):
        description = "the name of a table is missing here"
    elif "Unexpected token" in description:
        description = "this isn't expected here"
    return error_at(sql, span, f"this SQL can't be parsed: {description}", hint)


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
        raise error_at(sql, span_of(name, name), message, hint)
