"""Aggregates that Flink lets be ordered, and doesn't order."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.errors import TranslationWarning
from dbt.adapters.sparkstream.sql.core.source import Source

UNORDERED = "ARRAY_AGG"
"""The aggregate that takes an ORDER BY, of which Flink takes no notice."""


def unheeded_orders(tree: exp.Expr, source: Source) -> Iterator[TranslationWarning]:
    """A warning for each `ARRAY_AGG(x ORDER BY y)`, whose ORDER BY is left out."""
    for order in tree.find_all(exp.Order):
        call = order.parent
        if isinstance(call, exp.Anonymous) and call.name.upper() == UNORDERED:
            yield source.warning(
                source.call_span(call),
                f"Flink's {UNORDERED} heeds no ORDER BY, so it is left out",
                "to have an order, write ARRAY_SORT(ARRAY_AGG(x))",
            )
