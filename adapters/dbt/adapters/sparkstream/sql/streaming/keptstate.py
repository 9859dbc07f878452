"""Queries whose state leaves Spark whenever it changes: slices, or windows that a model shows while they are open.

Spark hands out the slices or windows that a micro-batch has changed (update mode). The sidecar folder of the checkpoint
keeps them until their windows are over. Each micro-batch makes rows for the table from the windows that it closes; for
the view of open windows, from the windows that stay open.

A row is in many windows of HOP or CUMULATE and in one slice. So Spark keeps slices, and each micro-batch puts together
the windows that it closes, by the rules of the optimiser. A slice stays until the last of its windows is over: a row
that is late for some of its windows still counts in the windows that are open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.errors import NoRule, TranslationError
from dbt.adapters.sparkstream.sql.core.names.columns import Resolver
from dbt.adapters.sparkstream.sql.core.schema import Schema
from dbt.adapters.sparkstream.sql.core.types import NTZ
from dbt.adapters.sparkstream.sql.core.windows import WindowFunction, window_functions
from dbt.adapters.sparkstream.sql.core.writing import Select
from dbt.adapters.sparkstream.sql.passes.optimize.aggregates import Partial
from dbt.adapters.sparkstream.sql.passes.optimize.block import WindowAggregate, read_aggregate
from dbt.adapters.sparkstream.sql.passes.optimize.passes import SLICE_RULES, Decision
from dbt.adapters.sparkstream.sql.passes.optimize.rule import SliceRule
from dbt.adapters.sparkstream.sql.passes.optimize.slices import SliceColumn, Slices, counts_values
from dbt.adapters.sparkstream.sql.statement import Statement
from dbt.adapters.sparkstream.sql.streaming.above import Part, check_around
from dbt.adapters.sparkstream.sql.streaming.cut import Cut
from dbt.adapters.sparkstream.sql.streaming.endings import CLOSED, KEPT, NEW, SO_FAR, TOUCHED, UNTIL
from dbt.adapters.sparkstream.sql.streaming.history import END
from dbt.adapters.sparkstream.sql.streaming.names import Streams, ctes_of, with_clause
from dbt.adapters.sparkstream.sql.streaming.stages import Stage

_CLOSES = "__closes"
"""The column of a slice with the end of the last window that the slice is in."""


def streamed_windows(statement: Statement, streams: Streams) -> list[WindowFunction]:
    """The window functions of a query whose rows come from a stream."""
    [tree] = statement.trees
    return [function for function in window_functions(tree) if streams.feeds(function)]


def mark_touched(slices: Slices) -> None:
    """Adds a column that is true for the micro-batch's own rows: Spark returns only keys that it has changed."""
    slices.columns.append(SliceColumn(TOUCHED, Partial("count(TRUE)", subtracts=True), None))
    slices.passed = (TOUCHED,)


def changed(slices: Slices, by: Iterable[str], values: Iterable[str], condition: str) -> str:
    """Kept slices or windows after a micro-batch: changed ones have their new values.

    Args:
        by: the columns that tell slices or windows of one key apart.
        values: the columns beside keys and aggregates.
        condition: which are still needed.
    """
    keys = [*slices.keys, *slices.sets, *by]
    items = [
        f"CAST(max({NEW}) AS BIGINT) AS {TOUCHED}" if value == TOUCHED else f"max_by({value}, {NEW}) AS {value}"
        for value in (*values, *slices.aggregate.grouping_calls, *(column.name for column in slices.columns))
    ]
    return str(Select([*keys, *items], SO_FAR, where=[condition], group=keys))


@dataclass(frozen=True)
class Windows:
    """Windows of a micro-batch, by their ends: those that it closes, corrects or leaves open.

    Attributes:
        relation: gives the windows.
        is_after: the condition that a window ends after `since`, `until` or `dropped`.
        corrects: True if windows that are closed and have got late rows are to be corrected.
    """

    relation: str
    is_after: Callable[[str], str]
    corrects: bool

    @property
    def closed(self) -> str:
        """The windows that a micro-batch closes, and corrects."""
        after, until = self.is_after, f"NOT {self.is_after('until')}"
        if not self.corrects:
            return f"SELECT * FROM {self.relation}\nWHERE {after('since')} AND {until}"
        # All keys of a window, as one may take the place of another in what stands around, such as a Top-N.
        touched = f"SELECT *, max({TOUCHED}) OVER (PARTITION BY {END}) AS __corrects FROM {self.relation}"
        still = f"WHERE {after('dropped')} AND {until}"
        return f"SELECT * EXCEPT (__corrects) FROM (\n{touched}\n{still}\n)\nWHERE {after('since')} OR __corrects > 0"

    @property
    def open(self) -> str:
        """The windows that are open after the micro-batch."""
        return f"SELECT * FROM {self.relation}\nWHERE {self.is_after('until')}"

    @property
    def corrected(self) -> str | None:
        """The ends of the windows that a micro-batch corrects, over `CLOSED`; None where late rows correct nothing."""
        return f"SELECT DISTINCT {END} FROM {CLOSED}\nWHERE NOT {self.is_after('since')}" if self.corrects else None


@dataclass(frozen=True)
class KeptState:
    """A query whose state is kept.

    Attributes:
        stage: gives the rows with what tells their slices or windows.
        query: gives the slices or windows, over the stage.
        kept: gives the rows or slices of windows that are open before a micro-batch, over `SO_FAR`.
        windows: the windows of these, over `KEPT`.
        rest: what is done with windows, over `CLOSED`.
        decision: the rule that puts windows together from slices; None where windows are kept.
    """

    stage: Stage
    query: str
    kept: str
    windows: Windows
    rest: str
    decision: Decision | None = None


WINDOWS = Part("a window function", "make the windows a streaming model of their own, and read that")


class StateReader:
    """Reads a query whose state is kept.

    Args:
        statement: the query, with one window function over streams.
        streams: the names that stand for streams.
        schema: table or stream -> column -> Spark type, as far as known.
    """

    def __init__(self, statement: Statement, streams: Streams, schema: Schema | None) -> None:
        read = Statement.parse(statement.windowed(schema), "spark", whole=True)
        [self.tree], [self.function] = read.trees, streamed_windows(read, streams)
        self.source = read.source
        self.streams = streams
        self.resolver = Resolver(schema)

    def aggregate(self, identity: frozenset[str]) -> WindowAggregate:
        """The aggregation over the window function.

        Raises:
            NoRule, TranslationError: it needs other state besides, or what is around it windows of several
                micro-batches.
        """
        function = self.function
        below = (function.this, *ctes_of(function.this))
        time = self.resolver.columns(function.this).find(function.timecol.name)
        if time is not None and time.type == NTZ:
            raise NoRule("its time can't carry a watermark")
        if any(node.find(WindowFunction) or next(self.streams.joins(node), None) for node in below):
            raise NoRule("its rows come from windows, or from a join of streams")
        check_around(self.tree, function, below, self.source, self.streams, WINDOWS)
        aggregate = read_aggregate(self.source, self.resolver, function, identity, streams=True)
        if END not in aggregate.grouping.bounds:
            raise NoRule("it doesn't group by window_end")
        return aggregate

    def rest(self, aggregate: WindowAggregate) -> str:
        """The query around the aggregation."""
        select, function = aggregate.select, aggregate.function
        where = select.args.get("where")
        if select.args.get("with_") or (where and where.find(exp.Query)):
            raise NoRule("there is a query within it")
        cut = Cut(select, function, function.this, self.tree, self.source, self.streams, buffered=False)
        return cut.around([(aggregate.block.span, aggregate.rewritten(CLOSED))]).text


def keep_slices(
    statement: Statement,
    streams: Streams,
    schema: Schema | None,
    cut: Cut | None,
    *,
    utc: bool,
    optimize: bool,
    corrects: bool,
) -> tuple[KeptState | None, tuple[Decision, ...]]:
    """A query with its slices kept, or None; and for each window that has slices whether they are, or why not.

    Args:
        statement: a query that can run as a stream.
        streams: the names that stand for streams.
        schema: table or stream -> column -> Spark type, as far as known.
        cut: where the query leaves the stream; None where all of it can run as one.
        utc: True if the session's clock shows UTC.
        optimize: True if slices may be kept.
        corrects: True if late rows correct windows that are closed.
    """
    functions = streamed_windows(statement, streams)
    sliced = [function.window for function in functions if _rules(function)]
    if not sliced:
        return None, ()
    try:
        if not optimize:
            raise NoRule("the optimizer is off here")
        if not utc:
            raise NoRule("they are for a clock that shows UTC, whose windows end in the order of their times")
        if cut is not None and (cut.history or cut.waiting):
            raise NoRule("OVER needs rows of several micro-batches")
        if len(functions) > 1:
            raise NoRule("there are other windows beside it")
        kept = _read(StateReader(statement, streams, schema), corrects)
    except NoRule as reason:
        why = str(reason)
    except TranslationError:
        why = "what stands around it needs windows of several micro-batches"
    else:
        return kept, (kept.decision,) if kept.decision else ()
    return None, tuple(Decision(window, None, why) for window in sliced)


def _rules(function: WindowFunction) -> list[SliceRule[Any]]:
    return [rule for rule in SLICE_RULES if isinstance(function.window, rule.window)]


def _read(reader: StateReader, corrects: bool) -> KeptState:
    """The query with its slices kept."""
    function = reader.function
    [rule] = _rules(function)
    rule.pays(function.window)
    aggregate = reader.aggregate(rule.identity)
    rule.check(aggregate)
    if counts_values(aggregate):
        raise NoRule("the different values of count(DISTINCT ...) would be kept")
    view = f"__{function.window.name.lower()}_1"
    slices = rule.slices(aggregate, function.window)
    slices.given = KEPT
    if corrects:
        mark_touched(slices)
    windows = Windows(
        slices.written(rule.windows(slices, function.window), ""), lambda mark: _is_after(END, mark), corrects
    )
    rows, start = slices.clock.slices(slices.relation, slices.slice, slices.offset)
    closes = slices.clock.typed(rule.last_end(slices, function.window))
    stage = f"{with_clause(reader.source, function.this)}{Select(['*', f'{closes} AS {_CLOSES}'], rows)}"
    query = slices.query([slices.number(start), _CLOSES], view, start, _CLOSES)
    return KeptState(
        Stage(view, stage, str(function.timecol.name), _CLOSES, ()),
        str(query),
        changed(slices, ["__slice"], [_CLOSES], _is_after(_CLOSES, "dropped")),
        windows,
        reader.rest(aggregate),
        Decision(function.window, rule.name),
    )


def _is_after(column: str, watermark: str) -> str:
    return f"CAST({column} AS TIMESTAMP_NTZ) > (SELECT {watermark} FROM {UNTIL})"
