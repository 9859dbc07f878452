"""The dialects as they are read for a stream: with the place of every expression."""

from __future__ import annotations

from dbt.adapters.sparkstream.sql.dialects import DIALECTS
from dbt.adapters.sparkstream.sql.dialects.sparkstream import SparkStream
from dbt.adapters.sparkstream.sql.grammar.span_parser import SpanParser


class SpannedSpark(SparkStream):
    """Spark SQL with window functions, with spans."""

    Parser = SpanParser


def dialect_with_spans(name: str) -> SparkStream:
    """The dialect of a name, such as `flink`, with a parser that notes where every expression stands."""
    known = DIALECTS[name]
    return (known if issubclass(known.Parser, SpanParser) else SpannedSpark)()
