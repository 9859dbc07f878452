"""Conditions that Spark reads otherwise: UNKNOWN, NULL in CASE WHEN, and `a IS NULL IS TRUE` without parentheses."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.names.columns import Resolver
from dbt.adapters.sparkstream.sql.core.nodes import Unknown, compared
from dbt.adapters.sparkstream.sql.core.source import SPAN, Edit, Source
from dbt.adapters.sparkstream.sql.passes.flink.rewriter import Rewriter

_PREDICATES = (exp.Is, exp.Not, exp.NullSafeEQ, exp.NullSafeNEQ)


class Conditions(Rewriter):
    """Gives UNKNOWN and NULL their type, and a predicate before IS its parentheses."""

    def __init__(self, source: Source, resolver: Resolver) -> None:
        super().__init__(source, resolver)
        self.handlers = {exp.Case: self._case, exp.Is: self._is, Unknown: self._boolean}

    def _boolean(self, node: exp.Expr) -> Iterator[Edit]:
        yield self.edit(node, lambda: "CAST(NULL AS BOOLEAN)")

    def _case(self, node: exp.Expr) -> Iterator[Edit]:
        for condition in compared(node) if node.this is None else ():
            if isinstance(condition, exp.Null):
                yield from self._boolean(condition)

    def _is(self, node: exp.Expr) -> Iterator[Edit]:
        before = node.this
        if isinstance(before, exp.Paren) and SPAN not in before.meta:  # sqlglot has put them there
            before = before.this
        if isinstance(before, _PREDICATES):
            yield Edit(self.source.span(before), lambda: f"({self.text(before)})", level=3)
