"""Queries whose state leaves Spark whenever it changes: slices, or windows that a model shows while they are open.

Spark hands out what a micro-batch has changed (update mode). That is kept beside the checkpoint until its windows are
over. Each micro-batch makes the table's rows of the windows that it closes, and the open ones of the others.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.columns import Resolver
from dbt.adapters.sparkstream.sql.core.types import NTZ
from dbt.adapters.sparkstream.sql.core.windows import WindowFunction, window_functions
from dbt.adapters.sparkstream.sql.core.writing import Select
from dbt.adapters.sparkstream.sql.passes.optimize import Decision
from dbt.adapters.sparkstream.sql.passes.optimize.block import WindowAggregate, read_aggregate
from dbt.adapters.sparkstream.sql.passes.optimize.norule import NoRule
from dbt.adapters.sparkstream.sql.statement import Statement
from dbt.adapters.sparkstream.sql.streaming.cut import Cut
from dbt.adapters.sparkstream.sql.streaming.endings import CLOSED, NEW, SO_FAR
from dbt.adapters.sparkstream.sql.streaming.history import END
from dbt.adapters.sparkstream.sql.streaming.names import Streams, ctes_of
from dbt.adapters.sparkstream.sql.streaming.rowsessions import check_around
from dbt.adapters.sparkstream.sql.streaming.stages import Stage


@dataclass(frozen=True)
class KeptState:
    """A query whose state is kept.

    Attributes:
        stage: gives the rows with what tells their slices or windows.
        query: gives the slices or windows, over the stage.
        kept: gives those of windows that are open before a micro-batch, over `SO_FAR`.
        closed: gives the windows that a micro-batch closes, over `KEPT`.
        open: gives the windows that are open after it, over `KEPT`.
        rest: what is done with windows, over `CLOSED`.
        decision: the rule that puts windows together from slices; None where windows are kept.
    """

    stage: Stage
    query: str
    kept: str
    closed: str
    open: str
    rest: str
    decision: Decision | None = None


def streamed_windows(statement: Statement, streams: Streams) -> list[WindowFunction]:
    """The window functions of a query whose rows come from a stream."""
    [tree] = statement.trees
    return [function for function in window_functions(tree) if streams.feeds(function)]


def changed(keys: Iterable[str], values: Iterable[str], condition: str) -> str:
    """What was kept, and in the place of what a micro-batch has changed, these.

    Args:
        keys: the columns that tell slices or windows apart.
        values: the others.
        condition: which are still needed.
    """
    by = list(keys)
    return str(Select([*by, *(f"max_by({v}, {NEW}) AS {v}" for v in values)], SO_FAR, where=[condition], group=by))


class StateReader:
    """Reads a query whose state is kept.

    Args:
        statement: the query, with window functions as the optimiser reads them.
        streams: the names that stand for streams.
        resolver: finds columns and their types.
    """

    def __init__(self, statement: Statement, streams: Streams, resolver: Resolver) -> None:
        [self.tree] = statement.trees
        self.source = statement.source
        self.streams = streams
        self.resolver = resolver

    def aggregate(self, function: WindowFunction, identity: frozenset[str]) -> WindowAggregate:
        """The aggregation over a window function.

        Raises:
            NoRule, TranslationError: it needs other state besides, or what is around it windows of several
                micro-batches.
        """
        below = (function.this, *ctes_of(function.this))
        time = self.resolver.columns(function.this).find(function.timecol.name)
        if time is not None and time.type == NTZ:
            raise NoRule("its time can't carry a watermark")
        if any(node.find(WindowFunction) or next(self.streams.joins(node), None) for node in below):
            raise NoRule("its rows come from windows, or from a join of streams")
        check_around(self.tree, function, self.source, self.streams)
        return read_aggregate(self.source, self.resolver, function, identity, streams=True)

    @staticmethod
    def check_end(aggregate: WindowAggregate) -> None:
        """Refuses a query that doesn't say when its groups end."""
        if END not in aggregate.grouping.bounds:
            raise NoRule("it doesn't group by window_end")

    def rest(self, aggregate: WindowAggregate) -> str:
        """The query around the aggregation."""
        select, function = aggregate.select, aggregate.function
        where = select.args.get("where")
        if select.args.get("with_") or (where and where.find(exp.Query)):
            raise NoRule("there is a query within it")
        cut = Cut(select, function, function.this, self.tree, self.source, self.streams, buffered=False)
        return cut.around([(aggregate.block.span, aggregate.rewritten(CLOSED))]).text
