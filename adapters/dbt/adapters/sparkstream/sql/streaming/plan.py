"""From a model's query to what runs on a stream.

Spark drops the state of a window when the watermark passes a column that carries it. Its own `window()` makes such
a column; any other expression loses it. So each window function becomes a view of its own, a stage, and whoever runs
the plan marks the stage's `window_end`: from there on the query is the same as in batch.

What no stream can do (OVER, for one) comes after: all rows of a window leave the stream in the same micro-batch, so a
query over the closed rows of one micro-batch, window by window, is the query over all of them.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.errors import TranslationError, Warn
from dbt.adapters.sparkstream.sql.core.net import net
from dbt.adapters.sparkstream.sql.core.schema import Schema
from dbt.adapters.sparkstream.sql.core.scope import Columns
from dbt.adapters.sparkstream.sql.core.source import Edit, Source, blamed_on
from dbt.adapters.sparkstream.sql.grammar.words import may_hold_windows
from dbt.adapters.sparkstream.sql.passes.flink.expressions import FlinkExpressions
from dbt.adapters.sparkstream.sql.passes.match import Matches
from dbt.adapters.sparkstream.sql.passes.optimize import Decision
from dbt.adapters.sparkstream.sql.passes.optimize.norule import NoRule
from dbt.adapters.sparkstream.sql.passes.resolvers import resolver_of
from dbt.adapters.sparkstream.sql.statement import Statement
from dbt.adapters.sparkstream.sql.streaming.antijoins import AntiJoins
from dbt.adapters.sparkstream.sql.streaming.checks import check, check_unread
from dbt.adapters.sparkstream.sql.streaming.cut import Cut, find_cut
from dbt.adapters.sparkstream.sql.streaming.distinct import has_distinct, without_distinct
from dbt.adapters.sparkstream.sql.streaming.endings import Direct, Ending, OnSlices
from dbt.adapters.sparkstream.sql.streaming.fulljoins import FullJoins
from dbt.adapters.sparkstream.sql.streaming.names import Streams
from dbt.adapters.sparkstream.sql.streaming.slices import KeptSlices, keep_slices, sliced_windows
from dbt.adapters.sparkstream.sql.streaming.stages import Arrivals, Stage, StagedWindows

_DIRECT = Direct()


@dataclass(frozen=True)
class StreamPlan:
    """What runs on a stream.

    Attributes:
        stages: views to make first, in this order.
        query: the streaming query, over streams and stages.
        streams: the streams that it reads.
        ending: how the rows of `query` get into the table.
        buffered: whether the rows of `query` have to wait until their window is closed.
        late: the rows of the streams that are late when their `window_end` is not after the watermark.
        waits: whether anything in it waits for the watermark.
        read_once: whether it reads one stream, once.
        decisions: for each HOP and CUMULATE, whether its slices are kept, or why its windows are.
        time: the column by whose watermark rows have to leave the stream; None where Spark checks that itself.
        windows: the columns that tell the window of a row, where the rows have them.
        by_instant: whether there is a SESSION whose gap is elapsed time, and not, as in batch, on the wall clock.
    """

    stages: tuple[Stage, ...]
    query: str
    streams: tuple[str, ...]
    ending: Ending = _DIRECT
    buffered: bool = False
    late: tuple[Arrivals, ...] = ()
    waits: bool = False
    read_once: bool = True
    windows: tuple[str, ...] = ()
    time: str | None = None
    decisions: tuple[Decision, ...] = ()
    by_instant: bool = False

    @property
    def slices(self) -> bool:
        """Whether `query` gives the slices that a micro-batch has changed, and not rows that are final."""
        return isinstance(self.ending, OnSlices)

    @property
    def why(self) -> str | None:
        """Why windows are kept and no slices; None where there are none to be kept."""
        return next((d.reason for d in self.decisions), None)

    @property
    def state(self) -> str:
        """What each row of Spark's state is."""
        return "slice" if self.slices else "row waiting" if self.buffered else "open window"

    def describe(self) -> str:
        """The plan as one text, for people."""
        stages = ",\n".join(f"{stage.view} AS (\n{stage.sql}\n)" for stage in self.stages)
        text = f"/* windows are kept, and no slices: {self.why} */\n" if self.why else ""
        text += f"WITH {stages}\nSELECT * FROM (\n{self.query}\n)" if stages else self.query
        if ending := self.ending.describe():
            text += f"\n\n{ending}"
        return text


def plan(
    sql: str,
    dialect: str = "spark",
    *,
    streams: Collection[str] | None,
    schema: Schema | None = None,
    utc: bool = False,
    optimize: bool = False,
    arrival: str | None = None,
    warn: Warn = lambda _: None,
) -> StreamPlan:
    """Plans a query over streams.

    Args:
        sql: the query, with the streams by name.
        dialect: what it is written in.
        streams: the names that stand for streams; None where every table is one.
        schema: table or stream -> column -> Spark type, as far as known.
        utc: whether the session's clock shows UTC: windows cost less where no clock is turned.
        optimize: whether slices may be kept instead of windows; a clock that is turned has no order for that.
        arrival: the column that numbers rows in order of arrival; breaks ties in frames.
        warn: takes a warning of what hardly does what the query's author expects.

    Raises:
        TranslationError: what is wrong, or what no stream can do and what to do instead.
    """
    with net(sql):
        return _plan(sql, dialect, streams, schema, utc=utc, optimize=optimize, arrival=arrival, warn=warn)


def _plan(
    sql: str,
    dialect: str,
    streams: Collection[str] | None,
    schema: Schema | None,
    *,
    utc: bool,
    optimize: bool,
    arrival: str | None,
    warn: Warn,
) -> StreamPlan:
    statement = Statement.parse(sql, dialect, mode="stream", whole=True)
    if len(statement.trees) != 1:
        raise TranslationError("a streaming model is one query")
    [tree] = statement.trees
    for warning in statement.warnings(schema):
        warn(warning)
    source = statement.source
    names = Streams(streams)
    check_unread(tree, source, names)
    read = names.read(tree)
    resolver = resolver_of(dialect, schema)
    cut = find_cut(tree, source, names, resolver)
    check(tree, source, names, resolver, cut)
    sessions = None if cut is None else cut.sessions
    windows = StagedWindows(source, resolver, names, None if sessions is None else sessions.function, utc=utc)
    edits = [*windows.edits(tree), *AntiJoins(source, names).edits(tree), *FullJoins(source, names).edits(tree)]
    if dialect == "flink":
        edits += [*Matches(source, resolver).edits(tree), *FlinkExpressions(source, resolver).edits(tree)]
    _apply(source, edits)
    query = source.render() if cut is None else cut.streaming()
    stages = windows.stages
    selects = (s for s in tree.find_all(exp.Select) if cut is None or cut.is_streamed(s))
    if any(has_distinct(select) and names.feeds_query(select) for select in selects):
        known = None if streams is None else [*streams, *(stage.view for stage in stages)]
        query = without_distinct(query, known)
        stages = [replace(stage, sql=without_distinct(stage.sql, known)) for stage in stages]
    late = list(windows.late)
    time = cut.time if cut is not None else None
    if time is not None and not late:
        bounds = f"{time} AS window_start, {time} AS window_end"
        rows = f"FROM (\n{query}\n)"
        late.append(Arrivals(f"SELECT * {rows}", f"SELECT *, {bounds} {rows}", time, tuple(sorted(set(read)))))
    found = StreamPlan(
        stages=tuple(stages),
        query=query.strip().rstrip(";"),
        streams=tuple(dict.fromkeys(read)),
        ending=Direct() if cut is None else cut.ending(_rest(cut, sql, dialect, schema, arrival)),
        buffered=cut is not None and cut.buffered,
        late=tuple(late),
        waits=bool(late) or any(True for _ in names.joins(tree)),
        read_once=names.is_read_once(tree),
        windows=_windows(resolver.columns(tree)),
        time=None if cut is None else cut.order,
        by_instant=windows.by_instant,
    )
    sliced = sliced_windows(statement, names)
    if not sliced:
        return found
    try:
        if not optimize:
            raise NoRule("the optimizer is off here")
        if not utc:
            raise NoRule("they are for a clock that shows UTC, whose windows end in the order of their times")
        if cut is not None and (cut.history or cut.sessions):
            raise NoRule("OVER needs rows of several micro-batches")
        kept = keep_slices(statement, names, schema)
        with blamed_on(sql, source.span(tree)):
            return _with_slices(found, kept, schema)
    except NoRule as reason:
        decisions = tuple(Decision(window, None, str(reason)) for window in sliced)
        return replace(found, decisions=decisions)


def _with_slices(found: StreamPlan, kept: KeptSlices, schema: Schema | None) -> StreamPlan:
    return replace(
        found,
        stages=(kept.stage,),
        query=kept.query,
        ending=OnSlices(_translated(kept.rest, "spark", schema), kept.kept, kept.closed),
        buffered=False,
        decisions=(kept.decision,),
    )


def _windows(columns: Columns) -> tuple[str, ...]:
    bounds: dict[str, str] = {}
    for column in columns.items:
        if column.origin in ("window_start", "window_end"):
            bounds.setdefault(column.origin, column.name)
    return tuple(bounds.values()) if "window_end" in bounds else ()


def _rest(cut: Cut, sql: str, dialect: str, schema: Schema | None, arrival: str | None) -> str:
    """What is done with closed rows, as Spark SQL."""
    rest = cut.rest()
    with blamed_on(sql, rest):
        return _translated(rest.text, dialect, schema, arrival)


def _translated(sql: str, dialect: str, schema: Schema | None, arrival: str | None = None) -> str:
    if dialect == "spark" and not may_hold_windows(sql):
        return sql.strip().rstrip(";")
    statement = Statement.parse(sql, dialect)
    return statement.translated(schema, arrival=arrival).strip().rstrip(";")


def _apply(source: Source, edits: list[Edit]) -> None:
    """Makes edits in the order of the text, inner ones first: a stage takes the CTEs before it as they end up."""
    for edit in sorted(edits, key=lambda e: (e.span[1], e.span[1] - e.span[0], e.level)):
        source.apply([edit])
