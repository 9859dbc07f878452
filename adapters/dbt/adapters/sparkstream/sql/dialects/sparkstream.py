"""Spark SQL plus window table functions and islands."""

from __future__ import annotations

from typing import ClassVar

from sqlglot.dialects.spark import Spark
from sqlglot.tokens import TokenType

from dbt.adapters.sparkstream.sql.grammar.span_parser import SpanParser
from dbt.adapters.sparkstream.sql.grammar.window_parser import WindowParser


class SparkStream(Spark):
    SHAPE: ClassVar[str | None] = None
    """Form of a query, for errors about SQL that can't be parsed."""
    FOREIGN: ClassVar[dict[tuple[str, str | None], tuple[str, str]]] = {}
    """Statements that Spark has no counterpart of: first word, second word or None -> message, hint."""
    SEVERAL: ClassVar[tuple[str, str] | None] = None
    """Message and hint for a second statement; None where a text may hold several."""

    class Tokenizer(Spark.Tokenizer):
        # sqlglot would take what follows EXPLAIN and the like for one text.
        COMMANDS: ClassVar[set[TokenType]] = set()

    class Parser(SpanParser):
        FUNCTION_PARSERS = {**SpanParser.FUNCTION_PARSERS, "SUBSTR": WindowParser.FUNCTION_PARSERS["SUBSTR"]}
        COLON_IS_VARIANT_EXTRACT: ClassVar[bool] = True  # v:a.b
