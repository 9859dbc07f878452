"""From a model's query to what runs on a stream.

Spark drops the state of a window when the watermark passes a column that carries it. Its own `window()` makes such
a column; any other expression loses it. So each window function becomes a view of its own, a stage, and whoever runs
the plan marks the stage's `window_end`: from there on the query is the same as in batch.

What no stream can do (OVER, for one) comes after: all rows of a window leave the stream in the same micro-batch, so a
query that works window by window gives the same on the closed rows of one micro-batch as on all rows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.errors import TranslationError, TranslationWarning, Warn
from dbt.adapters.sparkstream.sql.core.names.columns import Resolver
from dbt.adapters.sparkstream.sql.core.names.scope import Columns
from dbt.adapters.sparkstream.sql.core.schema import Schema
from dbt.adapters.sparkstream.sql.core.source import Edit, Kept, Source, blamed_on
from dbt.adapters.sparkstream.sql.core.windows import Window
from dbt.adapters.sparkstream.sql.grammar.net import netted
from dbt.adapters.sparkstream.sql.grammar.words import may_hold_windows
from dbt.adapters.sparkstream.sql.passes.flink.expressions import FlinkExpressions
from dbt.adapters.sparkstream.sql.passes.match.lowering import Matches
from dbt.adapters.sparkstream.sql.passes.optimize.passes import Decision
from dbt.adapters.sparkstream.sql.passes.resolvers import resolver_of
from dbt.adapters.sparkstream.sql.passes.windows.groupfunctions import group_functions
from dbt.adapters.sparkstream.sql.passes.windows.sessionfilters import session_filters
from dbt.adapters.sparkstream.sql.statement import Statement
from dbt.adapters.sparkstream.sql.streaming.aroundjoins import frames_ahead_as_frames_back
from dbt.adapters.sparkstream.sql.streaming.asofjoins import asof_joins_as_frames, versions_as_frames
from dbt.adapters.sparkstream.sql.streaming.checks import check, check_unread
from dbt.adapters.sparkstream.sql.streaming.cut import Cut, find_cut
from dbt.adapters.sparkstream.sql.streaming.distinct import has_distinct, without_distinct
from dbt.adapters.sparkstream.sql.streaming.endings import CLOSED, NEW, Direct, Ending, OnSlices, OnWindows
from dbt.adapters.sparkstream.sql.streaming.intervaljoins import IntervalJoins, JoinSide
from dbt.adapters.sparkstream.sql.streaming.joins import joins_as_spark_has_them
from dbt.adapters.sparkstream.sql.streaming.keptstate import keep_slices
from dbt.adapters.sparkstream.sql.streaming.names import Streams, ctes_of, with_clause
from dbt.adapters.sparkstream.sql.streaming.openwindows import EMIT_OPEN, UPDATE, keep_windows
from dbt.adapters.sparkstream.sql.streaming.ranks import joins_by_rank, without_unread_ctes
from dbt.adapters.sparkstream.sql.streaming.readonce import ctes_as_subqueries
from dbt.adapters.sparkstream.sql.streaming.rowmatches import RowMatches
from dbt.adapters.sparkstream.sql.streaming.stages import Arrivals, Stage, StagedWindows

_DIRECT = Direct()

RANKED = "ranked groups (new in dbt-sparkstream 0.3.0)"
SHARED = "shared DISTINCT values (new in dbt-sparkstream 0.3.0)"


@dataclass(frozen=True)
class StreamPlan:
    """Plan of a query on streams: its views, its streaming query, and its ending.

    Attributes:
        stages: views to make first, in this order.
        query: the streaming query, over streams and stages.
        streams: the streams that it reads.
        ending: brings the rows of `query` into the table.
        buffered: whether the rows of `query` have to wait until their window is closed.
        late: the rows of the streams that are late when their `window_end` is not after the watermark.
        waits: whether anything in it waits for the watermark.
        read_once: whether it reads one stream, once.
        decisions: for each HOP and CUMULATE, whether its slices are kept, or why its windows are.
        time: the column by whose watermark rows have to leave the stream; None where Spark checks that itself.
        waits_longer: whether `time` is later than the event times of some rows, which wait until then.
        windows: the columns that tell the window of a row, where the rows have them: its end is the last one.
        by_instant: whether there is a SESSION whose gap is elapsed time, and not, as in batch, on the wall clock.
        joined: whether rows of one stream wait for rows of another stream, by their times.
        held: whether the stream holds all rows back until their window is closed, and drops rows that come later.
        meets: whether rows of a stream meet rows of another stream, or of the same, in a join.
        forms: names of what is in Spark's state in another form than in version 0.2.0.
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
    waits_longer: bool = False
    by_instant: bool = False
    joined: bool = False
    held: bool = False
    meets: bool = False
    forms: tuple[str, ...] = ()

    @property
    def slices(self) -> bool:
        """True if `query` gives slices, of which windows are made."""
        return self.updates and not isinstance(self.ending, OnWindows)

    @property
    def updates(self) -> bool:
        """True if `query` gives the slices or windows that a micro-batch has changed, and not rows that are final."""
        return isinstance(self.ending, OnSlices)

    @property
    def keeps(self) -> tuple[str, ...]:
        """Names of forms of the state: `slices`, `open` or `corrected` windows, or those of `forms`."""
        ending = self.ending
        if not isinstance(ending, OnSlices):
            return self.forms
        has = {"slices": self.slices, "open": ending.open is not None, "corrected": ending.corrected is not None}
        return tuple(name for name, is_kept in has.items() if is_kept)

    @property
    def has_state(self) -> bool:
        """True if the query needs state: the result of a row depends on other rows, or on its time of arrival."""
        waits = self.waits or self.buffered or self.joined or self.meets
        return waits or bool(self.stages) or not isinstance(self.ending, Direct)

    @property
    def why(self) -> str | None:
        """Reason why windows are kept and no slices; None where slices are kept, or the query has none."""
        return next((d.reason for d in self.decisions), None)

    @property
    def state(self) -> str:
        """Meaning of a row of Spark's state: `slice`, `row waiting` or `open window`."""
        return "slice" if self.slices else "row waiting" if self.buffered or self.joined else "open window"

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
    shows_open: bool = False,
    corrects: bool = False,
    arrival: str | None = None,
    times: Mapping[str, str] | None = None,
    warn: Warn = lambda _: None,
) -> StreamPlan:
    """Plans a query over streams.

    Args:
        sql: the query, with the streams by name.
        dialect: what it is written in.
        streams: the names that stand for streams; None where every table is one.
        schema: table or stream -> column -> Spark type, as far as known.
        utc: whether the session's clock shows UTC: windows cost less where no clock is turned.
        optimize: whether slices may be kept instead of windows; only in UTC, as a clock that goes back repeats times.
        shows_open: whether the windows that are open shall be seen, with what they hold so far.
        corrects: whether late rows correct windows that are closed.
        arrival: the column that numbers rows in order of arrival; breaks ties in frames.
        times: stream -> its event time, of the streams that have a watermark; None where that isn't known, and joins of
            streams by time are left as they are.
        warn: takes a warning of what hardly does what the query's author expects.

    Raises:
        TranslationError: what is wrong, or what no stream can do and what to do instead.
    """
    found: list[TranslationWarning] = []

    def work(ranks: bool = False) -> StreamPlan:
        found.clear()
        return _planned(
            sql,
            dialect,
            Streams(streams),
            schema,
            utc=utc,
            optimize=optimize,
            ranks=ranks,
            shows_open=shows_open,
            corrects=corrects,
            arrival=arrival,
            times=times,
            warn=found.append,
        )

    def optimized() -> StreamPlan:
        with suppress(TranslationError):  # a query around the join may be refused above OVER, and not above a join
            return work(ranks=True)
        return work()

    result = netted(sql, dialect, optimized if optimize else work)
    for warning in found:
        warn(warning)
    return result


def _planned(
    sql: str,
    dialect: str,
    names: Streams,
    schema: Schema | None,
    *,
    utc: bool,
    optimize: bool,
    ranks: bool,
    shows_open: bool,
    corrects: bool,
    arrival: str | None,
    times: Mapping[str, str] | None,
    warn: Warn,
) -> StreamPlan:
    resolver = resolver_of(dialect, schema)
    with ExitStack() as places:
        statement, tree = _one_query(sql, dialect, names)

        def rewritten(edits_of: Callable[..., Iterable[Edit]], *more: object, to: str | None = None) -> bool:
            """Reads the text that a function's edits make, in the same or another dialect; False without edits."""
            nonlocal statement, tree
            source = Source(statement.source.text, statement.source.tokens)
            edits = list(edits_of(tree, source, names, *more))
            if edits:
                source.apply(edits)
                text = source.traced()
                places.enter_context(blamed_on(source.text, text))
                statement, tree = _one_query(text.text, to or dialect, names)
            return bool(edits)

        def feeds(select: exp.Select, _: Window) -> bool:
            return names.feeds_query(select)

        if dialect == "flink" and rewritten(versions_as_frames, resolver, to="spark"):
            dialect, resolver = "spark", resolver_of("spark", schema)
        rewritten(asof_joins_as_frames, resolver)
        waits_longer = rewritten(frames_ahead_as_frames_back)
        strict = dialect == "flink"
        rewritten(lambda tree, source, _: group_functions(tree, source, resolver, feeds, strict=strict))
        while strict and rewritten(lambda tree, source, _: session_filters(tree, source, resolver)):
            pass
        ranked = ranks and rewritten(joins_by_rank, resolver)
        while ranked and rewritten(without_unread_ctes):
            pass
        for warning in statement.warnings(schema):
            warn(warning)
        cut = find_cut(tree, statement.source, names, resolver, arrival)
        while rewritten(ctes_as_subqueries):
            cut = find_cut(tree, statement.source, names, resolver, arrival)
        source = statement.source
        check(tree, source, names, resolver, cut)
        windows = StagedWindows(source, resolver, names, None if cut is None else cut.session, utc=utc)
        if cut is not None and isinstance(cut.waiting, RowMatches):
            cut.waiting.warn_of_growth(source, warn)
        edits = [*windows.edits(tree), *joins_as_spark_has_them(tree, source, names)]
        joins = IntervalJoins(source, names, times or {}, utc=utc, elapsed=dialect == "flink", warn=warn)
        if times is not None:
            edits += joins.edits(tree)
        sides = [(side, Kept(source, side.place)) for side in joins.sides]
        edits += [kept.edit for _, kept in sides]
        if dialect == "flink":
            expressions = FlinkExpressions(source, resolver, joins_versions=cut is None or not cut.joins_versions)
            matches = Matches(source, resolver).edits(tree, None if cut is None else cut.match)
            edits += [*matches, *expressions.edits(tree)]
        _apply(source, edits)
        read = names.read(tree)
        query, stages, shares = _without_distinct(tree, source, names, cut, windows.stages)
        forms = {RANKED: ranked, SHARED: shares}
        late = _late(query, cut, windows, [_arrivals(side, kept.text, source, names) for side, kept in sides], read)
        found = StreamPlan(
            stages=tuple(stages),
            query=query.strip().rstrip(";"),
            streams=tuple(dict.fromkeys(read)),
            ending=Direct() if cut is None else cut.ending(_rest(cut, source.text, dialect, schema, arrival, resolver)),
            buffered=cut is not None and cut.buffered,
            late=late,
            waits=bool(late) or any(True for _ in names.joins(tree)),
            held=(cut is not None and cut.buffered) or names.are_held(tree),
            meets=any(True for _ in names.joins(tree)),
            read_once=names.is_read_once(tree),
            windows=_windows(resolver.columns(tree)),
            time=None if cut is None else cut.order,
            waits_longer=waits_longer,
            by_instant=windows.by_instant,
            joined=bool(joins.sides),
            forms=tuple(name for name, is_there in forms.items() if is_there),
        )
        end = _end(resolver.columns(tree), source, tree) if corrects else None
        kept, decisions = keep_slices(statement, names, schema, cut, utc=utc, optimize=optimize, corrects=corrects)
        if kept is None and (shows_open or corrects):
            kept = keep_windows(statement, names, schema, cut, UPDATE if corrects else EMIT_OPEN, utc=utc)
        if kept is None:
            return replace(found, decisions=decisions)
        with blamed_on(source.text, source.span(tree)):
            rest = _translated(kept.rest, "spark", schema)
        ending, closed = OnWindows if kept.decision is None else OnSlices, kept.windows
        return replace(
            found,
            stages=(kept.stage,),
            query=kept.query,
            ending=ending(rest, kept.kept, closed.closed, closed.open if shows_open else None, closed.corrected, end),
            buffered=False,
            decisions=decisions,
        )


def _one_query(sql: str, dialect: str, streams: Streams) -> tuple[Statement, exp.Expr]:
    """The one query that a streaming model is, and its tree.

    Raises:
        TranslationError: there are several statements, or a stream is named and can't be read.
    """
    statement = Statement.parse(sql, dialect, mode="stream", whole=True)
    if len(statement.trees) != 1:
        raise TranslationError("a streaming model is one query")
    [tree] = statement.trees
    check_unread(tree, statement.source, streams)
    return statement, tree


def _without_distinct(
    tree: exp.Expr, source: Source, streams: Streams, cut: Cut | None, stages: list[Stage]
) -> tuple[str, list[Stage], bool]:
    """The streaming query, its stages, with DISTINCT as the GROUP BY that a stream can do, and `SHARED` or not."""
    query = source.render() if cut is None else cut.streaming()
    selects = (s for s in tree.find_all(exp.Select) if cut is None or cut.is_streamed(s))
    if not any(has_distinct(select) and streams.feeds_query(select) for select in selects):
        return query, stages, False
    known = streams.with_views(stage.view for stage in stages)
    texts = [without_distinct(text, known) for text in (query, *(stage.sql for stage in stages))]
    (query, _), *of_stages = texts
    written = [replace(stage, sql=sql) for stage, (sql, _) in zip(stages, of_stages, strict=True)]
    return query, written, any(shares for _, shares in texts)


def _late(
    query: str, cut: Cut | None, windows: StagedWindows, joined: list[Arrivals], read: list[str]
) -> tuple[Arrivals, ...]:
    """The rows that come too late: for a join by time, for a window, or for the order that OVER needs."""
    names = {name for arrivals in joined for name in arrivals.streams}
    # What is windowed above a join has come to the join before, and is late there.
    late = [*joined, *(a for a in windows.late if len(joined) < 2 or not names <= set(a.streams))]
    if cut is not None and cut.time is not None and not late:
        bounds = f"{cut.time} AS window_start, {cut.time} AS window_end"
        rows = f"FROM (\n{query}\n)"
        late.append(Arrivals(f"SELECT * {rows}", f"SELECT *, {bounds} {rows}", cut.time, tuple(sorted(set(read)))))
    return tuple(dict.fromkeys(late))  # copies of a CTE have the same rows


def _arrivals(side: JoinSide, relation: str, source: Source, streams: Streams) -> Arrivals:
    """The rows of one side of a join by time: each is late when the watermark has passed its time."""
    rows = f"FROM {relation}"
    ctes = with_clause(source, side.relation)
    read = {name for node in (side.relation, *ctes_of(side.relation)) for name in streams.read(node)}
    bounds = f"{side.time} AS window_start, {side.time} AS window_end"
    return Arrivals(f"{ctes}SELECT * {rows}", f"{ctes}SELECT *, {bounds} {rows}", str(side.time), tuple(sorted(read)))


def _windows(columns: Columns) -> tuple[str, ...]:
    bounds: dict[str, str] = {}
    for column in columns.items:
        if column.origin in ("window_start", "window_end"):
            bounds.setdefault(column.origin, column.name)
    return tuple(bounds[name] for name in sorted(bounds, reverse=True)) if "window_end" in bounds else ()


def _end(columns: Columns, source: Source, tree: exp.Expr) -> str:
    """The column that has the end of a row's window.

    Raises:
        TranslationError: there is none.
    """
    found = next((column.name for column in columns.items if column.origin == "window_end"), None)
    if found is None:
        raise source.error(
            source.span(tree),
            f"{UPDATE} finds what the table has of a window by its window_end, which this query doesn't give",
            "add window_end to what it selects",
        )
    return found


def _rest(cut: Cut, sql: str, dialect: str, schema: Schema | None, arrival: str | None, resolver: Resolver) -> str:
    """Part of the query that runs on closed rows, as Spark SQL."""
    rest = cut.rest()
    columns = resolver.columns(cut.relation)
    types = {column.name: column.type for column in columns.items if column.type is not None}
    if columns.complete and len(types) == len(columns.items):
        schema = {**(schema or {}), CLOSED: {**types, **({NEW: "boolean"} if cut.history else {})}}
    with blamed_on(sql, rest):
        return _translated(rest.text, dialect, schema, arrival)


def _translated(sql: str, dialect: str, schema: Schema | None, arrival: str | None = None) -> str:
    if dialect == "spark" and not may_hold_windows(sql):
        return sql.strip().rstrip(";")
    statement = Statement.parse(sql, dialect)
    return statement.traced(schema, arrival=arrival).text.strip().rstrip(";")


def _apply(source: Source, edits: list[Edit]) -> None:
    """Makes edits in the order of the text, inner ones first: a stage takes the CTEs before it as they end up."""
    for edit in sorted(edits, key=lambda e: (e.span[1], e.span[1] - e.span[0], e.level)):
        source.apply([edit])
