"""HOP and CUMULATE on a stream by slices.

A row is in many windows and in one slice. So Spark keeps slices, and each micro-batch puts together the windows that it
closes, by the rules of the optimiser. A slice stays until the last of its windows is over: a row that is late for some
of its windows still counts in the windows that are open.
"""

from __future__ import annotations

from typing import Any

from dbt.adapters.sparkstream.sql.core.errors import TranslationError
from dbt.adapters.sparkstream.sql.core.schema import Schema
from dbt.adapters.sparkstream.sql.core.windows import Window, WindowFunction
from dbt.adapters.sparkstream.sql.core.writing import Select
from dbt.adapters.sparkstream.sql.passes.optimize.norule import NoRule
from dbt.adapters.sparkstream.sql.passes.optimize.passes import SLICE_RULES, Decision
from dbt.adapters.sparkstream.sql.passes.optimize.rule import SliceRule
from dbt.adapters.sparkstream.sql.passes.optimize.slices import Slices, counts_values
from dbt.adapters.sparkstream.sql.statement import Statement
from dbt.adapters.sparkstream.sql.streaming.endings import KEPT, UNTIL
from dbt.adapters.sparkstream.sql.streaming.history import END
from dbt.adapters.sparkstream.sql.streaming.keptstate import (
    KeptState,
    StateReader,
    Windows,
    changed,
    mark_touched,
    streamed_windows,
)
from dbt.adapters.sparkstream.sql.streaming.names import Streams, with_clause
from dbt.adapters.sparkstream.sql.streaming.stages import Stage

_CLOSES = "__closes"
"""The column of a slice that says when the last window is over that it is in."""


def sliced_windows(statement: Statement, streams: Streams) -> list[Window]:
    """The windows of a query that may be put together from slices."""
    return [function.window for function in streamed_windows(statement, streams) if _rules(function)]


def keep_slices(statement: Statement, streams: Streams, schema: Schema | None, *, corrects: bool) -> KeptState:
    """A query that keeps slices.

    Args:
        statement: a query that can run as a stream, and has windows of slices.
        streams: the names that stand for streams.
        schema: table or stream -> column -> Spark type, as far as known.
        corrects: whether late rows correct windows that are closed.

    Raises:
        NoRule: why it has to keep windows.
    """
    if len(streamed_windows(statement, streams)) > 1:
        raise NoRule("there are other windows beside it")
    try:
        return _read(StateReader(statement, streams, schema), corrects)
    except TranslationError as error:
        raise NoRule("what stands around it needs windows of several micro-batches") from error


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
        _kept(slices),
        windows,
        reader.rest(aggregate),
        Decision(function.window, rule.name),
    )


def _kept(slices: Slices) -> str:
    keys = [*slices.keys, *slices.sets, "__slice"]
    values = [_CLOSES, *slices.aggregate.grouping_calls, *(c.name for c in slices.columns)]
    return changed(keys, values, _is_after(_CLOSES, "dropped"))


def _is_after(column: str, watermark: str) -> str:
    return f"CAST({column} AS TIMESTAMP_NTZ) > (SELECT {watermark} FROM {UNTIL})"
