"""Flink SQL, as far as Spark can run it."""

from __future__ import annotations

from typing import ClassVar

from sqlglot.generators.spark import SparkGenerator

from dbt.adapters.sparkstream.sql.dialects.sparkstream import SparkStream, window_function_sql
from dbt.adapters.sparkstream.sql.parser import WindowParser
from dbt.adapters.sparkstream.sql.windows import WindowFunction


class Flink(SparkStream):
    class Tokenizer(SparkStream.Tokenizer):
        # A string is closed by a quote, and a quote in it is doubled; a backslash is a character like any other.
        QUOTES = ["'"]
        IDENTIFIERS = ["`"]
        STRING_ESCAPES = ["'"]
        IDENTIFIER_ESCAPES = ["`"]
        RAW_STRINGS: ClassVar[list[str | tuple[str, str]]] = []

    class Parser(WindowParser):
        STRICT_FLINK = True

    class Generator(SparkGenerator):
        TRANSFORMS = {**SparkGenerator.TRANSFORMS, WindowFunction: window_function_sql}
