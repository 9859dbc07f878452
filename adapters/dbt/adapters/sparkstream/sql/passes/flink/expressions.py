"""Edits of expressions and queries that Spark would answer otherwise than Flink."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.names.columns import Resolver
from dbt.adapters.sparkstream.sql.core.source import Edit, Source
from dbt.adapters.sparkstream.sql.passes.flink.casts import Casts
from dbt.adapters.sparkstream.sql.passes.flink.clauses import Clauses
from dbt.adapters.sparkstream.sql.passes.flink.conditions import Conditions
from dbt.adapters.sparkstream.sql.passes.flink.constructs import Constructs
from dbt.adapters.sparkstream.sql.passes.flink.grouped import GroupedSubqueries
from dbt.adapters.sparkstream.sql.passes.flink.grouping import Groupings
from dbt.adapters.sparkstream.sql.passes.flink.guards import Guards
from dbt.adapters.sparkstream.sql.passes.flink.invocations import Invocations
from dbt.adapters.sparkstream.sql.passes.flink.json import Json
from dbt.adapters.sparkstream.sql.passes.flink.jsontexts import JsonTexts
from dbt.adapters.sparkstream.sql.passes.flink.lengths import Lengths
from dbt.adapters.sparkstream.sql.passes.flink.namedwindows import NamedWindows
from dbt.adapters.sparkstream.sql.passes.flink.numbers import NumberTypes
from dbt.adapters.sparkstream.sql.passes.flink.operators import Operators
from dbt.adapters.sparkstream.sql.passes.flink.orderkeys import OrderKeys
from dbt.adapters.sparkstream.sql.passes.flink.outputs import OutputNames
from dbt.adapters.sparkstream.sql.passes.flink.qualifiers import Qualifiers
from dbt.adapters.sparkstream.sql.passes.flink.queries import QueryChecks
from dbt.adapters.sparkstream.sql.passes.flink.rangeframes import RangeFrames
from dbt.adapters.sparkstream.sql.passes.flink.relations import Relations
from dbt.adapters.sparkstream.sql.passes.flink.rewriter import Rewriter
from dbt.adapters.sparkstream.sql.passes.flink.temporal import TemporalJoins
from dbt.adapters.sparkstream.sql.passes.flink.textparts import TextParts
from dbt.adapters.sparkstream.sql.passes.flink.times import TimeExpressions
from dbt.adapters.sparkstream.sql.passes.flink.timesofday import TimesOfDay
from dbt.adapters.sparkstream.sql.passes.flink.unnest import Unnesting

_REWRITERS: tuple[type[Rewriter], ...] = (
    Guards,
    Conditions,
    OrderKeys,
    Invocations,
    NamedWindows,
    Casts,
    Operators,
    NumberTypes,
    TextParts,
    TimeExpressions,
    Lengths,
    TimesOfDay,
    Constructs,
    Clauses,
    RangeFrames,
    Groupings,
    GroupedSubqueries,
    Json,
    JsonTexts,
    Qualifiers,
    QueryChecks,
    Relations,
    Unnesting,
    TemporalJoins,
    OutputNames,
)


class FlinkExpressions:
    """Edits the expressions of a statement written in Flink SQL.

    Args:
        joins_versions: whether temporal joins are written, too.
    """

    def __init__(self, source: Source, resolver: Resolver, *, joins_versions: bool = True) -> None:
        kinds = (kind for kind in _REWRITERS if joins_versions or kind is not TemporalJoins)
        self._rewriters = [kind(source, resolver) for kind in kinds]

    def edits(self, tree: exp.Expr) -> Iterator[Edit]:
        """Spark's way of saying what Flink means, wherever they differ.

        Raises:
            TranslationError: Flink refuses it, or Spark has no way to say it.
        """
        for node in tree.walk():
            for rewriter in self._rewriters:
                handler = rewriter.handlers.get(type(node))
                if handler:
                    yield from handler(node)
