"""Flink SQL, as far as Spark can run it."""

from __future__ import annotations

from typing import ClassVar

from sqlglot import exp
from sqlglot.generators.spark import SparkGenerator
from sqlglot.tokens import Token, TokenType

from dbt.adapters.sparkstream.sql.core.windows import WindowFunction
from dbt.adapters.sparkstream.sql.dialects.sparkstream import SparkStream, window_function_sql
from dbt.adapters.sparkstream.sql.grammar.json_grammar import parse_aggregate, parse_array, parse_object, parse_path
from dbt.adapters.sparkstream.sql.grammar.match_grammar import MatchGrammar
from dbt.adapters.sparkstream.sql.grammar.span_parser import ForeignParser
from dbt.adapters.sparkstream.sql.grammar.spans import with_spans
from dbt.adapters.sparkstream.sql.grammar.window_parser import WindowParser

_HINT = "`sparkstream import flink job.sql` makes a dbt project of a script; here, leave all but the query out"


_SCRIPT_WORDS = (
    "SET RESET CREATE DROP ALTER INSERT UPDATE DELETE TRUNCATE ANALYZE EXECUTE COMPILE USE CALL EXPLAIN DESCRIBE "
    "DESC SHOW"
)


class Flink(SparkStream):
    FOREIGN: ClassVar[dict[tuple[str, str | None], tuple[str, str]]] = dict.fromkeys(
        [
            *((word, None) for word in _SCRIPT_WORDS.split()),
            ("BEGIN", "STATEMENT"),
            ("LOAD", "MODULE"),
            ("ADD JAR", None),
        ],
        ("a model holds one query, and this is a statement of a script", _HINT),
    )
    SEVERAL = ("a model holds one query, and this is a second statement", _HINT)

    class Tokenizer(SparkStream.Tokenizer):
        # A string is closed by a quote, and a quote in it is doubled; a backslash is a character like any other.
        QUOTES = ["'"]
        IDENTIFIERS = ["`"]
        STRING_ESCAPES = ["'"]
        IDENTIFIER_ESCAPES = ["`"]
        # TIMESTAMP has no zone in Flink.
        KEYWORDS = {
            **SparkStream.Tokenizer.KEYWORDS,
            "TIMESTAMP": TokenType.TIMESTAMPNTZ,
            "TIMESTAMP_LTZ": TokenType.TIMESTAMPLTZ,
            "BYTES": TokenType.BINARY,
            "MATCH_RECOGNIZE": TokenType.MATCH_RECOGNIZE,
        }
        BYTE_STRINGS: ClassVar[list[str | tuple[str, str]]] = [("E'", "'"), ("e'", "'")]
        BYTE_STRING_ESCAPES: ClassVar[list[str]] = ["'", "\\"]
        UNICODE_STRINGS: ClassVar[list[str | tuple[str, str]]] = [("U&'", "'"), ("u&'", "'")]
        RAW_STRINGS: ClassVar[list[str | tuple[str, str]]] = []
        VAR_SINGLE_TOKENS: ClassVar[set[str]] = {"$"}  # EXPR$0 is a name

    @with_spans("_parse_limit", "_parse_offset")
    class Parser(MatchGrammar):
        STRICT_FLINK = True
        FUNCTION_PARSERS = {
            **ForeignParser.FUNCTION_PARSERS,
            "CEILING": ForeignParser.FUNCTION_PARSERS["CEIL"],
            "SUBSTR": WindowParser.FUNCTION_PARSERS["SUBSTR"],
            "POSITION": lambda self: self._parse_position_from(),
            "JSON_VALUE": lambda self: parse_path(self, "VALUE"),
            "JSON_QUERY": lambda self: parse_path(self, "QUERY"),
            "JSON_EXISTS": lambda self: parse_path(self, "EXISTS"),
            "JSON_OBJECT": lambda self: parse_object(self),
            "JSON_ARRAY": lambda self: parse_array(self),
            "JSON_OBJECTAGG": lambda self: parse_aggregate(self, "JSON_OBJECTAGG"),
            "JSON_ARRAYAGG": lambda self: parse_aggregate(self, "JSON_ARRAYAGG"),
        }

        def _parse_position_from(self) -> exp.StrPosition:
            """POSITION('l' IN text FROM 4)."""
            found = self._parse_position()
            if self._match(TokenType.FROM):
                found.set("position", self._parse_bitwise())
            return found

        def parse(self, raw_tokens: list[Token], sql: str = "") -> list[exp.Expr | None]:
            # ROW<v INT> is what sqlglot calls a struct; ROW(1, 2) is a call.
            behind = [*raw_tokens[1:], None]
            return super().parse([_as_struct(t, n) for t, n in zip(raw_tokens, behind, strict=True)], sql)

    class Generator(SparkGenerator):
        TRANSFORMS = {**SparkGenerator.TRANSFORMS, WindowFunction: window_function_sql}


def _as_struct(token: Token, following: Token | None) -> Token:
    """The ROW of a type as sqlglot's word for it; any other token as it is."""
    if token.text.upper() != "ROW" or following is None or following.token_type != TokenType.LT:
        return token
    place = token.line, token.col, token.start, token.end
    return Token(TokenType.STRUCT, token.text, *place, token.comments)
