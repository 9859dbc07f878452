"""UNKNOWN, and NULL as a condition, which Spark wants to be a BOOLEAN."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.names.columns import Resolver
from dbt.adapters.sparkstream.sql.core.nodes import Unknown, compared
from dbt.adapters.sparkstream.sql.core.source import Edit, Source
from dbt.adapters.sparkstream.sql.passes.flink.rewriter import Rewriter


class Conditions(Rewriter):
    """Gives UNKNOWN and NULL their type."""

    def __init__(self, source: Source, resolver: Resolver) -> None:
        super().__init__(source, resolver)
        self.handlers = {exp.Case: self._case, Unknown: self._boolean}

    def _boolean(self, node: exp.Expr) -> Iterator[Edit]:
        yield self.edit(node, lambda: "CAST(NULL AS BOOLEAN)")

    def _case(self, node: exp.Expr) -> Iterator[Edit]:
        for condition in compared(node) if node.this is None else ():
            if isinstance(condition, exp.Null):
                yield from self._boolean(condition)
