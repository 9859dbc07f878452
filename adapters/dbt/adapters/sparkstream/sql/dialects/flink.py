"""Flink SQL, as far as Spark can run it."""

from __future__ import annotations

from typing import ClassVar

from sqlglot.generators.spark import SparkGenerator
from sqlglot.tokens import TokenType

from dbt.adapters.sparkstream.sql.core.windows import WindowFunction
from dbt.adapters.sparkstream.sql.dialects.sparkstream import SparkStream, window_function_sql
from dbt.adapters.sparkstream.sql.grammar.match_grammar import MatchGrammar
from dbt.adapters.sparkstream.sql.grammar.spans import with_spans


class Flink(SparkStream):
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
            "MATCH_RECOGNIZE": TokenType.MATCH_RECOGNIZE,
        }
        UNICODE_STRINGS: ClassVar[list[str | tuple[str, str]]] = [("U&'", "'"), ("u&'", "'")]
        RAW_STRINGS: ClassVar[list[str | tuple[str, str]]] = []

    @with_spans("_parse_limit", "_parse_offset")
    class Parser(MatchGrammar):
        STRICT_FLINK = True

    class Generator(SparkGenerator):
        TRANSFORMS = {**SparkGenerator.TRANSFORMS, WindowFunction: window_function_sql}
