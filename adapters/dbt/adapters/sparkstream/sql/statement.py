"""One text to translate: parsed, checked, edited."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cached_property, reduce
from itertools import islice
from operator import or_
from typing import TYPE_CHECKING, Protocol

from sqlglot import exp
from sqlglot.errors import TokenError

from dbt.adapters.sparkstream.sql.core.errors import ArgumentError, TranslationError, TranslationWarning
from dbt.adapters.sparkstream.sql.core.literals import is_column
from dbt.adapters.sparkstream.sql.core.names.columns import Resolver
from dbt.adapters.sparkstream.sql.core.names.scope import find_cte
from dbt.adapters.sparkstream.sql.core.nodes import Opaque, enclosing, find
from dbt.adapters.sparkstream.sql.core.schema import Schema
from dbt.adapters.sparkstream.sql.core.source import Edit, Source, Span, Traced, blamed_on, error_at
from dbt.adapters.sparkstream.sql.core.tokens import with_by
from dbt.adapters.sparkstream.sql.core.windows import Session, window_functions
from dbt.adapters.sparkstream.sql.dialects import DIALECTS
from dbt.adapters.sparkstream.sql.dialects.flink import rowtimes
from dbt.adapters.sparkstream.sql.grammar.scan import Found, scan
from dbt.adapters.sparkstream.sql.grammar.specs import FramedWindow, LastJoin
from dbt.adapters.sparkstream.sql.grammar.statements import check_several, read, split, unclosed
from dbt.adapters.sparkstream.sql.passes.batches import Microbatch, Widened, check
from dbt.adapters.sparkstream.sql.passes.comments import comments
from dbt.adapters.sparkstream.sql.passes.optimize.onebound import OneBound
from dbt.adapters.sparkstream.sql.passes.optimize.oversums import OverSums, SlidingFrame
from dbt.adapters.sparkstream.sql.passes.optimize.passes import Decision, Optimizer, has_frames, may_pay
from dbt.adapters.sparkstream.sql.passes.resolvers import resolver_of
from dbt.adapters.sparkstream.sql.passes.windows.functions import WindowFunctions
from dbt.adapters.sparkstream.sql.passes.windows.groupfunctions import group_functions, rules_pay
from dbt.adapters.sparkstream.sql.passes.windows.groups import GroupWindows, is_auxiliary, is_group_window
from dbt.adapters.sparkstream.sql.passes.windows.sessionfilters import session_filters
from dbt.adapters.sparkstream.sql.passes.windows.warnings import merged_windows, sparse_windows, unequal_bounds

if TYPE_CHECKING:
    from dbt.adapters.sparkstream.sql.passes.flink.names import EventTimeOf
    from dbt.adapters.sparkstream.sql.passes.framing.query import Frames


class Pass(Protocol):
    """Pass for one kind of construct: it writes the construct for Spark."""

    def edits(self, tree: exp.Expr) -> Iterator[Edit]:
        """The edits that a syntax tree needs."""


def _not_split(source: Source, place: Span, what: str, reason: str) -> TranslationWarning:
    """A warning of a window whose rows aren't split by time."""
    hint = "it is for frames of RANGE between two lengths of time"
    return source.warning(place, f"skewed does nothing for {what}: {reason}", hint)


def whole_trees(sql: str, dialect: str) -> list[exp.Expr]:
    """The syntax trees of all statements of a text; none if a piece of it can't be parsed."""
    try:
        trees = Statement.parse(sql, dialect, whole=True).trees
    except TranslationError:
        return []
    return [] if any(tree.find(Opaque) for tree in trees) else trees


class Statement:
    """A text in one of our dialects.

    Attributes:
        source: its text and edits.
        trees: the syntax trees of its statements that hold a construct of ours.
        unsplit: warnings of a translation with `skewed`: of windows whose rows can't be split by time.

    Args:
        found: what its statements hold.
    """

    def __init__(
        self, source: Source, trees: list[exp.Expr], found: Found, dialect: str, *, wall_bounds: bool = False
    ) -> None:
        self.source = source
        self.trees = trees
        self._found = found
        self._dialect = dialect
        self._strict = dialect == "flink"
        self._wall_bounds = wall_bounds or self._strict
        self.unsplit: list[TranslationWarning] = []
        self._resolved: tuple[Schema | None, Resolver | None] = None, None

    @classmethod
    def parse(cls, sql: str, dialect: str, *, whole: bool = False, wall_bounds: bool = False) -> Statement:
        """Parses a text.

        Args:
            whole: True if statements without a construct of ours are parsed too.
            wall_bounds: True if windows have TIMESTAMP_NTZ bounds (see `Resolver`): for Spark SQL that was made of a
                statement in dialect `flink`, whose windows have them always.

        Raises:
            TranslationError: it holds our constructs and can't be parsed.
            ValueError: an unknown dialect.
        """
        if dialect not in DIALECTS:
            raise ArgumentError(f"unknown dialect {dialect!r}; there are {', '.join(DIALECTS)}")
        reader = DIALECTS[dialect]()
        try:
            tokens = with_by(reader.tokenize(sql))
        except TokenError as error:
            start = unclosed(reader, sql)
            raise error_at(
                sql, (start, start + 1), "a string, quoted name or comment that begins here is never closed"
            ) from error
        statements = split(tokens)
        found = [scan(statement, sql) for statement in statements]
        trees = [read(reader, *each, sql, dialect, whole) for each in zip(statements, found, strict=True)]
        check_several(reader, statements, sql)
        held = [tree for tree in trees if tree is not None]
        return cls(Source(sql, tokens), held, reduce(or_, found, Found()), dialect, wall_bounds=wall_bounds)

    def traced(
        self,
        schema: Schema | None = None,
        *,
        arrival: str | None = None,
        optimize: bool = False,
        skewed: bool = False,
        request: bool = False,
        batch: Microbatch | None = None,
    ) -> Traced:
        """The text with every construct of ours written as Spark SQL, and where its pieces come from.

        Args:
            batch: what dbt cuts its relations to.
            optimize: True if queries over windows may be rewritten to faster ones.
            skewed: True if one key has most of the rows, which are split by time, if `optimize`.
            request: True if tables may have a request's row in them (see `requests`).
        """
        if arrival is not None and not is_column(arrival):
            raise error_at(
                self.source.text,
                (0, 0),
                f"arrival is the name of one column, and {arrival!r} is none",
                "write arrival='seq'; a name that isn't letters, digits and _ stands in backticks: '`my seq`'",
            )
        groups = optimize and any(True for _ in self._group_functions(schema))
        if optimize and (skewed or groups or may_pay(self.trees, self._resolver(schema)) or self._has_frames):
            with suppress(TranslationError):
                return self.by_rules(schema, arrival=arrival, batch=batch, skewed=skewed)[0]
        if edits := list(self._session_filters(schema)):
            again, written = self._after(edits)
            with blamed_on(self.source.text, written):
                return again.traced(schema, arrival=arrival, batch=batch, optimize=optimize).after(written)
        return self._edited(schema, arrival, batch=batch, request=request, joins=optimize)[0].traced()

    def with_event_times(self, event_time_of: EventTimeOf) -> Traced:
        """The text with Confluent's `$rowtime` as the column that it is, where that is known."""
        from dbt.adapters.sparkstream.sql.passes.flink.names import event_times

        source = self.source
        return source.after(edit for tree in self.trees for edit in event_times(tree, source, event_time_of))

    def warnings(self, schema: Schema | None = None, batch: Microbatch | None = None) -> Iterator[TranslationWarning]:
        """Warnings of what its author hardly expects; of HOPs with time between their windows, only for the first.

        Raises:
            TranslationError: it can't be run batch by batch.
        """
        self._refuse_rowtime()
        resolver = self._resolver(schema)
        yield from islice((w for tree in self.trees for w in sparse_windows(tree, self.source, strict=self._strict)), 1)
        if self._strict:
            from dbt.adapters.sparkstream.sql.passes.flink.ignored import hint_warnings, ignored

            yield from hint_warnings(self.source)
        for tree in self.trees:
            yield from merged_windows(tree, self.source)
            if self._strict:
                yield from unequal_bounds(tree, self.source, resolver)
                yield from ignored(tree, self.source)
        if batch and batch.is_in(self.source, *self.trees):
            groups = GroupWindows(self.source, resolver, strict=self._strict)
            for tree in self.trees:
                yield from check(self.source, tree, batch, groups)

    def by_rules(
        self,
        schema: Schema | None = None,
        *,
        arrival: str | None = None,
        batch: Microbatch | None = None,
        skewed: bool = False,
    ) -> tuple[Traced, list[Decision]]:
        """The text as Spark SQL, rewritten by rules where they apply; and what they decided.

        The rules read Spark's functions. So a statement in Flink's dialect first becomes Spark SQL in all but its
        windows, and is parsed once more.

        Raises:
            TranslationError: what is wrong.
        """
        if edits := list(self._session_filters(schema)) or list(self._group_functions(schema)):
            again, written = self._after(edits)
            with blamed_on(self.source.text, written):
                traced, decisions = again.by_rules(schema, arrival=arrival, batch=batch, skewed=skewed)
            self._warn_of(again.unsplit, written)
            return traced.after(written), decisions
        if self._dialect == "spark" and not skewed:
            source, decisions = self._edited(schema, arrival, rules=True, sums=True, batch=batch)
            return source.traced(), decisions
        if self._dialect == "spark":
            written, decisions = Traced.same(self.source.text), []
        else:
            framed, decisions = self._edited(schema, arrival, keep_windows=True, sums=True, skewed=skewed)
            written = framed.traced()
        if skewed and self._dialect in ("spark", "flink"):  # the other dialects' frames are no frames of Spark's
            written, split = self._split(written, schema)
            decisions += split
        frames = self._has_frames and self._dialect != "spark"
        with blamed_on(self.source.text, written):
            statement = Statement.parse(written.text, "spark", whole=frames, wall_bounds=self._wall_bounds)
            source, more = statement._edited(
                *(schema, arrival), rules=True, frames=frames, sums=True, batch=batch, skewed=skewed
            )
        functions = (f for tree in statement.trees if skewed for f in window_functions(tree))
        sessions = [statement.source.span(f) for f in functions if isinstance(f.window, Session)]
        why = "sessions take longer where their rows are split"
        more_unsplit = (_not_split(statement.source, place, "this session", why) for place in sessions)
        self._warn_of([*statement.unsplit, *more_unsplit], written)
        return source.traced().after(written), decisions + more

    def _session_filters(self, schema: Schema | None) -> Iterator[Edit]:
        """WHERE below SESSIONs, where Flink has it."""
        resolver = self._resolver(schema)
        return (edit for tree in self.trees if self._strict for edit in session_filters(tree, self.source, resolver))

    def _group_functions(self, schema: Schema | None) -> Iterator[Edit]:
        """Window functions in the place of the group windows that rules may compute."""
        resolver = self._resolver(schema)
        for tree in self.trees if self._strict else ():
            yield from group_functions(tree, self.source, resolver, rules_pay, strict=True)

    def _after(self, edits: Iterable[Edit]) -> tuple[Statement, Traced]:
        """The statement that edits make, in the same dialect, and its text."""
        written = self.source.after(edits)
        return Statement.parse(written.text, self._dialect), written

    def _split(self, written: Traced, schema: Schema | None) -> tuple[Traced, list[Decision]]:
        """The text `written` with frames split by time, Spark SQL but for its windows; and the decisions on frames."""
        with blamed_on(self.source.text, written):
            statement = Statement.parse(written.text, "spark", whole=True, wall_bounds=self._wall_bounds)
        from dbt.adapters.sparkstream.sql.passes.optimize.skewed import SkewedFrames

        frames = SkewedFrames(statement.source, statement._resolver(schema))
        statement.source.apply([edit for tree in statement.trees for edit in frames.edits(tree)])
        for frame, place, why in frames.found:
            self._warn_of([_not_split(statement.source, place, frame.words(), why)] if why else [], written)
        decisions = [Decision(frame, None if why else frames.name, why) for frame, _, why in frames.found]
        return statement.source.traced().after(written), decisions

    def _warn_of(self, warnings: Iterable[TranslationWarning], written: Traced) -> None:
        """Adds warnings about the text `written`, which this one has become, to `unsplit`."""
        for each in warnings:
            self.unsplit.append(self.source.warning(written.place_of(each), each.message, each.hint))

    def _edited(
        self,
        schema: Schema | None,
        arrival: str | None,
        *,
        keep_windows: bool = False,
        rules: bool = False,
        frames: bool = False,
        sums: bool = False,
        joins: bool = False,
        skewed: bool = False,
        batch: Microbatch | None = None,
        request: bool = False,
    ) -> tuple[Source, list[Decision]]:
        """The text with the edits that make it Spark SQL, and what rules decided, if they are to be applied.

        Args:
            keep_windows: True if windows stay, in one spelling.
            frames: True if rules may rewrite calls over Spark's own frames, which aren't its author's.
            sums: True if calls over frames that Spark hasn't may come from running aggregates.
            joins: True if joins of windows may go by one bound; with `rules` they do.
            skewed: True if rows in frames that Spark hasn't are split by time, as one key has most of them.
        """
        self._refuse_rowtime()
        source = Source(self.source.text, self.source.tokens)
        resolver = self._resolver(schema)
        # A pass walks the whole tree: none that would find nothing.
        widened = Widened(source, batch) if batch else None
        filtered = widened.filtered if widened else ()
        optimizer = Optimizer(source, resolver, filtered=filtered, frames=frames) if rules else None
        one_bound = OneBound(source, resolver) if joins else None
        passes: list[Pass] = [each for each in (widened, optimizer, one_bound) if each is not None]
        handled = optimizer.handled if optimizer else ()
        passes.append(WindowFunctions(source, resolver, keep=keep_windows, skipped=handled))
        if self._strict or self._found.groups:
            passes.append(GroupWindows(source, resolver, strict=self._strict))
        framing: Frames | None = None
        between = list(comments(source)) if self._dialect != "spark" else []
        if self._strict:
            from dbt.adapters.sparkstream.sql.passes.flink.expressions import FlinkExpressions
            from dbt.adapters.sparkstream.sql.passes.flink.ignored import hint_edits
            from dbt.adapters.sparkstream.sql.passes.match.lowering import Matches

            passes += [Matches(source, resolver), FlinkExpressions(source, resolver)]
            between += hint_edits(source)
        elif self._dialect != "spark" or self._found.framed:
            from dbt.adapters.sparkstream.sql.passes.framing.query import Frames

            framing = Frames(
                *(source, resolver),
                dialect=self._dialect,
                arrival=arrival,
                request=request,
                running=sums,
                skewed=skewed,
            )
            passes.append(framing)
        if self._dialect == "openmldb":
            from dbt.adapters.sparkstream.sql.passes.framing.openmldb import OpenMLDBSpelling

            passes.append(OpenMLDBSpelling(source, resolver))
        if self._dialect == "sqlstream":
            from dbt.adapters.sparkstream.sql.passes.framing.spelling import SQLstreamSpelling

            passes.append(SQLstreamSpelling(source, resolver, arrival=arrival))
        source.apply([*between, *(edit for tree in self.trees for one in passes for edit in one.edits(tree))])
        for place, words, why in framing.whole if framing else ():
            self.unsplit.append(_not_split(source, place, f"a frame of {words}", why))
        decisions = [Decision(SlidingFrame(words), OverSums.name) for words in (framing.summed if framing else ())]
        return source, [*decisions, *(optimizer.decisions if optimizer else ())]

    def _refuse_rowtime(self) -> None:
        """Refuses a `$rowtime` of Confluent's: no statement says which column of its tables has the watermark."""
        for name in (each for tree in self.trees for each in rowtimes(tree)) if self._strict else ():
            message = "$rowtime is Confluent's name for the event time, and which column has it isn't known here"
            hint = "write the column that has the watermark; or give what is read an event_time in its config"
            raise self.source.error(name, message, hint)

    @cached_property
    def _has_frames(self) -> bool:
        """True if it has frames of OVER that rules may rewrite: in Spark's own dialect, Spark's frames stay."""
        return has_frames(self.trees) if self._dialect != "spark" else bool(self._found.frames)

    def _resolver(self, schema: Schema | None) -> Resolver:
        """The resolver of a schema's columns, which is kept with the columns that it has found for several passes."""
        known, resolver = self._resolved
        if resolver is None or known is not schema:
            resolver = resolver_of(self._dialect, schema, wall_bounds=self._wall_bounds)
            self._resolved = schema, resolver
        return resolver

    def windowed(self, schema: Schema | None = None) -> str:
        """The text as Spark SQL but for its windows."""
        return self._edited(schema, None, keep_windows=True)[0].render()

    def tables(self, *, skewed: bool = False) -> list[str]:
        """The tables whose columns matter, as the text names them.

        Args:
            skewed: True if columns of Spark's own frames matter, too.
        """
        found: dict[str, None] = {}
        for tree in self.trees:
            for table in self._tables(tree, skewed):
                found[self.source.text[slice(*self.source.full_name(table))]] = None
        return list(found)

    def _tables(self, tree: exp.Expr, skewed: bool) -> Iterator[exp.Table]:
        grouped = any(is_auxiliary(n, self._strict) for n in find(tree, exp.Anonymous)) or any(
            is_group_window(n, self._strict) for g in find(tree, exp.Group) for n in g.find_all(exp.Anonymous)
        )
        framed = skewed or self._dialect != "spark" or any(find(tree, FramedWindow, LastJoin))
        for table in find(tree, exp.Table) if grouped or framed or window_functions(tree) else ():
            is_named = isinstance(table.this, exp.Identifier) and not find_cte(table) and table.arg_key != "into"
            if is_named and enclosing(table, exp.Select, exp.SetOperation):
                yield table
