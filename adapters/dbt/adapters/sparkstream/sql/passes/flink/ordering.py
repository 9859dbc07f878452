"""What ORDER BY and set operations of Flink SQL compare: values that have an order, under names that there are."""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.columns import Resolver
from dbt.adapters.sparkstream.sql.core.nested import entry
from dbt.adapters.sparkstream.sql.core.source import Edit, Source
from dbt.adapters.sparkstream.sql.passes.flink.rewriter import Rewriter


class Ordering(Rewriter):
    """Refuses a MAP as a key of ORDER BY or in UNION, and ORDER BY of what a set operation doesn't give."""

    def __init__(self, source: Source, resolver: Resolver) -> None:
        super().__init__(source, resolver)
        self.handlers = {
            exp.Ordered: self._ordered,
            **dict.fromkeys((exp.Union, exp.Except, exp.Intersect), self._set_operation),
        }

    def _ordered(self, node: exp.Expr) -> Iterable[Edit]:
        if entry(self.type(node.this)) is not None:
            self.refuse(node.this, "a MAP has no order", "order by MAP_KEYS(m), or by m['k']")
        return ()

    def _set_operation(self, node: exp.Expr) -> Iterable[Edit]:
        columns = self.resolver.columns(node)
        if node.args.get("distinct") and any(entry(column.type) is not None for column in columns.items):
            self.refuse(node, "a MAP has no order, so rows with one aren't compared", "write UNION ALL, or MAP_KEYS(m)")
        order = node.args.get("order")
        for item in order.expressions if order is not None and columns.complete else ():
            key = item.this
            if isinstance(key, exp.Column) and not key.table and columns.find(key.name) is None:
                known = ", ".join(column.name for column in columns.items)
                self.refuse(
                    key, f"these queries give no column {key.name}", f"they give {known}, as the first names it"
                )
        return ()
