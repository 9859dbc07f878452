"""Joins of windows with their highest values, by rank: a window's rows leave the stream together, and are ranked then.

    WITH c AS (SELECT ..., count(*) AS n ... GROUP BY k, window_start, window_end),
         m AS (SELECT window_start, window_end, max(n) AS n FROM c GROUP BY window_start, window_end)
    SELECT ... FROM c JOIN m ON ...

As a join, it reads the stream twice, and both sides of it wait in Spark's state.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.names.columns import Resolver
from dbt.adapters.sparkstream.sql.core.names.scope import find_cte, sources
from dbt.adapters.sparkstream.sql.core.nodes import find
from dbt.adapters.sparkstream.sql.core.source import Edit, Source
from dbt.adapters.sparkstream.sql.passes.optimize.highest import by_rank
from dbt.adapters.sparkstream.sql.streaming.names import Streams, with_only


def joins_by_rank(tree: exp.Expr, source: Source, streams: Streams, resolver: Resolver) -> Iterator[Edit]:
    """Ranks instead of the joins of a stream's groups with their highest or lowest values."""
    for select in find(tree, exp.Select):
        if len(sources(select)) == 2 and streams.feeds_query(select):
            yield from by_rank(source, resolver, select, lambda _: {})


def without_unread_ctes(tree: exp.Expr, source: Source, streams: Streams) -> Iterator[Edit]:
    """Edits that take out the CTEs over streams that nothing reads; those that only they read are next."""
    read = {id(find_cte(table)) for table in find(tree, exp.Table)}
    for with_ in find(tree, exp.With):
        kept = [cte for cte in with_.expressions if id(cte) in read or not streams.feeds(cte.this)]
        if len(kept) < len(with_.expressions):
            for span, text in with_only([source.span(cte) for cte in kept], with_, source):
                yield Edit.to(span, text)
