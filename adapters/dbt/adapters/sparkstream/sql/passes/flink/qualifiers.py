"""Names of tables and columns that begin with Flink's own catalog and database."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.names.columns import Resolver
from dbt.adapters.sparkstream.sql.core.names.paths import default_qualifiers
from dbt.adapters.sparkstream.sql.core.names.scope import find_cte
from dbt.adapters.sparkstream.sql.core.source import Edit, Source
from dbt.adapters.sparkstream.sql.dialects.flink import qualifier
from dbt.adapters.sparkstream.sql.passes.flink.rewriter import Rewriter


class Qualifiers(Rewriter):
    """Leaves out `default_catalog.default_database.` before a table or a column."""

    def __init__(self, source: Source, resolver: Resolver) -> None:
        super().__init__(source, resolver)
        self.handlers = {
            exp.Table: self._table,
            exp.Column: self._column,
        }

    def _table(self, node: exp.Expr) -> Iterator[Edit]:
        assert isinstance(node, exp.Table)
        before = qualifier(node)
        if not before:
            return
        start, name = self.source.span(before[0])[0], self.source.span(node.this)
        if find_cte(node) is not None:
            self.refuse(
                (start, name[1]),
                f"WITH has a query called {node.name}, too, and Spark would take it",
                "give the query in WITH another name",
            )
        yield Edit((start, name[0]), lambda: "")

    def _column(self, node: exp.Expr) -> Iterator[Edit]:
        assert isinstance(node, exp.Column)
        parts = node.parts
        unsaid = default_qualifiers([part.name for part in parts[:-1]])
        if unsaid:
            yield Edit((self.source.span(parts[0])[0], self.source.span(parts[unsaid])[0]), lambda: "")
