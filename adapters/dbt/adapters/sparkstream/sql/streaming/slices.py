"""HOP and CUMULATE on a stream by slices.

A row is in many windows and in one slice. So what Spark keeps is slices, and each micro-batch puts together the windows
that it closes, by the rules of the optimiser. A slice stays until the last window that it is in is over: a row that is
late for some of its windows still counts in the others.

Spark hands out the slices that a micro-batch has changed (update mode). Those of open windows are kept beside the
checkpoint.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.columns import Resolver
from dbt.adapters.sparkstream.sql.core.errors import TranslationError
from dbt.adapters.sparkstream.sql.core.schema import Schema
from dbt.adapters.sparkstream.sql.core.types import NTZ
from dbt.adapters.sparkstream.sql.core.windows import Window, WindowFunction, window_functions
from dbt.adapters.sparkstream.sql.core.writing import Select
from dbt.adapters.sparkstream.sql.passes.optimize import Decision
from dbt.adapters.sparkstream.sql.passes.optimize.block import WindowAggregate, read_aggregate
from dbt.adapters.sparkstream.sql.passes.optimize.norule import NoRule
from dbt.adapters.sparkstream.sql.passes.optimize.rule import SliceRule
from dbt.adapters.sparkstream.sql.passes.optimize.rules import SLICE_RULES
from dbt.adapters.sparkstream.sql.passes.optimize.slices import Slices, counts_values
from dbt.adapters.sparkstream.sql.statement import Statement
from dbt.adapters.sparkstream.sql.streaming.cut import Cut
from dbt.adapters.sparkstream.sql.streaming.endings import CLOSED, KEPT, NEW, SO_FAR, UNTIL
from dbt.adapters.sparkstream.sql.streaming.history import END
from dbt.adapters.sparkstream.sql.streaming.names import Streams, ctes_of, with_clause
from dbt.adapters.sparkstream.sql.streaming.rowsessions import check_around
from dbt.adapters.sparkstream.sql.streaming.stages import Stage

_CLOSES = "__closes"
"""The column of a slice that says when the last window is over that it is in."""


@dataclass(frozen=True)
class KeptSlices:
    """A query in which slices are kept.

    Attributes:
        stage: gives the rows with what tells their slices.
        query: gives the slices, over the stage.
        kept: gives the slices of windows that are open before a micro-batch, over `SO_FAR`.
        closed: gives the windows that a micro-batch closes, over `KEPT`.
        rest: what is done with them, over `CLOSED`.
        decision: the rule that puts windows together.
    """

    stage: Stage
    query: str
    kept: str
    closed: str
    rest: str
    decision: Decision


def sliced_windows(statement: Statement, streams: Streams) -> list[Window]:
    """The windows of a query that may be put together from slices."""
    return [function.window for function in _functions(statement, streams) if _rules(function)]


def keep_slices(statement: Statement, streams: Streams, schema: Schema | None) -> KeptSlices:
    """A query that keeps slices.

    Args:
        statement: a query that can run as a stream, and has windows of slices.
        streams: the names that stand for streams.

    Raises:
        NoRule: why it has to keep windows.
    """
    if len(_functions(statement, streams)) > 1:
        raise NoRule("there are other windows beside it")
    try:
        statement = Statement.parse(statement.windowed(schema).text, "spark", whole=True)
        [function] = _functions(statement, streams)
        [rule] = _rules(function)
        rule.pays(function.window)
        return _SliceReader(statement, streams, Resolver(schema)).read(function, rule)
    except TranslationError as error:
        raise NoRule("what stands around it needs windows of several micro-batches") from error


def _functions(statement: Statement, streams: Streams) -> list[WindowFunction]:
    [tree] = statement.trees
    return [function for function in window_functions(tree) if streams.feeds(function)]


def _rules(function: WindowFunction) -> list[SliceRule[Any]]:
    return [rule for rule in SLICE_RULES if isinstance(function.window, rule.window)]


class _SliceReader:
    """Reads a query for a rule."""

    def __init__(self, statement: Statement, streams: Streams, resolver: Resolver) -> None:
        [self._tree] = statement.trees
        self._source = statement.source
        self._streams = streams
        self._resolver = resolver

    def read(self, function: WindowFunction, rule: SliceRule[Any]) -> KeptSlices:
        """The query with its slices kept.

        Raises:
            NoRule, TranslationError: why they can't be.
        """
        self._check(function)
        aggregate = read_aggregate(self._source, self._resolver, function, rule.identity, streams=True)
        rule.check(aggregate)
        if END not in aggregate.grouping.bounds:
            raise NoRule("it doesn't group by window_end")
        if counts_values(aggregate):
            raise NoRule("the different values of count(DISTINCT ...) would be kept")
        view = f"__{function.window.name.lower()}_1"
        slices = rule.slices(aggregate, function.window)
        slices.given = KEPT
        windows = slices.written(rule.windows(slices, function.window), "")
        rows, start = slices.clock.slices(slices.relation, slices.slice, slices.offset)
        closes = slices.clock.typed(rule.last_end(slices, function.window))
        stage = f"{with_clause(self._source, function.this)}{Select(['*', f'{closes} AS {_CLOSES}'], rows)}"
        query = slices.query([slices.number(start), _CLOSES], view, start, _CLOSES)
        return KeptSlices(
            Stage(view, stage, str(function.timecol.name), _CLOSES, ()),
            str(query),
            _kept(slices),
            f"SELECT * FROM {windows}\nWHERE {_is_after(END)} AND {_is_over(END)}",
            self._rest(aggregate),
            Decision(function.window, rule.name),
        )

    def _check(self, function: WindowFunction) -> None:
        """Refuses what needs other state beside the slices, or windows of several micro-batches."""
        below = (function.this, *ctes_of(function.this))
        time = self._resolver.columns(function.this).find(function.timecol.name)
        if time is not None and time.type == NTZ:
            raise NoRule("its time can't carry a watermark")
        if any(node.find(WindowFunction) or next(self._streams.joins(node), None) for node in below):
            raise NoRule("its rows come from windows, or from a join of streams")
        check_around(self._tree, function, self._source, self._streams)

    def _rest(self, aggregate: WindowAggregate) -> str:
        """The query around the aggregation."""
        select, function = aggregate.select, aggregate.function
        where = select.args.get("where")
        if select.args.get("with_") or (where and where.find(exp.Query)):
            raise NoRule("there is a query within it")
        cut = Cut(select, function, function.this, self._tree, self._source, self._streams, buffered=False)
        return cut.around([(aggregate.block.span, aggregate.rewritten(CLOSED))]).text


def _kept(slices: Slices) -> str:
    """The slices that were there, and in the place of those that have changed, these."""
    keys = [*slices.keys, *slices.sets, "__slice"]
    values = [_CLOSES, *slices.aggregate.grouping_calls, *(c.name for c in slices.columns)]
    items = [*keys, *(f"max_by({name}, {NEW}) AS {name}" for name in values)]
    return str(Select(items, SO_FAR, where=[_is_after(_CLOSES)], group=keys))


def _is_after(column: str) -> str:
    return f"CAST({column} AS TIMESTAMP_NTZ) > (SELECT since FROM {UNTIL})"


def _is_over(column: str) -> str:
    return f"CAST({column} AS TIMESTAMP_NTZ) <= (SELECT until FROM {UNTIL})"
