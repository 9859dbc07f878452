"""What the rules share: the query that aggregates once per slice, and the text around it.

A slice is a piece of time that every window holds all of or nothing of. For HOP and CUMULATE slices are numbered from
the offset on, and `size` of them in a row, from a multiple of `size` on, make a block.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from dbt.adapters.sparkstream.sql.core.interval import MILLISECOND, Interval
from dbt.adapters.sparkstream.sql.core.types import NTZ
from dbt.adapters.sparkstream.sql.core.windows import BOUNDS, WINDOW_COLUMNS, Cumulate, Hop
from dbt.adapters.sparkstream.sql.passes.optimize.aggregates import Mergeable, Partial
from dbt.adapters.sparkstream.sql.passes.optimize.block import AggregateCall, WindowAggregate
from dbt.adapters.sparkstream.sql.passes.optimize.clock import clock, multiple
from dbt.adapters.sparkstream.sql.passes.optimize.norule import NoRule
from dbt.adapters.sparkstream.sql.passes.windows.lower import nested, unless_read_as_another


def merged_parts(call: AggregateCall) -> Mergeable:
    """How an aggregate is put together from those of slices.

    Raises:
        NoRule: it can't be.
    """
    if isinstance(call.parts, NoRule):
        raise call.parts
    return call.parts


@dataclass(frozen=True)
class Column:
    """A partial of an aggregate as a column of the slices."""

    name: str
    partial: Partial
    filter: str | None

    @property
    def sql(self) -> str:
        """The aggregate over a slice's rows."""
        return self.partial.sql + (f" FILTER (WHERE {self.filter})" if self.filter else "")

    def merged(self, among: str = "") -> str:
        """The partials of several slices put together; `among` is what stands behind the call."""
        return self.partial.cast(f"{self.partial.merge}({self.name}){among}")


@dataclass(frozen=True)
class Cells:
    """Windows, before they have bounds and results.

    Attributes:
        rows: FROM, and what stands behind it; it gives a row for each window.
        values: calls over the row for those partials that aren't columns of it.
    """

    rows: str
    values: Mapping[str, str] = field(default_factory=dict)


_HELD = re.compile("\0held ([0-9]+)\0")
"""Stands for a text that is kept."""


class Slices:
    """The slices of a query, and the columns that every query above them has.

    Attributes:
        slice: the length of a slice.
        offset: where slices are counted from.
        size: how many slices make a block.
        keys: what rows are grouped by beside the slice, as columns of the slices.
        columns: the partials.
        given: a relation that holds the slices; None where they are made of rows.
    """

    given: str | None = None

    def __init__(
        self,
        aggregate: WindowAggregate,
        slice_: Interval,
        size: int,
        offset: Interval,
        parts: Callable[[AggregateCall], Mergeable] = merged_parts,
    ) -> None:
        self.aggregate = aggregate
        self.slice = slice_
        self.size = size
        self.offset = offset
        self._texts: list[str] = []
        self.time = aggregate.source.written(aggregate.function.timecol)
        self.time_type = aggregate.time_type()
        self.clock = clock(self.time, self.time_type, wall_bounds=aggregate.resolver.wall_bounds)
        grouping = aggregate.grouping
        self.keys = [key.column for key in grouping.keys]
        self.sets = ["__set"] if grouping.has_sets else []
        self._names: dict[str, list[str]] = {}
        self._parts: dict[str, Mergeable] = {}
        found: dict[tuple[Partial, str | None], Column] = {}
        for call in aggregate.calls.values():
            self._parts[call.column] = made = parts(call)
            several = len(made.partials) > 1
            filter_ = call.filter if made is call.parts else None
            for i, partial in enumerate(made.partials, 1):
                name = f"{call.column}_{i}" if several else call.column
                column = found.setdefault((partial, filter_), Column(name, partial, filter_))
                self._names.setdefault(call.column, []).append(column.name)
        self.columns = list(found.values())

    def count_rows(self) -> None:
        """Makes sure that there is a count among the columns."""
        if not any(column.partial.counts for column in self.columns):
            self.columns.append(Column("__rows", Partial("count(*)", counts=True), None))

    def count_of(self, column: Column) -> Column | None:
        """The column that counts the values that another one sums up, if there is one."""
        count = column.partial.present
        return next((c for c in self.columns if c.partial.sql == count and c.filter == column.filter), None)

    # -- texts ---------------------------------------------------------------------------------------
    def hold(self, text: str) -> str:
        """Keeps a text as it is until all lines are indented: new lines in its strings are no place to indent."""
        self._texts.append(text)
        return f"\0held {len(self._texts) - 1}\0"

    def comment(self) -> str:
        """What windows are put together from, for people."""
        window = self.aggregate.function.window
        kind, words = window.name.lower(), window.words()
        return f"{kind}: {words} on {self.time}, put together from slices of {self.slice.words()}"

    def written(self, comment: str, query: str, indent: str) -> str:
        """A query in parentheses, with a comment before it, indented."""
        lines = [f"/* {comment.replace('*/', '* /')} */", *query.split("\n")]
        return self.held("(\n" + "\n".join(f"{indent}  {line}" for line in lines) + f"\n{indent})")

    def held(self, text: str) -> str:
        """A text with the texts in it that are kept."""
        return _HELD.sub(lambda found: self.held(self._texts[int(found[1])]), text)

    # -- columns -------------------------------------------------------------------------------------
    @property
    def carried(self) -> list[str]:
        """The columns that go through every query unchanged."""
        time = [] if self.time_type else ["__time"]
        return [*self.keys, *self.sets, *self.aggregate.grouping_calls, *time]

    @property
    def counted(self) -> str | None:
        """The expression whose different values are counted, if one is; NULL isn't one of them."""
        column = next((c for c in self.columns if c.partial.distinct), None)
        if column is None:
            return None
        value = column.partial.distinct
        return f"CASE WHEN {column.filter} THEN {value} END" if column.filter else value

    def block(self, number: str) -> str:
        """The first slice of the block that a slice is in."""
        return multiple(number, self.size)

    def per(self, *columns: str) -> str:
        """PARTITION BY of the frames over slices with the same keys, and with the same values of other columns."""
        by = [*self.keys, *self.sets, *columns]
        return f"PARTITION BY {', '.join(by)} " if by else ""

    def lasts(self, first: str, until: str, every: int) -> str:
        """The last slices of the windows that end with one of some slices, as an array.

        Args:
            first: the first of those slices.
            until: the one behind them.
            every: how many slices after a window the next one ends.
        """
        step = ""
        if every > 1:
            first, step = f"{first} + pmod({self.size - 1} - {first}, {every})", f", {every}"
        return f"CASE WHEN {first} < {until} THEN sequence({first}, {until} - 1{step}) ELSE array() END"

    def _results(self, values: Mapping[str, str]) -> list[str]:
        """The aggregates, made from merged partials."""
        found = []
        for call in self.aggregate.calls.values():
            merged = (values.get(name, name) for name in self._names[call.column])
            text = self._parts[call.column].result.format(*merged)
            found.append(text if text == call.column else f"{text} AS {call.column}")
        return found

    def bounds(self, start: str, end: str) -> list[str]:
        """The window columns, from the number of the first slice and of the one behind."""
        first, behind = self.at(start), self.at(end)
        return self.window_columns(first, behind, self.clock.plus(behind, MILLISECOND * -1))

    def at(self, number: str) -> str:
        """Where the slice of a number begins, on the wall clock."""
        return self.clock.at(number, self.slice, self.offset)

    def window_columns(self, start: str, end: str, last: str) -> list[str]:
        """The window columns that the query uses, from times on the wall clock (see `Clock.columns`)."""
        used = self.aggregate.window_columns()
        columns = zip(self.clock.columns(start, end, last), WINDOW_COLUMNS, strict=True)
        return [f"{column} AS {name}" for column, name in columns if name in used]

    def numbered(self) -> str:
        """The query that gives the slices, with their numbers as `__slice`."""
        if self.given:
            return f"SELECT *\nFROM {self.given}"
        rows, start = self.clock.slices(self.relation, self.slice, self.offset)
        return self.query([self.number(start)], nested(rows), start)

    def number(self, start: str) -> str:
        """The number of the slice that begins at a time, as `__slice`."""
        return f"{self.clock.number(start, self.slice, self.offset)} AS __slice"

    @property
    def relation(self) -> str:
        """What the window function reads."""
        return self.hold(self.aggregate.source.rendered(self.aggregate.function.this))

    # -- queries -------------------------------------------------------------------------------------
    def query(self, more: Iterable[str], rows: str, *by: str) -> str:
        """The query that aggregates the rows of each slice, per key, and per `__value` where values are counted.

        Args:
            more: columns beside keys and partials.
            rows: the relation with the rows.
            by: what tells a slice, expressions over its rows.
        """
        aggregate, grouping = self.aggregate, self.aggregate.grouping
        source = aggregate.source
        own = [self.hold(source.rendered(key.node)) for key in grouping.keys]
        items = [
            text if key.is_column and key.column != f"__key_{i}" else f"{text} AS {key.column}"
            for i, (key, text) in enumerate(zip(grouping.keys, own, strict=True), 1)
        ]
        forms = [key.form for key in grouping.keys]
        items += ["grouping_id() AS __set"] if grouping.has_sets else []
        items += [f"grouping({own[forms.index(form)]}) AS {name}" for name, form in aggregate.grouping_calls.items()]
        items += [] if self.time_type else [f"max({self.time}) AS __time"]
        items += more
        items += [f"{self.hold(column.sql)} AS {column.name}" for column in self.columns if not column.partial.distinct]
        if self.counted:
            own.append(self.hold(self.counted))
            items.append(f"{own[-1]} AS __value")
        text = f"{select(items)}\nFROM {rows}{f' AS {aggregate.alias}' if aggregate.alias else ''}"
        condition = aggregate.row_condition()
        if condition:
            text += f"\nWHERE {self.hold(condition)}"
        if not grouping.has_sets:
            return f"{text}\nGROUP BY {', '.join([*own, *by])}"
        sets = ", ".join("(" + ", ".join([*by, *(own[i] for i in one)]) + ")" for one in grouping.sets)
        return f"{text}\nGROUP BY GROUPING SETS ({sets})"

    # -- queries above it ------------------------------------------------------------------------------
    def result(self, cells: Cells, bounds: list[str]) -> str:
        """The windows with their aggregates.

        Args:
            bounds: the window columns, made from columns of the cells.
        """
        return f"{select([*self.carried, *bounds, *self._results(cells.values)])}\n{cells.rows}"

    def unless_another(self, cells: Cells, start: str, end: str, longest: str = "") -> Cells:
        """Windows without those that are another one to a TIMESTAMP, as the clock skips their bounds (see `lower`).

        Args:
            start: where a window begins, on the wall clock.
            end: where it ends.
            longest: where the last window ends that begins with it, of a CUMULATE.
        """
        window, clock_ = self.aggregate.function.window, self.clock
        assert isinstance(window, Hop | Cumulate)
        if self.time_type == NTZ or self.aggregate.resolver.wall_bounds or not window.repeats:
            return cells
        condition = unless_read_as_another(window, start, end, clock_.shown, clock_.is_multiple, longest)
        every = f"SELECT *\n{cells.rows}"
        return Cells(f"FROM {nested(every)}\nWHERE {condition}", cells.values)

    def merging(
        self,
        cells: str,
        keys: Iterable[str],
        more: Iterable[str] = (),
        counts: Callable[[str], list[str]] | None = None,
    ) -> str:
        """The query that merges the partials of cells with the same keys, with more columns besides.

        Args:
            counts: the columns that count different values, by the name of the partial; None where none are counted.
        """
        by = [*(c for c in self.carried if c != "__time"), *keys]
        time = ["max(__time) AS __time"] if "__time" in self.carried else []
        merged = [
            item
            for c in self.columns
            for item in (counts(c.name) if counts and c.partial.distinct else [f"{c.merged()} AS {c.name}"])
        ]
        return f"{select([*by, *more, *time, *merged])}\nFROM {cells}\nGROUP BY {', '.join(by)}"

    def merged_by_bounds(self, cells: Cells, bounds: list[str]) -> str:
        """The windows with their aggregates, where GROUP BY puts several together, as they have the bound it names.

        The clock skips an hour: a bound in it is, as a TIMESTAMP, the same as one an hour later.
        """
        grouped = self.aggregate.grouping.bounds
        used = [b for b in bounds if b.endswith(tuple(f" AS {c}" for c in grouped))]
        values = [f"{cells.values[c.name]} AS {c.name}" if c.name in cells.values else c.name for c in self.columns]
        query = f"{select([*self.carried, *used, *values])}\n{cells.rows}"
        one = self.merging(nested(query), grouped)
        return f"{select([*self.carried, *grouped, *self._results({})])}\nFROM {nested(one)}"


def check_parts(aggregate: WindowAggregate) -> None:
    """Refuses aggregates that can't be put together from those of slices.

    Raises:
        NoRule: why one can't.
    """
    for call in aggregate.calls.values():
        merged_parts(call)


def counts_values(aggregate: WindowAggregate) -> bool:
    """Whether different values are counted.

    Raises:
        NoRule: of more than slices can be grouped by.
    """
    parts = [(c.parts.partials, c.filter) for c in aggregate.calls.values() if isinstance(c.parts, Mergeable)]
    found = {(p.distinct, condition) for partials, condition in parts for p in partials if p.distinct}
    if len(found) > 1:
        raise NoRule("count(DISTINCT ...) of several expressions can't be put together from slices")
    if found and aggregate.grouping.has_sets:
        raise NoRule("count(DISTINCT ...) with grouping sets can't be put together from slices")
    return bool(found)


def may_coincide(aggregate: WindowAggregate, identity: frozenset[str]) -> bool:
    """Whether GROUP BY may put several windows together, because the clock skips an hour where they begin or end.

    Args:
        identity: window columns, any of which tells windows apart on the wall clock.
    """
    bounds = set(aggregate.grouping.bounds)
    if aggregate.time_type() == NTZ:
        return False
    if aggregate.resolver.wall_bounds:
        return not bounds & identity & set(BOUNDS)
    return "window_start" not in bounds or len(bounds) == 1


def check_bounds(aggregate: WindowAggregate) -> None:
    """Refuses what can't be merged by bounds.

    Raises:
        NoRule: different values are counted, or a key is computed from columns of the window.
    """
    if counts_values(aggregate):
        raise NoRule("count(DISTINCT ...) of windows by one bound, which several have where the clock skips an hour")
    if not aggregate.grouping.window_forms <= set(WINDOW_COLUMNS):
        raise NoRule("a group key is computed from columns of the window, of which several may have the same bounds")


def gcd_slice(one: Interval, other: Interval) -> Interval:
    """The longest slice that two intervals are whole multiples of."""
    a, b = one.micros, other.micros
    while b:
        a, b = b, a % b
    return Interval(a)


def select(items: Iterable[str]) -> str:
    """A SELECT list, an item on each line."""
    return "SELECT\n" + ",\n".join(f"  {item}" for item in items)
