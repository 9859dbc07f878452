"""Edits of expressions and queries that Spark would answer otherwise than Flink."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.names.columns import Resolver
from dbt.adapters.sparkstream.sql.core.source import Edit, Source
from dbt.adapters.sparkstream.sql.core.tree import every
from dbt.adapters.sparkstream.sql.passes.flink.arithmetic import Arithmetic
from dbt.adapters.sparkstream.sql.passes.flink.casts import Casts
from dbt.adapters.sparkstream.sql.passes.flink.constructs import Constructs
from dbt.adapters.sparkstream.sql.passes.flink.frames import OverWindows
from dbt.adapters.sparkstream.sql.passes.flink.grouping import Groupings
from dbt.adapters.sparkstream.sql.passes.flink.invocations import Invocations
from dbt.adapters.sparkstream.sql.passes.flink.json import Json
from dbt.adapters.sparkstream.sql.passes.flink.literals import Literals
from dbt.adapters.sparkstream.sql.passes.flink.names import FlinkNames
from dbt.adapters.sparkstream.sql.passes.flink.predicates import Predicates
from dbt.adapters.sparkstream.sql.passes.flink.queries import FlinkQueries
from dbt.adapters.sparkstream.sql.passes.flink.relations import Relations
from dbt.adapters.sparkstream.sql.passes.flink.rewriter import Rewriter
from dbt.adapters.sparkstream.sql.passes.flink.subqueries import Subqueries
from dbt.adapters.sparkstream.sql.passes.flink.temporal import TemporalJoins
from dbt.adapters.sparkstream.sql.passes.flink.texts import TextParts
from dbt.adapters.sparkstream.sql.passes.flink.times import TimeExpressions

REWRITERS: tuple[type[Rewriter], ...] = (
    FlinkQueries,
    FlinkNames,
    Relations,
    TemporalJoins,
    Subqueries,
    Groupings,
    OverWindows,
    Invocations,
    Predicates,
    Arithmetic,
    Constructs,
    Casts,
    Literals,
    TextParts,
    TimeExpressions,
    Json,
)
"""The owners of all kinds of nodes that are edited, each kind with one of them."""


class FlinkExpressions:
    """Edits the expressions of a statement written in Flink SQL.

    Args:
        joins_versions: whether temporal joins are written, too.
    """

    def __init__(self, source: Source, resolver: Resolver, *, joins_versions: bool = True) -> None:
        self._handlers: dict[type[exp.Expr], Callable[[exp.Expr], Iterable[Edit]]] = {}
        for kind in REWRITERS:
            if joins_versions or kind is not TemporalJoins:
                rewriter = kind(source, resolver)
                self._handlers |= {node: getattr(rewriter, name) for node, name in kind.handlers.items()}

    def edits(self, tree: exp.Expr) -> Iterator[Edit]:
        """Spark's way of saying what Flink means, wherever they differ."""
        for node in every(tree):
            handler = self._handlers.get(type(node))
            if handler is not None:
                yield from handler(node)
