"""Spark SQL plus window table functions and islands."""

from __future__ import annotations

from typing import ClassVar

from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.generators.spark import SparkGenerator
from sqlglot.tokens import TokenType

from dbt.adapters.sparkstream.sql.core.windows import WindowFunction
from dbt.adapters.sparkstream.sql.grammar.span_parser import SpanParser
from dbt.adapters.sparkstream.sql.grammar.window_parser import WindowParser


def window_function_sql(self: SparkGenerator, node: WindowFunction) -> str:
    """Writes a window table function as Flink spells it."""
    relation = self.sql(node, "this")
    table = relation if isinstance(node.this, exp.Subquery) else f"TABLE {relation}"
    if node.partition_by:
        keys = ", ".join(self.sql(key) for key in node.partition_by)
        table += f" PARTITION BY ({keys})"
    window = node.window
    intervals = [getattr(window, name) for name in window.arguments if name != "offset" or getattr(window, name)]
    arguments = ", ".join([table, f"DESCRIPTOR({self.sql(node, 'timecol')})", *(i.sql() for i in intervals)])
    return f"{window.name}({arguments})"


class SparkStream(Spark):
    SHAPE: ClassVar[str | None] = None
    """How a query is written, for errors about what can't be parsed."""
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

    class Generator(SparkGenerator):
        TRANSFORMS = {**SparkGenerator.TRANSFORMS, WindowFunction: window_function_sql}
