"""Scalar subqueries in Flink's queries with GROUP BY."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.names.columns import Resolver
from dbt.adapters.sparkstream.sql.core.source import Edit, Source
from dbt.adapters.sparkstream.sql.core.tree import enclosing
from dbt.adapters.sparkstream.sql.passes.flink.functions import AGGREGATES
from dbt.adapters.sparkstream.sql.passes.flink.grouping import several_sets
from dbt.adapters.sparkstream.sql.passes.flink.relations import reads_around
from dbt.adapters.sparkstream.sql.passes.flink.rewriter import Rewriter

_CLAUSES = (exp.Where, exp.Join, exp.Group, exp.From, exp.Lateral, exp.Select)


class GroupedSubqueries(Rewriter):
    """Takes `(SELECT MAX(e) FROM s WHERE s.h = t.b)` of a group's first row: it reads keys alone, equal in all rows.

    Spark wants such a subquery in GROUP BY, or in an aggregate.
    """

    def __init__(self, source: Source, resolver: Resolver) -> None:
        super().__init__(source, resolver)
        self.handlers = {exp.Subquery: self._subquery, exp.Exists: self._test, exp.In: self._test}

    def _subquery(self, node: exp.Expr) -> Iterator[Edit]:
        query = node.this.unnest() if isinstance(node.this, exp.Expr) else None
        clause = enclosing(node, *_CLAUSES)
        if not isinstance(query, exp.Select) or not isinstance(clause, exp.Select):
            return
        group = clause.args.get("group")
        if group is None or isinstance(node.parent, (exp.In, exp.Exists, exp.Any, exp.All)):
            return
        if self._in_aggregate(node, clause) or not reads_around(self.resolver, query, clause):
            return
        if several_sets(group):
            self._refuse_several(node)
        yield Edit(self.source.span(node), lambda: f"FIRST({self.text(node)})", level=1)

    def _test(self, node: exp.Expr) -> Iterator[Edit]:
        """EXISTS and IN in a query with several sets of keys: Spark plans it and fails as it runs (4.1 to 4.3)."""
        query = node.args.get("query") if isinstance(node, exp.In) else node.this
        query = query.unnest() if isinstance(query, exp.Expr) else None
        clause = enclosing(node, *_CLAUSES)
        if not isinstance(query, exp.Select) or not isinstance(clause, exp.Select):
            return
        group = clause.args.get("group")
        if group is None or not several_sets(group) or self._in_aggregate(node, clause):
            return
        if reads_around(self.resolver, query, clause):
            self._refuse_several(node)
        yield from ()

    def _refuse_several(self, node: exp.Expr) -> None:
        self.refuse(
            node,
            "beside several sets of keys, Spark takes no subquery that reads one of them",
            "group in a subquery, and write this one in a query around it",
        )

    def _in_aggregate(self, node: exp.Expr, select: exp.Select) -> bool:
        around = node.parent
        while around is not None and around is not select:
            if isinstance(around, exp.Anonymous) and around.name.upper() in AGGREGATES:
                return True
            around = around.parent
        return False
