"""Cut of a query below its innermost OVER, SESSION or MATCH_RECOGNIZE, which runs on emitted rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.matching import MatchRecognize
from dbt.adapters.sparkstream.sql.core.names.columns import Resolver
from dbt.adapters.sparkstream.sql.core.names.scope import find_cte, from_item
from dbt.adapters.sparkstream.sql.core.nodes import enclosing, own, within
from dbt.adapters.sparkstream.sql.core.source import Edit, Source, Span, Traced
from dbt.adapters.sparkstream.sql.core.windows import WindowFunction
from dbt.adapters.sparkstream.sql.grammar.specs import FramedWindow
from dbt.adapters.sparkstream.sql.streaming.above import Part, check_around, grouping_keys, reads_from
from dbt.adapters.sparkstream.sql.streaming.asofjoins import alone_with_a_table, own_frames, temporal_join
from dbt.adapters.sparkstream.sql.streaming.endings import CLOSED, NEW, Ending, OnClosed, OnHistory
from dbt.adapters.sparkstream.sql.streaming.history import History, check_order, frames_of, history, is_within_windows
from dbt.adapters.sparkstream.sql.streaming.names import (
    END,
    Streams,
    ctes_of,
    may_be_null,
    only,
    with_clause,
    with_only,
)
from dbt.adapters.sparkstream.sql.streaming.rowmatches import RowMatches, row_matches
from dbt.adapters.sparkstream.sql.streaming.sessions import RowSessions, row_sessions

OVER = Part("OVER or a join as of a time", "make the query with it a streaming model of its own, and read that")


@dataclass(frozen=True)
class Cut:
    """A query in two parts.

    Attributes:
        select: the query with OVER, SESSION or MATCH_RECOGNIZE; it and what is around it run on closed rows.
        relation: what it reads in FROM.
        below: the part of it that runs as a stream: all, or the relation that a SESSION or MATCH_RECOGNIZE reads.
        buffered: True if the rows of the stream don't come window by window yet.
        history: the earlier rows that later rows need; None where OVER stays within a window.
        waiting: the SESSION or MATCH_RECOGNIZE whose rows wait for later ones; None for OVER.
        joins_versions: True if the other part has Flink's temporal join.
    """

    select: exp.Select
    relation: exp.Expr
    below: exp.Expr
    tree: exp.Expr
    source: Source
    streams: Streams
    buffered: bool
    history: History | None = None
    waiting: RowSessions | RowMatches | None = None
    joins_versions: bool = False

    def streaming(self) -> str:
        """The part that runs as a stream, with the edits made so far."""
        return f"{with_clause(self.source, self.below)}SELECT * FROM {self.source.rendered(self.below)}"

    def is_streamed(self, node: exp.Expr) -> bool:
        """True if a query, or a piece of one, is in the part that runs as a stream."""
        return any(within(node, part) for part in (self.below, *ctes_of(self.below)))

    @property
    def time(self) -> str | None:
        """The column by whose order rows leave the stream, where that matters."""
        if self.waiting is not None:
            return self.source.written(self.waiting.time)
        return self.history.time if self.history is not None else None

    @property
    def order(self) -> str | None:
        """Name of the column `time`; None for OVER on rows with windows. The run checks the column's watermark."""
        if self.waiting is not None:
            return str(self.waiting.time.name)
        return self.history.column if self.history is not None and self.buffered else None

    def ending(self, query: str) -> Ending:
        """Ending that brings the rows into the table.

        Args:
            query: the query that `rest` gives, as Spark SQL.
        """
        if self.waiting is not None:
            return self.waiting.ending(query)
        if self.history is not None:
            return OnHistory(query, self.history.query(CLOSED))
        return OnClosed(query)

    @property
    def session(self) -> WindowFunction | None:
        """The SESSION whose rows wait for later ones."""
        return self.waiting.function if isinstance(self.waiting, RowSessions) else None

    @property
    def match(self) -> MatchRecognize | None:
        """The MATCH_RECOGNIZE whose rows wait for later ones."""
        return self.waiting.match if isinstance(self.waiting, RowMatches) else None

    @property
    def _place(self) -> Span:
        return self.source.span(self.relation)

    def rest(self) -> Traced:
        """The other part, as it was written, over the view `CLOSED`."""
        # The alias of a MATCH_RECOGNIZE stands behind it.
        name = "" if isinstance(self.relation, MatchRecognize) else self.source.name_of(self.relation)
        pieces = [(self._place, f"{CLOSED} AS {name}" if name else CLOSED)]
        if self.history is not None:
            first, last = self.source.span(self.select)
            pieces += [((first, first), f"SELECT * EXCEPT ({NEW}) FROM ("), ((last, last), f") WHERE {NEW}")]
            if not any(isinstance(p, exp.Star) for p in self.select.expressions):
                end = self.source.span(self.select.expressions[-1])[1]
                if self.select.expressions[-1].alias:
                    end = max(end, self.source.span(self.select.expressions[-1].args["alias"])[1])
                pieces.append(((end, end), f", {NEW}"))
        return self.around(pieces)

    def around(self, pieces: list[tuple[Span, str]]) -> Traced:
        """Text of the query with replaced pieces, without the parts that only the stream needs."""
        return self.source.after(Edit.to(span, text) for span, text in [*pieces, *self._removed()])

    def _removed(self) -> Iterator[tuple[Span, str]]:
        """The CTEs that only the streaming part needs, and the commas that would be left between the CTEs that stay."""
        for with_ in self.tree.find_all(exp.With):
            spans = [self.source.span(cte) for cte in with_.expressions]
            kept = [
                span
                for cte, span in zip(with_.expressions, spans, strict=True)
                if within(self.select, cte) or not self.streams.feeds(cte.this)
            ]
            if len(kept) == len(spans):
                continue
            inner = self._place
            if any(span[0] <= inner[0] and inner[1] <= span[1] for span in kept):
                # The cut is within a CTE that stays: take out the CTEs before it.
                cut_at = min(span for span in kept if span[0] <= inner[0] and inner[1] <= span[1])[0]
                before = [span for span in kept if span[1] <= cut_at]
                yield from only(before, (min(spans)[0], cut_at), ", " if before else "")
            else:
                yield from with_only(kept, with_, self.source)


def find_cut(
    tree: exp.Expr, source: Source, streams: Streams, resolver: Resolver, arrival: str | None = None
) -> Cut | None:
    """The cut of a query; None where all of it can run as a stream.

    Args:
        arrival: the column that numbers rows in order of arrival; breaks ties in frames.

    Raises:
        TranslationError: there would have to be several, or the rows that OVER needs are never together.
    """
    matches = row_matches(tree, source, streams, resolver)
    if matches is not None:
        return _at_match(matches, tree, source, streams)
    sessions = row_sessions(tree, source, streams, resolver)
    if sessions is not None:
        return _at(sessions, tree, source, streams, resolver)
    selects: list[exp.Select] = []
    for window in tree.find_all(exp.Window, FramedWindow):
        select = enclosing(window, exp.Select)
        if select is not None and streams.feeds_query(select) and select not in selects:
            selects.append(select)
    temporal = temporal_join(tree, source, streams)
    if temporal is not None:
        cut = _with_a_table(temporal, temporal.args["from_"].this, tree, source, streams)
        return replace(cut, joins_versions=True)
    # One within another runs on the same closed rows.
    innermost = [s for s in selects if not any(other is not s and reads_from(s, other) for other in selects)]
    if not innermost:
        return None
    if len(innermost) > 1:
        raise source.error(
            innermost[1],
            "a streaming model can't have OVER in several branches",
            "make each branch a streaming model of its own, and read those",
        )
    [select] = innermost
    alone = alone_with_a_table(select, streams)
    if alone is not None:
        return _with_a_table(select, alone, tree, source, streams)
    relation = from_item(select)
    if relation is None:
        raise source.error(
            select,
            "OVER on a stream reads no relation here",
            "write FROM and the relation: SELECT ... OVER (...) FROM {{ stream(ref('...')) }}",
        )
    if select.args.get("joins") or relation.args.get("joins"):
        raise source.error(
            select,
            "OVER on a stream reads one relation, and this query joins",
            "put the join into a subquery: SELECT ... OVER (...) FROM (SELECT ... JOIN ...)",
        )
    if select.args.get("group"):
        raise source.error(
            select,
            "OVER beside GROUP BY doesn't stream",
            "put the aggregation into a subquery: SELECT ... OVER (...) FROM (SELECT ... GROUP BY ...)",
        )
    kept = None if is_within_windows(select, resolver) else history(select, source, arrival)
    buffered = not _aggregated(relation)
    if kept is not None and not buffered:  # else the run looks for the watermark of the order
        check_order(select, relation, source, resolver)
    cut = Cut(select, relation, relation, tree, source, streams, buffered, kept)
    check_around(tree, select, (relation, *ctes_of(relation)), source, streams, OVER)
    _check_above(cut, resolver)
    return cut


def _check_above(cut: Cut, resolver: Resolver) -> None:
    """Refuses OVER and GROUP BY above OVER, unless the rows of each of their windows come in the same micro-batch."""
    window_by_window = cut.history is None or not cut.buffered
    for around in cut.tree.find_all(exp.Select):
        if around is cut.select or not reads_from(around, cut.select):
            continue
        group = around.args.get("group")
        places = [*([] if group is None else [group]), *own_frames(around)]
        keys = [*([] if group is None else [grouping_keys(around, group)]), *(keys for _, keys, _ in frames_of(around))]
        if places and not (window_by_window and all(_has_end(some, around, resolver) for some in keys)):
            raise OVER.needs_several(places[0], cut.source)


def _has_end(keys: list[exp.Expr], select: exp.Select, resolver: Resolver) -> bool:
    """True if one of some keys is the end of the window that a row has closed with: a column that is never NULL."""
    columns = (key for key in keys if isinstance(key, exp.Column) and not may_be_null(key, select))
    found = (resolver.find(column, select) for column in columns)
    return any(column is not None and column.origin == END for column in found)


def _with_a_table(select: exp.Select, stream: exp.Expr, tree: exp.Expr, source: Source, streams: Streams) -> Cut:
    """The cut right above a stream whose rows are joined with a table as of a time: no row depends on other rows."""
    for around in tree.find_all(exp.Select):
        if within(around, stream) or not reads_from(around, select):
            continue
        frames = list(own(around, exp.Window))
        needs_others = frames and alone_with_a_table(around, streams) is None and around is not select
        if around.args.get("group") or around.find(WindowFunction) or needs_others:
            raise source.error(
                around,
                "what stands above a join as of a time may need rows of several micro-batches",
                "make the join a streaming model of its own, and read that",
            )
    check_around(tree, stream, (stream, *ctes_of(stream)), source, streams, OVER)
    return Cut(select, stream, stream, tree, source, streams, buffered=False)


def _at(sessions: RowSessions, tree: exp.Expr, source: Source, streams: Streams, resolver: Resolver) -> Cut:
    """The cut at a SESSION."""
    function = sessions.function
    for window in tree.find_all(exp.Window, FramedWindow):
        around = enclosing(window, exp.Select)
        if around is not None and streams.feeds_query(around) and not is_within_windows(around, resolver):
            raise source.error(
                window,
                "OVER across the sessions of a stream doesn't stream in the same model",
                "add window_end and the keys of the SESSION to PARTITION BY; "
                "or make the sessions a streaming model of their own, and read that",
            )
    select = enclosing(function, exp.Select)
    assert select is not None
    relation = function.parent if isinstance(function.parent, exp.Table) else function
    return Cut(select, relation, function.this, tree, source, streams, not _aggregated(function.this), waiting=sessions)


def _at_match(matches: RowMatches, tree: exp.Expr, source: Source, streams: Streams) -> Cut:
    """The cut at a MATCH_RECOGNIZE."""
    match, below = matches.match, matches.match.this
    buffered = not _aggregated(below)
    window = next((found for node in (below, *ctes_of(below)) if (found := node.find(WindowFunction))), None)
    if buffered and window is not None:
        raise source.error(
            window,
            "the rows of a window function below a MATCH_RECOGNIZE don't stream",
            "group them by window_start and window_end, and ORDER BY window_time; or leave the window function out",
        )
    select = enclosing(match, exp.Select)
    assert select is not None
    return Cut(select, match, below, tree, source, streams, buffered, waiting=matches)


def _aggregated(relation: exp.Expr) -> bool:
    """True if rows leave a relation only when their window is closed: it, or the one relation it reads, aggregates."""
    if isinstance(relation, exp.Subquery):
        return _aggregated(relation.this)
    if isinstance(relation, exp.Table):
        if isinstance(relation.this, WindowFunction):
            return False
        cte = find_cte(relation)
        return cte is not None and _aggregated(cte.this)
    if isinstance(relation, exp.Select):
        if relation.args.get("joins"):
            return False
        inner = from_item(relation)
        return bool(relation.args.get("group")) or (inner is not None and _aggregated(inner))
    return False
