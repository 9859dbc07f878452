"""Interval joins of two streams: `b.ts BETWEEN a.ts AND a.ts + INTERVAL '1' HOUR`.

Spark reads from ON when it may forget a row of a join of streams. It understands one form: event times with intervals
added, compared with each other. It misreads other comparisons: with `bid.ts <= auction.expires` it forgets an auction
when the watermark passes the time at which it *began*, and with `a.v > 5` it keeps all rows of `a`. So bounds are
written in Spark's form, and other comparisons in one that Spark doesn't read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.errors import Warn
from dbt.adapters.sparkstream.sql.core.names.scope import conjuncts, find_cte, from_item
from dbt.adapters.sparkstream.sql.core.nodes import enclosing, excepted
from dbt.adapters.sparkstream.sql.core.source import Edit, Source, Span
from dbt.adapters.sparkstream.sql.core.windows import WindowFunction
from dbt.adapters.sparkstream.sql.dialects.flinkwords import flink_name
from dbt.adapters.sparkstream.sql.streaming.names import END, Streams, ctes_of
from dbt.adapters.sparkstream.sql.streaming.timebounds import TimeBound, time_bounds

_COMPARISONS = (exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between)
_FORM = "b.ts BETWEEN a.ts - INTERVAL '5' MINUTE AND a.ts + INTERVAL '1' MINUTE"


@dataclass(frozen=True)
class JoinSide:
    """A stream, or a query over one, in a join.

    Attributes:
        relation: where it stands in FROM.
        time: its column that carries the watermark; None where no one column does.
        place: its span in the text, without its alias.
    """

    relation: exp.Expr
    time: str | None
    place: Span

    @property
    def name(self) -> str:
        """Name of the side in the query."""
        return str(self.relation.alias_or_name)

    def is_time(self, name: str) -> bool:
        """True if a name is that of the side's event time."""
        return self.time is not None and name.casefold() == self.time.casefold()

    def has(self, column: exp.Column) -> bool:
        """True if a column is this side's event time, as far as names tell."""
        return self.is_time(column.name) and (not column.table or column.table.casefold() == self.name.casefold())


class IntervalJoins:
    """Edits the joins of two streams that no window's end bounds.

    Args:
        times: stream with a watermark -> its event time.
        utc: True if the session's clock shows UTC.
        elapsed: True if days are 24 hours, as in Flink.
        warn: takes a warning of state that only grows.

    Attributes:
        sides: the streams and queries whose rows wait for rows of another side.
    """

    def __init__(
        self,
        source: Source,
        streams: Streams,
        times: Mapping[str, str],
        *,
        utc: bool,
        elapsed: bool,
        warn: Warn = lambda _: None,
    ) -> None:
        self._source = source
        self._streams = streams
        self._times = {view.casefold(): time for view, time in times.items()}
        self._utc = utc
        self._elapsed = elapsed
        self._warn = warn
        self.sides: list[JoinSide] = []

    def edits(self, tree: exp.Expr) -> Iterator[Edit]:
        """The edits of a statement.

        Raises:
            TranslationError: a join that would wait for ever, or that Spark can't do.
        """
        joins = list(self._streams.joins(tree))
        for first, join in joins:
            around = join.parent
            assert around is not None
            earlier = [other.this for other in around.args["joins"][: join.index]]
            lefts = [relation for relation in (first, *earlier) if self._streams.feeds(relation)]
            yield from self._join(lefts, join, sum(other.parent is around for _, other in joins) == 1)

    def _join(self, relations: list[exp.Expr], join: exp.Join, alone: bool) -> Iterator[Edit]:
        source = self._source
        on = join.args.get("on")
        select = enclosing(join, exp.Select)
        inner = not join.side and join.kind in ("", "INNER", "CROSS")
        where = select.args.get("where") if select is not None and inner else None
        terms = [*conjuncts(on), *conjuncts(where)]
        lefts, right = [self._side(relation) for relation in relations], self._side(join.this)
        equal = [term for term in terms if isinstance(term, (exp.EQ, exp.NullSafeEQ)) and _is_of_several(term)]
        if join.method == "NATURAL" or self._is_closed_by_key(equal, join, lefts, right):
            return  # the watermark closes the key, and Spark reads no other condition
        if not equal and not join.args.get("using"):
            raise source.error(
                join.this,
                "a join of two streams finds its rows by a column that is equal in both, and there is none here",
                "add a key to the condition: ON a.k = b.k AND ...; where there is none, a constant in both: "
                "SELECT *, 1 AS k FROM ...",
            )
        bounds = [bound for term in terms for bound, _ in self._bounds(term, lefts, right)]
        if {right.has(bound.later) for bound in bounds} != {True, False}:
            self._unbounded(join, [*lefts, right], inner)
        said: list[str] = []
        for term in terms:
            found = self._bounds(term, lefts, right)
            whole = bool(found) and found[0][1]
            said += [text for bound, _ in found if (text := bound.sql(source, utc=self._utc, hidden=not whole))]
            # Spark may take a comparison for one about event times, but not with a subquery in it.
            may_be_time = term.find(*_COMPARISONS) is not None and term.find(exp.Query) is None
            if not whole and may_be_time and not (inner and _is_of_one(term)):
                yield self._hidden(source.span(term))
        if not bounds:
            return
        if not alone or any(self._joins_below(side) for side in (*lefts, right)):
            raise source.error(
                join.this,
                "a join of two streams by time doesn't stream beside another join of streams",
                "make one of the joins a streaming model of its own, and read that",
            )
        if said:
            holder = on if on is not None else where.this  # type: ignore[union-attr]
            yield Edit(source.span(holder), lambda: " AND ".join([source.term(holder), *said]), level=2)
        for side in (*lefts, right):
            if side.time is not None and side.relation.find(WindowFunction) is None:
                self.sides.append(side)
                yield self._timed(side)

    def _is_closed_by_key(
        self, equal: Sequence[exp.Binary], join: exp.Join, lefts: list[JoinSide], right: JoinSide
    ) -> bool:
        """True if a join is by event time or window end: the watermark that closes one side closes the other."""
        sides = (*lefts, right)
        using = {str(column.name).casefold() for column in join.args.get("using") or []}
        columns = [node for term in equal for node in (term.left, term.right) if isinstance(node, exp.Column)]
        return (
            END in using
            or any(side.is_time(name) for side in sides for name in using)
            or any(column.name.casefold() == END or any(side.has(column) for side in sides) for column in columns)
        )

    def _bounds(self, term: exp.Expr, lefts: list[JoinSide], right: JoinSide) -> list[tuple[TimeBound, bool]]:
        """Bounds of a condition between the event times of both sides, each with whether the condition says no more."""
        found = list(time_bounds(term, self._source, elapsed=self._elapsed))

        def across(one: exp.Column, other: exp.Column) -> bool:
            return right.has(one) and any(side.has(other) for side in lefts)

        bounds = [b for b in found if b is not None and (across(b.earlier, b.later) or across(b.later, b.earlier))]
        return [(bound, len(bounds) == len(found)) for bound in bounds]

    def _unbounded(self, join: exp.Join, sides: list[JoinSide], inner: bool) -> None:
        """Refuses an outer join whose rows would wait for ever, and warns of an inner one."""
        hint = f"bound the event times from both sides: {_FORM}"
        if timeless := [side.name for side in sides if side.time is None]:
            hint += f" ({' and '.join(timeless)} has no event time with a watermark)"
        if inner:
            self._warn(
                self._source.warning(
                    join.this,
                    "this join of two streams doesn't bound their times both ways: its state only grows",
                    hint,
                )
            )
        else:
            words = f"{join.side} {join.kind}".strip()
            raise self._source.error(
                join.this, f"a {words} JOIN of two streams has to bound how far their times are apart, both ways", hint
            )

    def _hidden(self, span: Span) -> Edit:
        """A condition in a form in which Spark finds no bounds of times, also after its own rewriting."""
        return Edit(span, lambda: f"array_contains(array({self._source.render(span)}), TRUE)", level=1)

    def _timed(self, side: JoinSide) -> Edit:
        """A side without the rows that have no time: they meet no row, and would wait for ever."""
        named = "" if side.relation.alias or not side.name else f" AS {flink_name(side.name)}"
        render = self._source.render
        return Edit(
            side.place, lambda: f"(SELECT * FROM {render(side.place)} WHERE {side.time} IS NOT NULL){named}", level=1
        )

    # -- what a relation is --------------------------------------------------------------------------
    def _side(self, relation: exp.Expr) -> JoinSide:
        return JoinSide(relation, self._time(relation), self._source.unaliased(relation))

    def _time(self, relation: exp.Expr) -> str | None:
        """The column of a relation that carries the watermark."""
        if isinstance(relation, exp.Subquery):
            return None if relation.alias_column_names else self._time(relation.this)
        if isinstance(relation, WindowFunction):
            return END
        if isinstance(relation, exp.Table):
            if isinstance(relation.this, WindowFunction):
                return END
            cte = find_cte(relation)
            if relation.alias_column_names or (cte is not None and cte.alias_column_names):
                return None
            return self._times.get(relation.name.casefold()) if cte is None else self._time(cte.this)
        if isinstance(relation, exp.SetOperation):
            return self._time(relation.this)
        return self._selected(relation) if isinstance(relation, exp.Select) else None

    def _selected(self, select: exp.Select) -> str | None:
        inner = from_item(select)
        if inner is None or select.args.get("joins") or inner.args.get("joins"):
            return None
        time = self._time(inner)
        if time is None:
            return None
        for item in select.expressions:
            bare = item.unalias()
            if isinstance(bare, exp.Column) and not bare.is_star and bare.name.casefold() == time.casefold():
                return str(item.alias_or_name)
        stars = [item for item in select.expressions if item.is_star]
        left_out = {column.name.casefold() for star in stars for column in excepted(star)}
        return time if stars and time.casefold() not in left_out else None

    def _joins_below(self, side: JoinSide) -> bool:
        """True if a side joins streams itself."""
        nodes = (side.relation.this if side.relation.args.get("joins") else side.relation, *ctes_of(side.relation))
        return any(True for node in nodes for _ in self._streams.joins(node))


def _is_of_several(term: exp.Binary) -> bool:
    """True if both sides of an equality have columns, and may have them of different relations."""
    left, right = (
        {column.table.casefold() for column in side.find_all(exp.Column)} for side in (term.left, term.right)
    )
    return bool(left and right) and (left != right or left == {""})


def _is_of_one(term: exp.Expr) -> bool:
    """True if a condition is on one relation: Spark tests it below an inner join, and reads no times from it."""
    names = {column.table.casefold() for column in term.find_all(exp.Column)}
    return len(names) == 1 and "" not in names
