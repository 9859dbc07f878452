"""Queries that the slice rules share: the aggregates of each slice, and the queries above them.

A slice is a piece of time that is either in a window as a whole or not at all. HOP and CUMULATE number their slices
from the offset on. Slices 0 to `size` - 1 are a block, slices `size` to 2 * `size` - 1 are the next block, and so on:

    HOP(slide 1 hour, size 3 hours): slice 5 is [05:00, 06:00), and block 1 has the slices 3, 4 and 5
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from math import gcd

from dbt.adapters.sparkstream.sql.core.errors import NoRule
from dbt.adapters.sparkstream.sql.core.interval import MILLISECOND, Interval
from dbt.adapters.sparkstream.sql.core.types import NTZ
from dbt.adapters.sparkstream.sql.core.windows import BOUNDS, WINDOW_COLUMNS, Cumulate, Hop
from dbt.adapters.sparkstream.sql.core.writing import Select, named, parenthesized, placed
from dbt.adapters.sparkstream.sql.passes.optimize.aggregates import Mergeable, Partial
from dbt.adapters.sparkstream.sql.passes.optimize.block import AggregateCall, WindowAggregate
from dbt.adapters.sparkstream.sql.passes.optimize.clock import clock, multiple
from dbt.adapters.sparkstream.sql.passes.windows.queries import render


@dataclass(frozen=True)
class SliceColumn:
    """A partial of an aggregate, as a column of the slices.

    Attributes:
        name: the column's name.
        partial: what is aggregated.
        filter: the condition of the aggregate's FILTER, or None.
    """

    name: str
    partial: Partial
    filter: str | None

    @property
    def sql(self) -> str:
        """The aggregate over a slice's rows."""
        return self.partial.sql + (f" FILTER (WHERE {self.filter})" if self.filter else "")

    def merged(self, among: str = "", of: str | None = None) -> str:
        """The partials of several slices put together.

        Args:
            among: what stands behind the call, such as ` OVER __so_far`.
            of: the partial in slices that count, and NULL in others; the partial in all slices if None.
        """
        return self.partial.cast(f"{self.partial.merge}({of or self.name}{self.partial.more}){among}")


@dataclass(frozen=True)
class Cells:
    """Windows, before they have bounds and results.

    Attributes:
        query: a SELECT * that gives a row for each window.
        values: partial -> expression over the row, for partials that aren't columns of it.
    """

    query: Select
    values: Mapping[str, str] = field(default_factory=dict)


class Slices:
    """The slices of a query, and the columns that every query above them has.

    Attributes:
        slice: the length of a slice.
        offset: where slice 0 begins, counted from 1970-01-01 00:00.
        size: how many slices make a block.
        keys: the columns that rows are grouped by, beside the slice.
        columns: the partials.
        given: a relation that has the slices already; None where they are made of rows.
        passed: the columns, of `columns`, that windows have beside their aggregates.
    """

    given: str | None = None
    passed: tuple[str, ...] = ()

    def __init__(
        self,
        aggregate: WindowAggregate,
        slice_: Interval,
        size: int,
        offset: Interval,
        parts: Callable[[AggregateCall], Mergeable] = AggregateCall.merged,
    ) -> None:
        self.aggregate = aggregate
        self.slice = slice_
        self.size = size
        self.offset = offset
        self.time = aggregate.source.written(aggregate.function.timecol)
        self.time_type = aggregate.time_type()
        self.clock = clock(self.time, self.time_type, wall_bounds=aggregate.resolver.wall_bounds)
        grouping = aggregate.grouping
        self.keys = [key.column for key in grouping.keys]
        self.sets = ["__set"] if grouping.has_sets else []
        self._names: dict[str, list[str]] = {}
        self._parts: dict[str, Mergeable] = {}
        found: dict[tuple[Partial, str | None], SliceColumn] = {}
        for call in aggregate.calls.values():
            self._parts[call.column] = made = parts(call)
            several = len(made.partials) > 1
            filter_ = call.filter if made is call.parts else None
            for i, partial in enumerate(made.partials, 1):
                name = f"{call.column}_{i}" if several else call.column
                column = found.setdefault((partial, filter_), SliceColumn(name, partial, filter_))
                self._names.setdefault(call.column, []).append(column.name)
        self.columns = list(found.values())

    def count_rows(self) -> None:
        """Adds a count of rows to the columns if no column is a count."""
        if not any(column.partial.counts for column in self.columns):
            self.columns.append(SliceColumn("__rows", Partial("count(*)", counts=True), None))

    def count_of(self, column: SliceColumn) -> SliceColumn | None:
        """The column that counts the values that `column` sums up; None if there is no such column."""
        count = column.partial.present
        return next((c for c in self.columns if c.partial.sql == count and c.filter == column.filter), None)

    # -- texts ---------------------------------------------------------------------------------------
    def comment(self) -> str:
        """Comment for people: the windows, and the slices that they are put together from."""
        window = self.aggregate.function.window
        kind, words = window.name.lower(), window.words()
        return f"{kind}: {words} on {self.time}, put together from slices of {self.slice.words()}"

    # -- columns -------------------------------------------------------------------------------------
    @property
    def carried(self) -> list[str]:
        """The columns that go through every query unchanged."""
        time = [] if self.time_type else ["__time"]
        return [*self.keys, *self.sets, *self.aggregate.grouping_calls, *time]

    @property
    def counted(self) -> str | None:
        """The expression of count(DISTINCT ...), NULL for rows that aren't counted; None without such a count."""
        column = next((c for c in self.columns if c.partial.distinct), None)
        if column is None:
            return None
        value = column.partial.distinct
        return f"CASE WHEN {column.filter} THEN {value} END" if column.filter else value

    def block(self, number: str) -> str:
        """The number of the first slice of a slice's block."""
        return multiple(number, self.size)

    def per(self, *columns: str) -> str:
        """PARTITION BY the keys and some more columns, for a frame; nothing where there are neither."""
        by = [*self.keys, *self.sets, *columns]
        return f"PARTITION BY {', '.join(by)} " if by else ""

    def lasts(self, first: str, until: str, every: int) -> str:
        """The last slice of each window that ends with one of the slices from `first` to `until` - 1, as an array.

        Args:
            first: a slice's number.
            until: a slice's number.
            every: how many slices after a window the next one ends.
        """
        step = ""
        if every > 1:
            first, step = f"{first} + pmod({self.size - 1} - {first}, {every})", f", {every}"
        return f"CASE WHEN {first} < {until} THEN sequence({first}, {until} - 1{step}) ELSE array() END"

    def _results(self, values: Mapping[str, str]) -> dict[str, str]:
        """The aggregates, made from merged partials: name -> expression."""
        found = {}
        for call in self.aggregate.calls.values():
            merged = (values.get(name, name) for name in self._names[call.column])
            found[call.column] = self._parts[call.column].result.format(*merged)
        return found | {name: values.get(name, name) for name in self.passed}

    def bounds(self, start: str, end: str) -> dict[str, str]:
        """The window columns that the query uses: name -> expression.

        Args:
            start: the number of the window's first slice.
            end: the number of the first slice behind the window.
        """
        first, behind = self.at(start), self.at(end)
        return self.window_columns(first, behind, self.clock.plus(behind, MILLISECOND * -1))

    def at(self, number: str) -> str:
        """Start of the slice of a number, on the wall clock."""
        return self.clock.at(number, self.slice, self.offset)

    def window_columns(self, start: str, end: str, last: str) -> dict[str, str]:
        """The window columns that the query uses: name -> expression. For the arguments see `Clock.columns`."""
        used = self.aggregate.window_columns()
        columns = zip(WINDOW_COLUMNS, self.clock.columns(start, end, last), strict=True)
        return {name: column for name, column in columns if name in used}

    def columns_until(self, start: str, since: str, length: Interval) -> dict[str, str]:
        """The window columns of windows that end so long after a time on the wall clock (see `window_columns`)."""
        end, last = (self.clock.plus(since, until) for until in (length, length + MILLISECOND * -1))
        return self.window_columns(start, end, last)

    def numbered(self) -> Select:
        """The query that gives the slices, with their numbers as `__slice`."""
        if self.given:
            return Select(["*"], self.given)
        rows, start = self.clock.slices(self.relation, self.slice, self.offset)
        return self.query([self.number(start)], rows, start)

    def number(self, start: str) -> str:
        """The number of the slice that begins at a time, as `__slice`."""
        return f"{self.clock.number(start, self.slice, self.offset)} AS __slice"

    @property
    def relation(self) -> str:
        """Relation that the window function reads."""
        return self.aggregate.source.rendered(self.aggregate.function.this)

    # -- queries -------------------------------------------------------------------------------------
    def query(self, more: Iterable[str], rows: Select | str, *by: str) -> Select:
        """The query that aggregates the rows of each slice, per key, and per `__value` where values are counted.

        Args:
            more: columns beside keys and partials.
            rows: what gives the rows.
            by: what tells slices apart, expressions over the rows.
        """
        aggregate, grouping = self.aggregate, self.aggregate.grouping
        source = aggregate.source
        own = [source.rendered(key.node) for key in grouping.keys]
        items = [
            text if key.is_column and key.column != f"__key_{i}" else f"{text} AS {key.column}"
            for i, (key, text) in enumerate(zip(grouping.keys, own, strict=True), 1)
        ]
        forms = [key.form for key in grouping.keys]
        items += ["grouping_id() AS __set"] if grouping.has_sets else []
        items += [f"grouping({own[forms.index(form)]}) AS {name}" for name, form in aggregate.grouping_calls.items()]
        items += [] if self.time_type else [f"max({self.time}) AS __time"]
        items += more
        items += [f"{column.sql} AS {column.name}" for column in self.columns if not column.partial.distinct]
        if self.counted:
            own.append(self.counted)
            items.append(f"{self.counted} AS __value")
        group = [*own, *by]
        if grouping.has_sets:
            sets = ", ".join("(" + ", ".join([*by, *(own[i] for i in one)]) + ")" for one in grouping.sets)
            group = [f"GROUPING SETS ({sets})"]
        condition = aggregate.row_condition()
        return Select(items, rows, aggregate.alias, where=[condition] if condition else [], group=group)

    # -- queries above it ------------------------------------------------------------------------------
    def result(self, cells: Cells, bounds: Mapping[str, str]) -> Select:
        """The windows with their aggregates.

        Args:
            bounds: the window columns: name -> expression over the cells.
        """
        return replace(cells.query, items=[*self.carried, *named({**bounds, **self._results(cells.values)})])

    def unless_another(
        self, cells: Cells, window: Hop | Cumulate, start: str, end: str, longest: str | None = None
    ) -> Cells:
        """Leaves out the windows that become another window where the clock skips an hour.

        The macro `sparkstream_unless_another` has the condition and an example.

        Args:
            start: where a window begins, on the wall clock.
            end: where it ends.
            longest: for CUMULATE, where the longest of the windows ends that begin together.
        """
        clock_ = self.clock
        if self.time_type == NTZ or self.aggregate.resolver.wall_bounds or not window.repeats:
            return cells
        every = window.step if isinstance(window, Cumulate) else window.slide
        shown = (clock_.shown(start), clock_.shown(end))
        condition = render("unless_another", every.micros, start, end, *shown, longest, clock_.numbers)
        return Cells(Select(["*"], cells.query, where=condition.split("\n")), cells.values)

    def merging(
        self,
        cells: Select,
        keys: Iterable[str],
        more: Iterable[str] = (),
        counts: Callable[[str], list[str]] | None = None,
    ) -> Select:
        """The query that merges the partials of cells with the same keys.

        Args:
            more: columns besides.
            counts: gives the columns for a partial that counts different values; None where no values are counted.
        """
        by = [*(c for c in self.carried if c != "__time"), *keys]
        time = ["max(__time) AS __time"] if "__time" in self.carried else []
        merged = [
            item
            for c in self.columns
            for item in (counts(c.name) if counts and c.partial.distinct else [f"{c.merged()} AS {c.name}"])
        ]
        return Select([*by, *more, *time, *merged], cells, group=by)

    def merged_by_bounds(self, cells: Cells, bounds: Mapping[str, str]) -> Select:
        """The windows with their aggregates, where GROUP BY names one bound, which several windows may have.

        The clock skips an hour: a bound in that hour is, as a TIMESTAMP, the same as a bound an hour later.
        """
        grouped = self.aggregate.grouping.bounds
        used = {name: sql for name, sql in bounds.items() if name in grouped}
        values = {c.name: cells.values.get(c.name, c.name) for c in self.columns}
        query = replace(cells.query, items=[*self.carried, *named({**used, **values})])
        return Select([*self.carried, *grouped, *named(self._results({}))], self.merging(query, grouped))

    def written(self, query: Select, indent: str) -> str:
        """A query in parentheses, with a comment on what its windows are put together from."""
        return placed(parenthesized(query, self.comment()), indent)


def counts_values(aggregate: WindowAggregate) -> bool:
    """True if the query has a count(DISTINCT ...).

    Raises:
        NoRule: an aggregate can't be put together from the aggregates of slices; or it counts the values of several
            expressions, or has grouping sets as well.
    """
    parts = [(call.merged().partials, call.filter) for call in aggregate.calls.values()]
    found = {(p.distinct, condition) for partials, condition in parts for p in partials if p.distinct}
    if len(found) > 1:
        raise NoRule("count(DISTINCT ...) of several expressions can't be put together from slices")
    if found and aggregate.grouping.has_sets:
        raise NoRule("count(DISTINCT ...) with grouping sets can't be put together from slices")
    return bool(found)


def may_coincide(aggregate: WindowAggregate, identity: frozenset[str]) -> bool:
    """True if GROUP BY may put several windows into one group, because the clock skips an hour where they begin or end.

    Args:
        identity: window columns; any one of them tells windows apart on the wall clock.
    """
    bounds = set(aggregate.grouping.bounds)
    if aggregate.time_type() == NTZ:
        return False
    if aggregate.resolver.wall_bounds:
        return not bounds & identity & set(BOUNDS)
    return "window_start" not in bounds or len(bounds) == 1


def gcd_slice(one: Interval, other: Interval) -> Interval:
    """The longest slice that two intervals are whole multiples of."""
    return Interval(gcd(one.micros, other.micros))
