"""A text's statements as syntax trees: those that hold a construct of ours."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ErrorLevel, ParseError, TokenError
from sqlglot.tokens import Token, TokenType

from dbt.adapters.sparkstream.sql.core.errors import TranslationError
from dbt.adapters.sparkstream.sql.core.source import error_at
from dbt.adapters.sparkstream.sql.core.windows import WINDOWS
from dbt.adapters.sparkstream.sql.dialects.sparkstream import SparkStream
from dbt.adapters.sparkstream.sql.grammar.islands import check_islands
from dbt.adapters.sparkstream.sql.grammar.scan import framed, window_calls, window_in_from


def trees_of(reader: SparkStream, tokens: list[Token], sql: str, dialect: str, whole: bool) -> list[exp.Expr]:
    """The syntax trees of the statements of a text that hold a construct of ours; of all of them if `whole`."""
    trees = []
    for chunk in _chunks(tokens):
        _check_query(reader, chunk, sql)
        check_islands(chunk, sql)
        too_long = next((t for t in chunk if t.token_type is TokenType.NUMBER and len(t.text) > _LONGEST_NUMBER), None)
        if too_long is not None and (dialect != "spark" or whole or window_calls(chunk) or framed(chunk, sql)):
            raise error_at(
                sql,
                (too_long.start, too_long.end + 1),
                f"this number has {len(too_long.text):,} digits, and Spark takes 38",
                "write a shorter one",
            )
        calls = window_calls(chunk)
        certain = whole or dialect != "spark" or window_in_from(chunk, calls) or framed(chunk, sql)
        if certain or calls:
            tree = _parse_chunk(reader, chunk, sql, certain)
            if tree is not None:
                trees.append(tree)
    return trees


_LONGEST_NUMBER = 1000
"""Digits of a number: a double may be written with some hundreds."""


def _check_query(reader: SparkStream, tokens: list[Token], sql: str) -> None:
    """Refuses statements that only the other system has."""
    first = tokens[0].text.upper()
    for (word, second), (message, hint) in reader.FOREIGN.items():
        if first == word and (second is None or (len(tokens) > 1 and tokens[1].text.upper().startswith(second))):
            raise error_at(sql, (tokens[0].start, tokens[-1 if second else 0].end + 1), message, hint)


def unclosed(reader: Dialect, sql: str) -> int:
    """Where the string, quoted name or comment begins that goes on to the end of a text."""
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


def _chunks(tokens: list[Token]) -> Iterator[list[Token]]:
    """The tokens of each statement of a text."""
    semicolon = TokenType.SEMICOLON
    chunk: list[Token] = []
    for token in tokens:
        if token.token_type is semicolon:
            if chunk:
                yield chunk
            chunk = []
        else:
            chunk.append(token)
    if chunk:
        yield chunk


def _parse_chunk(reader: SparkStream, tokens: list[Token], sql: str, certain: bool) -> exp.Expr | None:
    """Parses one statement, or the query in it when its head is none that sqlglot knows."""
    faults: list[ParseError] = []
    tokens = _as_spark_reads(tokens)
    for narrowed in (list, _query, _parenthesised):
        part = narrowed(tokens)
        if part:
            try:
                return _parse(reader, part, sql)
            except ParseError as error:
                faults.append(error)
    if not certain:
        return None
    fault = faults[1 if len(faults) > 1 and tokens[0].token_type not in _QUERY else 0]
    raise _translation_error(fault, sql, reader.SHAPE)


def _parse(reader: Dialect, tokens: list[Token], sql: str) -> exp.Expr | None:
    parser = reader.parser(error_level=ErrorLevel.IMMEDIATE)
    try:
        trees = parser.parse(tokens, sql)
    except RecursionError:
        deepest = _deepest(tokens)
        raise error_at(
            sql,
            (deepest.start, deepest.end + 1),
            "this statement is nested too deeply to be read",
            "take its innermost part into a CTE of its own, or into a model",
        ) from None
    if not trees:  # sqlglot ends at an ELSE that nothing is before
        parser.raise_error("this isn't expected here", tokens[0])
    return trees[0]


def _deepest(tokens: list[Token]) -> Token:
    """The token that the most parentheses are around."""
    depth, most, found = 0, 0, tokens[0]
    for token in tokens:
        depth += (token.token_type in _OPENING) - (token.token_type in _CLOSING)
        if depth > most:
            most, found = depth, token
    return found


_OPENING = (TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.CASE)


_CLOSING = (TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.END)


_QUERY = (TokenType.SELECT, TokenType.WITH)


def _as_spark_reads(tokens: list[Token]) -> list[Token]:
    """The tokens with what Spark and sqlglot read differently made so that sqlglot reads it: only for parsing.

    WINDOW is a name unless a window is defined behind it, and `>>>` is one operator.
    """
    out: list[Token] = []
    window, greater = TokenType.WINDOW, TokenType.GT
    if not any(t.token_type is window or t.token_type is greater for t in tokens):
        return tokens
    for i, token in enumerate(tokens):
        if token.token_type not in (TokenType.WINDOW, TokenType.GT):
            out.append(token)
            continue
        kinds = [t.token_type for t in tokens[i + 1 : i + 3]]
        if token.token_type == TokenType.WINDOW and TokenType.ALIAS not in kinds[1:]:
            token = Token(TokenType.VAR, token.text, token.line, token.col, token.start, token.end, token.comments)
        elif token.token_type == TokenType.GT and len(out) > 1 and _shift(out[-2], out[-1]) and _shift(out[-1], token):
            continue
        out.append(token)
    return out


def _shift(left: Token, right: Token) -> bool:
    return left.token_type == right.token_type == TokenType.GT and left.end + 1 == right.start


def _parenthesised(tokens: list[Token]) -> list[Token]:
    """The query in parentheses around the first window function, innermost."""
    at = next((i for i in window_calls(tokens) if tokens[i].text.upper() in WINDOWS), 0)
    depth = 0
    for i in range(at - 1, -1, -1):
        kind = tokens[i].token_type
        depth += (kind == TokenType.R_PAREN) - (kind == TokenType.L_PAREN)
        if depth < 0 and tokens[i + 1].token_type in _QUERY:
            level = 0
            for j in range(i, len(tokens)):
                kind = tokens[j].token_type
                level += (kind == TokenType.L_PAREN) - (kind == TokenType.R_PAREN)
                if level == 0:
                    return tokens[i + 1 : j]
            return []
    return []


def _query(tokens: list[Token]) -> list[Token]:
    """The statement's tokens from its first SELECT or WITH outside parentheses, if that isn't where it begins."""
    depth = 0
    for i, token in enumerate(tokens):
        depth += (token.token_type == TokenType.L_PAREN) - (token.token_type == TokenType.R_PAREN)
        if depth == 0 and token.token_type in _QUERY:
            return tokens[i:] if i else []
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
