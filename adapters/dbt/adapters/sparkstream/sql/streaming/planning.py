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
from dataclasses import dataclass, field, replace

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.errors import TranslationError, TranslationWarning, Warn
from dbt.adapters.sparkstream.sql.core.names.scope import Columns
from dbt.adapters.sparkstream.sql.core.schema import Schema
from dbt.adapters.sparkstream.sql.core.source import Edit, Kept, Source, blamed_on
from dbt.adapters.sparkstream.sql.core.windows import Window
from dbt.adapters.sparkstream.sql.grammar.net import netted
from dbt.adapters.sparkstream.sql.grammar.words import may_hold_windows
from dbt.adapters.sparkstream.sql.passes.flink.expressions import FlinkExpressions
from dbt.adapters.sparkstream.sql.passes.match.lowering import Matches
from dbt.adapters.sparkstream.sql.passes.resolvers import resolver_of
from dbt.adapters.sparkstream.sql.passes.windows.groupfunctions import group_functions
from dbt.adapters.sparkstream.sql.passes.windows.sessionfilters import session_filters
from dbt.adapters.sparkstream.sql.statement import Statement
from dbt.adapters.sparkstream.sql.streaming.aroundjoins import frames_ahead_as_frames_back
from dbt.adapters.sparkstream.sql.streaming.asofjoins import asof_joins_as_frames, versions_as_frames
from dbt.adapters.sparkstream.sql.streaming.checks import check, check_unread
from dbt.adapters.sparkstream.sql.streaming.cut import Cut, find_cut
from dbt.adapters.sparkstream.sql.streaming.distinct import has_distinct, without_distinct
from dbt.adapters.sparkstream.sql.streaming.endings import CLOSED, NEW, Direct, OnSlices, OnWindows
from dbt.adapters.sparkstream.sql.streaming.intervaljoins import IntervalJoins, JoinSide
from dbt.adapters.sparkstream.sql.streaming.joins import joins_as_spark_has_them
from dbt.adapters.sparkstream.sql.streaming.keptstate import keep_slices
from dbt.adapters.sparkstream.sql.streaming.names import Streams, ctes_of, with_clause
from dbt.adapters.sparkstream.sql.streaming.openwindows import EMIT_OPEN, UPDATE, keep_windows
from dbt.adapters.sparkstream.sql.streaming.plan import RANKED, SHARED, StreamPlan
from dbt.adapters.sparkstream.sql.streaming.ranks import joins_by_rank, without_unread_ctes
from dbt.adapters.sparkstream.sql.streaming.readonce import ctes_as_subqueries
from dbt.adapters.sparkstream.sql.streaming.rowmatches import RowMatches
from dbt.adapters.sparkstream.sql.streaming.stages import Arrivals, Stage, StagedWindows


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
        utc: True if the session's clock shows UTC: windows cost less where no clock is turned.
        optimize: True if slices may be kept instead of windows; only in UTC, as a clock that goes back repeats times.
        shows_open: True if the windows that are open are to be seen, with what they hold so far.
        corrects: True if late rows correct windows that are closed.
        arrival: the column that numbers rows in order of arrival; breaks ties in frames.
        times: stream -> its event time, of the streams that have a watermark; None where that isn't known, and joins of
            streams by time are left as they are.
        warn: takes a warning of what hardly does what the query's author expects.

    Raises:
        TranslationError: what is wrong, or what no stream can do and what to do instead.
    """
    planning = _Planning(sql, dialect, Streams(streams), schema, utc, optimize, shows_open, corrects, arrival, times)

    def optimized() -> StreamPlan:
        with suppress(TranslationError):  # a query around the join may be refused above OVER, and not above a join
            return planning.plan(ranks=True)
        return planning.plan()

    result = netted(sql, dialect, optimized if optimize else planning.plan)
    for warning in planning.warnings:
        warn(warning)
    return result


class _StreamQuery:
    """The query, rewritten step by step into forms that a stream can have.

    Args:
        places: gets the blocks in which an error about the text of a step is shown at its place in the text before.
    """

    def __init__(self, sql: str, dialect: str, streams: Streams, schema: Schema | None, places: ExitStack) -> None:
        self._streams = streams
        self._schema = schema
        self._places = places
        self.dialect, self.resolver = dialect, resolver_of(dialect, schema)
        self._read(sql)

    def _read(self, sql: str) -> None:
        """Reads a text, which has to be one query that names streams only where they are read."""
        statement = Statement.parse(sql, self.dialect, whole=True)
        if len(statement.trees) != 1:
            raise TranslationError("a streaming model is one query")
        [tree] = statement.trees
        check_unread(tree, statement.source, self._streams)
        self.statement, self.tree, self.source = statement, tree, statement.source

    def rewrite(self, edits_of: Callable[..., Iterable[Edit]], *more: object, to: str | None = None) -> bool:
        """Reads the text that a function's edits make, in the same or another dialect; False without edits."""
        source = Source(self.source.text, self.source.tokens)
        edits = list(edits_of(self.tree, source, self._streams, *more))
        if edits:
            source.apply(edits)
            text = source.traced()
            self._places.enter_context(blamed_on(source.text, text))
            if to is not None:
                self.dialect, self.resolver = to, resolver_of(to, self._schema)
            self._read(text.text)
        return bool(edits)


@dataclass
class _Planning:
    """Planning of one query; arguments as of `plan`.

    Attributes:
        warnings: warnings of the last plan.
    """

    sql: str
    dialect: str
    streams: Streams
    schema: Schema | None
    utc: bool
    optimize: bool
    shows_open: bool
    corrects: bool
    arrival: str | None
    times: Mapping[str, str] | None
    warnings: list[TranslationWarning] = field(default_factory=list, init=False)

    def plan(self, ranks: bool = False) -> StreamPlan:
        """The plan; with `ranks`, a join of windows with their own maximum is a rank of their rows."""
        self.warnings.clear()
        with ExitStack() as places:
            query = _StreamQuery(self.sql, self.dialect, self.streams, self.schema, places)
            waits_longer, ranked = self._rewrite(query, ranks)
            self.warnings.extend(query.statement.warnings(self.schema))
            cut = self._cut(query)
            while query.rewrite(ctes_as_subqueries):
                cut = self._cut(query)
            found = replace(self._planned(query, cut, ranked), waits_longer=waits_longer)
            return self._kept(query, cut, found)

    def _rewrite(self, query: _StreamQuery, ranks: bool) -> tuple[bool, bool]:
        """Rewrites what a stream can't do; returns `StreamPlan.waits_longer`, and True if rows are ranked."""

        def feeds(select: exp.Select, _: Window) -> bool:
            return self.streams.feeds_query(select)

        if query.dialect == "flink":
            query.rewrite(versions_as_frames, query.resolver, to="spark")
        query.rewrite(asof_joins_as_frames, query.resolver)
        waits_longer = query.rewrite(frames_ahead_as_frames_back)
        strict = query.dialect == "flink"
        query.rewrite(lambda tree, source, _: group_functions(tree, source, query.resolver, feeds, strict=strict))
        while strict and query.rewrite(lambda tree, source, _: session_filters(tree, source, query.resolver)):
            pass
        ranked = ranks and query.rewrite(joins_by_rank, query.resolver)
        while ranked and query.rewrite(without_unread_ctes):
            pass
        return waits_longer, ranked

    def _cut(self, query: _StreamQuery) -> Cut | None:
        return find_cut(query.tree, query.source, self.streams, query.resolver, self.arrival)

    def _planned(self, query: _StreamQuery, cut: Cut | None, ranked: bool) -> StreamPlan:
        """The plan with windows, as the optimiser hasn't seen it."""
        tree, source, resolver, streams, utc = query.tree, query.source, query.resolver, self.streams, self.utc
        is_flink, warn = query.dialect == "flink", self.warnings.append
        check(tree, source, streams, resolver, cut)
        windows = StagedWindows(source, resolver, streams, None if cut is None else cut.session, utc=utc)
        if cut is not None and isinstance(cut.waiting, RowMatches):
            cut.waiting.warn_of_growth(source, warn)
        edits = [*windows.edits(tree), *joins_as_spark_has_them(tree, source, streams)]
        joins = IntervalJoins(source, streams, self.times or {}, utc=utc, elapsed=is_flink, warn=warn)
        if self.times is not None:
            edits += joins.edits(tree)
        sides = [(side, Kept(source, side.place)) for side in joins.sides]
        edits += [kept.edit for _, kept in sides]
        if is_flink:
            expressions = FlinkExpressions(source, resolver, joins_versions=cut is None or not cut.joins_versions)
            matches = Matches(source, resolver).edits(tree, None if cut is None else cut.match)
            edits += [*matches, *expressions.edits(tree)]
        # In the order of the text, inner ones first: a stage takes the CTEs before it as they end up.
        for edit in sorted(edits, key=lambda e: (e.span[1], e.span[1] - e.span[0], e.level)):
            source.apply([edit])
        read = streams.read(tree)
        text, stages, shares = _without_distinct(tree, source, streams, cut, windows.stages)
        forms = {RANKED: ranked, SHARED: shares}
        late = _late(text, cut, windows, [_arrivals(side, kept.text, source, streams) for side, kept in sides], read)
        return StreamPlan(
            stages=tuple(stages),
            query=text.strip().rstrip(";"),
            streams=tuple(dict.fromkeys(read)),
            ending=Direct() if cut is None else cut.ending(self._rest(query, cut)),
            buffered=cut is not None and cut.buffered,
            late=late,
            waits=bool(late) or any(True for _ in streams.joins(tree)),
            held=(cut is not None and cut.buffered) or streams.are_held(tree),
            meets=any(True for _ in streams.joins(tree)),
            read_once=streams.is_read_once(tree),
            windows=_windows(resolver.columns(tree)),
            time=None if cut is None else cut.order,
            by_instant=windows.by_instant,
            joined=bool(joins.sides),
            forms=tuple(name for name, is_there in forms.items() if is_there),
        )

    def _kept(self, query: _StreamQuery, cut: Cut | None, found: StreamPlan) -> StreamPlan:
        """The plan with kept slices, or kept windows, where the query lets it; else as it was found."""
        tree, source, streams, schema, utc = query.tree, query.source, self.streams, self.schema, self.utc
        end = _end(query.resolver.columns(tree), source, tree) if self.corrects else None
        kept, decisions = keep_slices(
            query.statement, streams, schema, cut, utc=utc, optimize=self.optimize, corrects=self.corrects
        )
        if kept is None and (self.shows_open or self.corrects):
            why = UPDATE if self.corrects else EMIT_OPEN
            kept = keep_windows(query.statement, streams, schema, cut, why, utc=utc)
        if kept is None:
            return replace(found, decisions=decisions)
        with blamed_on(source.text, source.span(tree)):
            rest = _translated(kept.rest, "spark", schema)
        ending, closed = OnWindows if kept.decision is None else OnSlices, kept.windows
        open_ = closed.open if self.shows_open else None
        return replace(
            found,
            stages=(kept.stage,),
            query=kept.query,
            ending=ending(rest, kept.kept, closed.closed, open_, closed.corrected, end),
            buffered=False,
            decisions=decisions,
        )

    def _rest(self, query: _StreamQuery, cut: Cut) -> str:
        """Part of the query that runs on closed rows, as Spark SQL."""
        rest, schema = cut.rest(), self.schema
        columns = query.resolver.columns(cut.relation)
        types = {column.name: column.type for column in columns.items if column.type is not None}
        if columns.complete and len(types) == len(columns.items):
            schema = {**(schema or {}), CLOSED: {**types, **({NEW: "boolean"} if cut.history else {})}}
        with blamed_on(query.source.text, rest):
            return _translated(rest.text, query.dialect, schema, self.arrival)


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
            tree,
            f"{UPDATE} finds what the table has of a window by its window_end, which this query doesn't give",
            "add window_end to what it selects",
        )
    return found


def _translated(sql: str, dialect: str, schema: Schema | None, arrival: str | None = None) -> str:
    if dialect == "spark" and not may_hold_windows(sql):
        return sql.strip().rstrip(";")
    statement = Statement.parse(sql, dialect)
    return statement.traced(schema, arrival=arrival).text.strip().rstrip(";")
