"""Views as streams: Spark streams from tables only, so the table below is read, and the view's query put over it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from dbt.adapters.sparkstream.sql import TranslationError
from dbt.adapters.sparkstream.sql.streaming import RowView
from dbt.adapters.sparkstream.streaming.refusals import StreamingError
from dbt.adapters.sparkstream.streaming.sources.source import StreamSource, View
from dbt.adapters.sparkstream.streaming.spark.engine import Engine
from dbt.adapters.sparkstream.streaming.tables.table import Facts


def seen(engine: Engine, source: StreamSource, facts_of: Callable[[str], Facts]) -> StreamSource:
    """A source as it can be streamed: of a view, the table below it, seen through the view.

    Args:
        engine: the Spark that has it.
        source: the source.
        facts_of: tells what the catalog knows of a table or view.

    Raises:
        StreamingError: the view has rows that aren't each of one row of a table.
    """
    view = source.relation
    query: RowView | None = None
    facts = facts_of(view)
    while facts.kind == "VIEW":
        try:
            below = RowView.read(facts.query)
        except TranslationError as error:
            raise StreamingError(
                f"{view} is a view that doesn't stream: {error.message}\n"
                "  read the table below it with stream(), and put what the view does into this model"
            ) from error
        query = below if query is None else below.below(query)
        table = query.table if "." in query.table else f"{facts.namespace}.{query.table}"
        facts = facts_of(table)
    if query is None:
        return source
    return replace(source, relation=table, seen=View(query, tuple(engine.columns(view))))
