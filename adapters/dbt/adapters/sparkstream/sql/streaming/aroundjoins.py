"""Aggregates of one stream around each row of a second stream, as the macro `window_around` writes them.

    SELECT __left, sum(__value0) OVER (PARTITION BY __key0 ORDER BY __time
      RANGE BETWEEN INTERVAL '5' MINUTE PRECEDING AND INTERVAL '1' MINUTE FOLLOWING) AS total
    FROM (
      SELECT struct(*) AS __left, sym AS __key0, ts AS __time, NULL AS __value0 FROM trades
      UNION ALL
      SELECT NULL, sym, ts, px FROM quotes
    )

A trade has to wait until the watermark is a minute behind it. So its `__time` becomes `ts + INTERVAL '1' MINUTE`, at
which all its quotes are there, and its frame reaches six minutes back from then and ends at the current row.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.errors import NoRule
from dbt.adapters.sparkstream.sql.core.interval import Interval
from dbt.adapters.sparkstream.sql.core.names.scope import conjuncts
from dbt.adapters.sparkstream.sql.core.nodes import enclosing
from dbt.adapters.sparkstream.sql.core.over import named, offset
from dbt.adapters.sparkstream.sql.core.source import Edit, Source
from dbt.adapters.sparkstream.sql.core.types import LTZ
from dbt.adapters.sparkstream.sql.grammar.specs import FramedWindow
from dbt.adapters.sparkstream.sql.passes.flink.frames import in_force
from dbt.adapters.sparkstream.sql.streaming.asofjoins import columns_of, is_null, own_frames, reads_nulls, sides_of
from dbt.adapters.sparkstream.sql.streaming.names import Streams


def frames_ahead_as_frames_back(tree: exp.Expr, source: Source, streams: Streams) -> Iterator[Edit]:
    """Edits of frames that end behind their rows: the rows wait for this end, and the frames reach back from there."""
    for select in tree.find_all(exp.Select):
        yield from _edits(select, source, streams)


def _edits(select: exp.Select, source: Source, streams: Streams) -> Iterator[Edit]:
    frames = own_frames(select)
    defined = {id(window): window for window in (named(frame) or frame for frame in frames)}
    if len(defined) != 1 or isinstance(next(iter(defined.values())), FramedWindow):
        return
    spec, order = in_force(frames[0]).frame, in_force(frames[0]).order
    if spec is None or order is None or len(order.expressions) != 1 or str(spec.args.get("kind")).upper() != "RANGE":
        return
    asking, time = _asking(select, frames, streams), order.expressions[0].this
    if asking is None or not isinstance(time, exp.Column) or order.expressions[0].args.get("desc"):
        return
    item = columns_of(select, asking).get(time.name.casefold())
    try:
        start, end = (offset(source, spec, side, LTZ) for side in ("start", "end"))
    except NoRule:
        return
    if item is None or start is None or end is None or end <= 0:
        return
    back, ahead = f"RANGE BETWEEN {Interval(end - start).sql()} PRECEDING AND CURRENT ROW", Interval(end).sql()
    yield Edit(source.span(spec), lambda: back)
    yield Edit(source.span(item), lambda: f"{source.written(item)} + {ahead}")


def _asking(select: exp.Select, frames: list[exp.Window], streams: Streams) -> exp.Select | None:
    """The stream whose rows get aggregates over the other stream's rows."""
    sides = sides_of(select)
    around = enclosing(select.parent, exp.Select) if isinstance(select.parent, exp.Subquery) else None
    if not sides or around is None or not all(streams.feeds(side) for side in sides):
        return None
    for asking, other in (sides, reversed(sides)):
        mine, theirs = columns_of(select, asking), columns_of(select, other)
        if not all(reads_nulls(frame.this, mine) for frame in frames):
            continue
        for term in conjuncts(around.args.get("where")):
            test = term.this if isinstance(term, exp.Not) else None
            if isinstance(test, exp.Is) and isinstance(test.expression, exp.Null) and is_null(test.this, theirs):
                return asking
    return None
