"""UNKNOWN, and conditions that are no BOOLEAN: Spark converts a number or a text, or fails without a place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.cases import compared
from dbt.adapters.sparkstream.sql.core.columns import Resolver
from dbt.adapters.sparkstream.sql.core.source import Edit, Source
from dbt.adapters.sparkstream.sql.core.unknown import Unknown
from dbt.adapters.sparkstream.sql.passes.flink.rewriter import Rewriter

_BOOLEANS = (None, "boolean", "void")
"""Types that a condition may have: None is an unknown type, and void is the type of NULL."""


class Conditions(Rewriter):
    """Checks WHERE, HAVING, ON, QUALIFY, FILTER and WHEN, and what stands beside AND, OR and NOT."""

    def __init__(self, source: Source, resolver: Resolver) -> None:
        super().__init__(source, resolver)
        self.handlers = {
            **dict.fromkeys((exp.Where, exp.Having, exp.Qualify, exp.Not), self._of_this),
            **dict.fromkeys((exp.And, exp.Or), self._of_both),
            exp.Join: self._join,
            exp.Case: self._case,
            Unknown: self._unknown,
        }

    def _check(self, condition: exp.Expr, where: str) -> None:
        type_ = self.type(condition)
        if type_ not in _BOOLEANS:
            self.refuse(condition, f"{where} takes a condition, and this is of type {type_}", "compare it, as in x > 0")

    def _of_this(self, node: exp.Expr) -> Iterable[Edit]:
        self._check(node.this, node.key.upper())
        return ()

    def _of_both(self, node: exp.Expr) -> Iterable[Edit]:
        assert isinstance(node, exp.Connector)
        for side in (node.left, node.right):
            self._check(side, node.key.upper())
        return ()

    def _unknown(self, node: exp.Expr) -> Iterator[Edit]:
        yield self.edit(node, lambda: "CAST(NULL AS BOOLEAN)")

    def _join(self, node: exp.Expr) -> Iterable[Edit]:
        condition = node.args.get("on")
        if condition is not None and condition.meta:  # else sqlglot has put it there
            self._check(condition, "ON")
        return ()

    def _case(self, node: exp.Expr) -> Iterator[Edit]:
        if node.this is None:
            for condition in compared(node):
                self._check(condition, "WHEN")
                if isinstance(condition, exp.Null):  # Spark wants a condition to have its type
                    yield self.edit(condition, lambda: "CAST(NULL AS BOOLEAN)")
