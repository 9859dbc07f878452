"""What the rules share: the query that aggregates once per slice, and the text around it.

A slice is a piece of time that every window holds all of or nothing of. For HOP and CUMULATE slices are numbered from
the offset on, and `size` of them in a row make a block:

    __slice = __block + __position,   0 <= __position < size,   __block a multiple of size
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from dbt.adapters.sparkstream.sql.interval import MILLISECOND, Interval
from dbt.adapters.sparkstream.sql.lower import nested
from dbt.adapters.sparkstream.sql.optimize.aggregates import Mergeable, Partial
from dbt.adapters.sparkstream.sql.optimize.block import AggregateCall, WindowAggregate
from dbt.adapters.sparkstream.sql.optimize.clock import clock
from dbt.adapters.sparkstream.sql.optimize.norule import NoRule
from dbt.adapters.sparkstream.sql.windows import WINDOW_COLUMNS


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


class Slices:
    """The slices of a query, and the columns that every query above them has.

    Attributes:
        slice: the length of a slice.
        size: how many slices make a block.
        keys: what rows are grouped by beside the slice, as columns of the slices.
        columns: the partials.
    """

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
        self._offset = offset
        self._texts: list[str] = []
        self.time = aggregate.source.written(aggregate.function.timecol)
        self.time_type = aggregate.time_type()
        self.clock = clock(self.time, self.time_type)
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
        return f"\0{len(self._texts) - 1}\0"

    def written(self, comment: str, query: str, indent: str) -> str:
        """A query in parentheses, with a comment before it, indented."""
        lines = [f"/* {comment.replace('*/', '* /')} */", *query.split("\n")]
        text = "(\n" + "\n".join(f"{indent}  {line}" for line in lines) + f"\n{indent})"
        for number in range(len(self._texts) - 1, -1, -1):
            text = text.replace(f"\0{number}\0", self._texts[number])
        return text

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

    @property
    def of_slices(self) -> list[str]:
        """The columns beside `carried` that the query of the slices gives."""
        return [c.name for c in self.columns if not c.partial.distinct] + (["__value"] if self.counted else [])

    @property
    def partition(self) -> str:
        """PARTITION BY of the frames over a block's slices."""
        return ", ".join([*self.keys, *self.sets, "__block"])

    def results(self) -> list[str]:
        """The aggregates, made from merged partials of the same names."""
        found = []
        for call in self.aggregate.calls.values():
            text = self._parts[call.column].result.format(*self._names[call.column])
            found.append(text if text == call.column else f"{text} AS {call.column}")
        return found

    def bounds(self, start: str, end: str) -> list[str]:
        """The window columns, from the number of the first slice and of the one behind."""
        first, behind = (self.clock.at(number, self.slice, self._offset) for number in (start, end))
        return self.typed(first, behind, self.clock.plus(behind, MILLISECOND * -1))

    def typed(self, *walls: str) -> list[str]:
        """The window columns that the query uses, from times on the wall clock, in the type of the time column."""
        used = self.aggregate.window_columns()
        columns = zip(walls, WINDOW_COLUMNS, strict=True)
        return [f"{self.clock.typed(wall)} AS {name}" for wall, name in columns if name in used]

    @property
    def number(self) -> str:
        """The number of the slice that begins at `__start`."""
        return f"{self.clock.number('__start', self.slice, self._offset)} AS __slice"

    @property
    def relation(self) -> str:
        """What the window function reads."""
        return self.hold(self.aggregate.source.rendered(self.aggregate.function.this))

    # -- queries -------------------------------------------------------------------------------------
    def query(self, more: Iterable[str], rows: str | None = None) -> str:
        """The query that aggregates the rows of each slice, per key, and per `__value` where values are counted.

        Args:
            more: columns beside keys and partials; `__start` is where the slice begins.
            rows: the rows with `__start`, if that isn't on the grid of slices.
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
        rows = nested(rows or self.clock.slices(self.relation, self.slice, self._offset, "__start"))
        text = f"{select(items)}\nFROM {rows}{f' AS {aggregate.alias}' if aggregate.alias else ''}"
        condition = aggregate.row_condition()
        if condition:
            text += f"\nWHERE {self.hold(condition)}"
        if not grouping.has_sets:
            return f"{text}\nGROUP BY {', '.join([*own, '__start'])}"
        sets = ", ".join("(" + ", ".join(["__start", *(own[i] for i in one)]) + ")" for one in grouping.sets)
        return f"{text}\nGROUP BY GROUPING SETS ({sets})"

    # -- queries above it ------------------------------------------------------------------------------
    def result(self, cells: str, bounds: list[str]) -> str:
        """The windows with their aggregates.

        Args:
            cells: a query in parentheses that gives a row per window: partials, and what `bounds` are made from.
        """
        return f"{select([*self.carried, *bounds, *self.results()])}\nFROM {cells}"

    def merged(self, cells: str, keys: Iterable[str]) -> str:
        """Cells with the same keys put together: the partials merged once more."""
        return nested(self.merging(cells, keys))

    def merging(
        self,
        cells: str,
        keys: Iterable[str],
        more: Iterable[str] = (),
        counts: Callable[[str], list[str]] = lambda name: [f"max({name}) AS {name}"],
    ) -> str:
        """The query that merges the partials of cells with the same keys, with more columns besides.

        Args:
            counts: the column that counts different values, by its name. Of windows that begin together, the longest
                has the values of all.
        """
        by = [*(c for c in self.carried if c != "__time"), *keys]
        time = ["max(__time) AS __time"] if "__time" in self.carried else []
        merged = [
            item
            for c in self.columns
            for item in (counts(c.name) if c.partial.distinct else [f"{c.merged()} AS {c.name}"])
        ]
        return f"{select([*by, *more, *time, *merged])}\nFROM {cells}\nGROUP BY {', '.join(by)}"

    def merged_by_bounds(self, cells: str, bounds: list[str], keys: Iterable[str] = ()) -> str:
        """The windows with their aggregates, where several may have the same bounds and so be one to GROUP BY.

        The clock skips an hour: a bound in it is, as a TIMESTAMP, the same as one an hour later.
        """
        grouped = self.aggregate.grouping.bounds
        used = [b for b in bounds if b.endswith(tuple(f" AS {c}" for c in grouped))]
        query = select([*self.carried, *keys, *used, *(c.name for c in self.columns)])
        one = self.merged(nested(f"{query}\nFROM {cells}"), [*keys, *grouped])
        return f"{select([*self.carried, *grouped, *self.results()])}\nFROM {one}"


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


def check_bounds(aggregate: WindowAggregate) -> None:
    """Refuses group keys that may tell apart windows of the same bounds.

    Raises:
        NoRule: a key is computed from columns of the window.
    """
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
