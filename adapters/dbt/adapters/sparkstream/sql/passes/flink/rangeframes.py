"""Frames of a length of time, `RANGE INTERVAL '1' DAY PRECEDING`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.interval import IntervalError
from dbt.adapters.sparkstream.sql.core.names.columns import Resolver
from dbt.adapters.sparkstream.sql.core.source import Edit, Source
from dbt.adapters.sparkstream.sql.grammar.intervals import read_interval
from dbt.adapters.sparkstream.sql.passes.flink import instants
from dbt.adapters.sparkstream.sql.passes.flink.frames import is_unheeded
from dbt.adapters.sparkstream.sql.passes.flink.rewriter import Rewriter


class RangeFrames(Rewriter):
    """Gives both bounds of a frame one unit, and those of days over a TIMESTAMP_LTZ days of 24 hours."""

    def __init__(self, source: Source, resolver: Resolver) -> None:
        super().__init__(source, resolver)
        self.handlers = {exp.WindowSpec: self._frame}

    def _frame(self, frame: exp.Expr) -> Iterator[Edit]:
        window = frame.parent
        bounds = [bound for side in ("start", "end") if isinstance(bound := frame.args.get(side), exp.Interval)]
        if not bounds or not isinstance(window, exp.Window) or is_unheeded(window):
            return
        try:
            lengths = [read_interval(self.source.tokens_in(self.source.span(bound))) for bound in bounds]
        except IntervalError:  # of months, or no constant
            return
        order = window.args.get("order")
        key = order.expressions[0].this if isinstance(order, exp.Order) else None
        if any(map(instants.is_long, lengths)) and self.type(key) == "timestamp":
            # Spark adds days on the clock of the session's zone, to numbers as they elapse.
            assert key is not None
            yield Edit(self.source.span(key), lambda: f"UNIX_MICROS({self.text(key)})", level=1)
            for bound, length in zip(bounds, lengths, strict=True):
                yield self.edit(bound, partial(str, length.micros))
        elif len(bounds) == 2 and bounds[0].args.get("unit") != bounds[1].args.get("unit"):
            # Spark's are of one type, and an HOUR is no MINUTE.
            for bound, length, other in zip(bounds, lengths, reversed(lengths), strict=True):
                yield self.edit(bound, partial(length.sql, other))
