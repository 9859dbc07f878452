"""Windows that a model shows while they are open, or corrects: Spark hands out each one that a micro-batch has changed.

A window has one row for each group. The kept rows are the windows that can still change, each with its aggregates so
far. A window closes in the micro-batch in which the watermark passes its end. Spark's own state has the same windows
and drops them at the same watermark, so a row is late here when Spark takes it as late. Where late rows correct windows
(`late_rows: update`), Spark's watermark is behind the closing watermark by the lateness.
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.errors import NoRule, TranslationError
from dbt.adapters.sparkstream.sql.core.interval import ZERO
from dbt.adapters.sparkstream.sql.core.schema import Schema
from dbt.adapters.sparkstream.sql.core.source import Source
from dbt.adapters.sparkstream.sql.core.windows import Session, WindowFunction
from dbt.adapters.sparkstream.sql.core.writing import named
from dbt.adapters.sparkstream.sql.passes.optimize.block import WindowAggregate
from dbt.adapters.sparkstream.sql.passes.optimize.copies import whole
from dbt.adapters.sparkstream.sql.passes.optimize.slices import Slices
from dbt.adapters.sparkstream.sql.statement import Statement
from dbt.adapters.sparkstream.sql.streaming.cut import Cut
from dbt.adapters.sparkstream.sql.streaming.distinct import has_distinct
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
from dbt.adapters.sparkstream.sql.streaming.names import Streams
from dbt.adapters.sparkstream.sql.streaming.stages import StagedWindows

EMIT_OPEN = "emit='open'"
UPDATE = "late_rows='update'"
"""The configs that need windows kept, as messages name them."""

_DOES = {EMIT_OPEN: "shows windows that are open", UPDATE: "corrects windows that are closed"}


def keep_windows(
    statement: Statement, streams: Streams, schema: Schema | None, cut: Cut | None, config: str, *, utc: bool
) -> KeptState:
    """A query that keeps windows, and can show open windows, or correct closed ones; arguments as of `keep_slices`.

    Args:
        config: why: `EMIT_OPEN`, or `UPDATE`, with which windows are corrected.

    Raises:
        TranslationError: its windows can't be seen before they close.
    """
    [tree] = statement.trees
    source = statement.source
    function = _only_window(statement, streams, config)
    hint = (
        f"leave {config} out, or write one aggregation of one window function, with what joins and computes its rows "
        "in the function's own input"
    )
    place = source.call_span(function)
    if isinstance(function.window, Session):
        raise source.error(
            place,
            f"{config} doesn't go with SESSION: Spark hands out a session when it is closed, and not before",
            f"leave {config} out, or use TUMBLE, HOP or CUMULATE",
        )
    if cut is not None and cut.history is not None:
        raise source.error(
            cut.select,
            f"{config} doesn't go with OVER across windows: its rows come in the order in which windows close",
            f"make the aggregation a streaming model with {config}, and OVER a model that reads it",
        )
    for select in tree.find_all(exp.Select):
        if has_distinct(select) and streams.feeds_query(select):
            raise source.error(
                select,
                f"{config} doesn't go with aggregates of DISTINCT values: they take two aggregations on a stream, "
                "and Spark hands out what changes in one",
                f"write approx_count_distinct, or leave {config} out",
            )
    try:
        return _read(StateReader(statement, streams, schema), utc, config == UPDATE)
    except NoRule as reason:
        raise source.error(place, f"{config} can't be had for this query: {reason}", hint) from reason
    except TranslationError as error:
        raise source.error(
            place,
            f"{config} can't be had here: what is around the windows needs windows of several micro-batches",
            hint,
        ) from error


def _only_window(statement: Statement, streams: Streams, config: str) -> WindowFunction:
    found = streamed_windows(statement, streams)
    source: Source = statement.source
    if not found:
        raise source.error(
            (0, len(source.text)),
            f"{config} {_DOES[config]}, and this query has none",
            "read the stream through TUMBLE, HOP or CUMULATE and group by window_start and window_end, "
            f"or leave {config} out",
        )
    if len(found) > 1:
        raise source.error(
            source.call_span(found[1]),
            f"{config} {_DOES[config].split()[0]} the windows of one window function, and this query has several",
            "make each of them a streaming model of its own",
        )
    return found[0]


def _read(reader: StateReader, utc: bool, corrects: bool) -> KeptState:
    """The query with its windows kept."""
    aggregate = reader.aggregate(frozenset({END}))
    bounds = _bounds(aggregate)
    staged = StagedWindows(reader.source, reader.resolver, reader.streams, None, utc=utc)
    for edit in staged.edits(reader.tree):
        if edit.span == reader.source.span(reader.function):
            edit.text()
    [stage] = staged.stages
    # Slices have no length and no place here: rows are grouped by the bounds of their windows.
    slices = Slices(aggregate, ZERO, 1, ZERO, whole)
    if corrects:
        mark_touched(slices)
    windows = Windows(KEPT, _is_after, corrects)
    query = slices.query(named({bound: bound for bound in bounds}), stage.view, *bounds)
    return KeptState(
        replace(stage, closes=()),
        str(query),
        changed(slices, bounds, [], _is_after("dropped")),
        windows,
        reader.rest(aggregate),
    )


def _bounds(aggregate: WindowAggregate) -> list[str]:
    """The columns of the window that tell its rows apart."""
    bounds = list(aggregate.grouping.bounds)
    other = sorted(aggregate.window_columns() - set(bounds))
    if other:
        raise NoRule(f"{other[0]} is used, and isn't grouped by")
    return bounds


def _is_after(watermark: str) -> str:
    """Condition that a window ends after a watermark; both are instants, as for Spark's own state."""
    return f"{END} > (SELECT {watermark}_at FROM {UNTIL})"
