"""OpenMLDB's SQL, as far as Spark can run it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import ClassVar

from sqlglot import exp
from sqlglot.tokens import Token, TokenType

from dbt.adapters.sparkstream.sql.core.source import error_at
from dbt.adapters.sparkstream.sql.core.tokens import retyped
from dbt.adapters.sparkstream.sql.dialects.sparkstream import SparkStream
from dbt.adapters.sparkstream.sql.grammar.span_parser import ForeignParser
from dbt.adapters.sparkstream.sql.grammar.spans import span_of


class OpenMLDB(SparkStream):
    SHAPE = (
        "write SELECT ... FROM t [LAST JOIN u ORDER BY u.ts ON t.k = u.k] [WHERE ...] WINDOW w AS "
        "([UNION t2] PARTITION BY k ORDER BY ts ROWS_RANGE BETWEEN 10s PRECEDING AND CURRENT ROW [MAXSIZE n] [flags])"
    )

    FOREIGN: ClassVar[dict[tuple[str, str | None], tuple[str, str]]] = {
        ("DEPLOY", None): (
            "DEPLOY makes a service of OpenMLDB's, which Spark hasn't",
            "leave DEPLOY and its name and options out: a model holds the query alone",
        ),
        ("SET", "@"): ("this sets a variable of OpenMLDB's", "leave it out: Spark runs everything in batch"),
    }

    class Tokenizer(SparkStream.Tokenizer):
        # 3s and 1d are lengths of time, not numbers with a type.
        NUMERIC_LITERALS: ClassVar[dict[str, str]] = {}
        COMMENTS: ClassVar[list[str | tuple[str, str]]] = [*SparkStream.Tokenizer.COMMENTS, "#"]

    class Parser(ForeignParser):
        FRAMED = True
        FUNC_TOKENS = ForeignParser.FUNC_TOKENS | {TokenType.NOT, TokenType.JOIN}
        CONJUNCTION: ClassVar[dict[TokenType, type[exp.Expr]]] = {
            **ForeignParser.CONJUNCTION,
            TokenType.XOR: exp.Xor,
            TokenType.DAMP: exp.And,
        }

        def parse(self, raw_tokens: list[Token], sql: str = "") -> list[exp.Expr | None]:
            left_out = {i for places in mode_of_execution(raw_tokens) for i in places}
            _check([token for i, token in enumerate(raw_tokens) if i not in left_out], sql)
            kept = [_understood(raw_tokens, i) for i in range(len(raw_tokens)) if i not in left_out]
            return super().parse(kept, sql)


def mode_of_execution(tokens: Sequence[Token]) -> list[range]:
    """Tokens of each CONFIG (execute_mode = 'offline'), or 'online', from CONFIG on to its parenthesis."""
    found = []
    for i in range(len(tokens)):
        texts = [each.text.upper() for each in tokens[i : i + 6]]
        if texts[:4] == ["CONFIG", "(", "EXECUTE_MODE", "="] and texts[4:] in (["OFFLINE", ")"], ["ONLINE", ")"]):
            found.append(range(i, i + len(texts)))
    return found


def _check(tokens: list[Token], sql: str) -> None:
    """Refuses CONFIG (execute_mode = 'request', values = (...)), which gives a row of its own."""
    for token, opening, key in zip(tokens, tokens[1:], tokens[2:], strict=False):
        given = opening.token_type is TokenType.L_PAREN and key.text.upper() in ("EXECUTE_MODE", "VALUES")
        if given and token.text.upper() == "CONFIG":
            raise error_at(
                sql,
                span_of(token, tokens[-1]),
                "CONFIG says how OpenMLDB runs a query",
                "leave it out: a model runs in batch, and `sparkstream request` gives the features of a row",
            )


_ENDS_OPERAND = (
    *(TokenType.VAR, TokenType.IDENTIFIER, TokenType.NUMBER, TokenType.STRING),
    *(TokenType.R_PAREN, TokenType.R_BRACKET),
)
_BEGINS_OPERAND = (
    *(TokenType.VAR, TokenType.IDENTIFIER, TokenType.NUMBER, TokenType.STRING),
    *(TokenType.L_PAREN, TokenType.DASH, TokenType.CASE),
)


def is_mod(tokens: list[Token], index: int) -> bool:
    """True if a token is the operator MOD, between two operands, and not a function, column or alias of this name."""
    if tokens[index].token_type is not TokenType.VAR or tokens[index].text.upper() != "MOD":
        return False
    if not 0 < index < len(tokens) - 1:
        return False
    before, behind = tokens[index - 1].token_type, tokens[index + 1].token_type
    return before in _ENDS_OPERAND and behind in _BEGINS_OPERAND


def begins_fraction(tokens: list[Token], index: int) -> bool:
    """True if a number follows the point of .5, and not the dot of a name."""
    point = tokens[index - 1] if index else None
    if point is None or point.token_type is not TokenType.DOT or point.end + 1 != tokens[index].start:
        return False
    return index == 1 or tokens[index - 2].token_type not in _ENDS_OPERAND


def _understood(tokens: list[Token], index: int) -> Token:
    """A token as it is meant: MOD between operands is an operator, and 3L and 1.5f are numbers."""
    token = tokens[index]
    if is_mod(tokens, index):
        return retyped(token, TokenType.MOD)
    number = token.token_type is TokenType.VAR and re.fullmatch(r"\d+(\.\d*)?[lLfF]", token.text)
    return retyped(token, TokenType.NUMBER) if number else token
