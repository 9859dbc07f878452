"""Flink's deprecated group windows: `GROUP BY TUMBLE(ts, INTERVAL '1' HOUR)` with TUMBLE_START and its like.

In Spark they are `window()` and `session_window()`, and TUMBLE_START is `window.start`. `coalesce(window.start,
min(ts))` in SELECT gives a bound the type of the time column, as every group has a row.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.errors import PartError
from dbt.adapters.sparkstream.sql.core.interval import MILLISECOND, ZERO, IntervalError, read_interval
from dbt.adapters.sparkstream.sql.core.names.checks import check_time, refuse_column
from dbt.adapters.sparkstream.sql.core.names.columns import Resolver
from dbt.adapters.sparkstream.sql.core.names.scope import Columns, from_item, sources
from dbt.adapters.sparkstream.sql.core.nodes import SETS, enclosing, find, own
from dbt.adapters.sparkstream.sql.core.source import Edit, Source
from dbt.adapters.sparkstream.sql.core.types import LTZ, NTZ
from dbt.adapters.sparkstream.sql.core.windows import AUXILIARY, GROUP_WINDOWS, Hop, Session, Tumble
from dbt.adapters.sparkstream.sql.core.writing import Select, parenthesized, placed
from dbt.adapters.sparkstream.sql.passes.editor import Editor
from dbt.adapters.sparkstream.sql.passes.forms import normal_form
from dbt.adapters.sparkstream.sql.passes.windows.lower import time_window, wall_clock

_ARGUMENTS = {"TUMBLE": ("size",), "HOP": ("slide", "size"), "SESSION": ("gap",)}
_USAGE = {
    "TUMBLE": "TUMBLE(ts, INTERVAL '10' MINUTE)",
    "HOP": "HOP(ts, slide INTERVAL '5' MINUTE, size INTERVAL '10' MINUTE)",
    "SESSION": "SESSION(ts, gap INTERVAL '10' MINUTE)",
}


@dataclass(frozen=True)
class GroupWindow:
    """A call of a group window.

    Attributes:
        time: the first argument.
        window: what the other arguments say.
    """

    time: exp.Expr
    window: Tumble | Hop | Session

    def same(self, other: GroupWindow) -> bool:
        """True if both are the same window; names are the same in any case."""
        return (self.window, normal_form(self.time)) == (other.window, normal_form(other.time))


def is_call(node: exp.Expr, names: object) -> bool:
    """True if a node is a call of a function with one of the names."""
    return isinstance(node, exp.Anonymous) and isinstance(node.this, str) and node.name.upper() in names  # type: ignore[operator]


def is_group_window(node: exp.Expr, strict: bool) -> bool:
    """True if a call in GROUP BY is a group window: in Spark SQL only with an interval behind the time, or its text."""
    return is_call(node, GROUP_WINDOWS) and (strict or _has_interval(node))


def is_auxiliary(node: exp.Expr, strict: bool) -> bool:
    """True if a call is TUMBLE_START or its like; in Spark SQL, `tumble_start(a)` is a function of the user's own."""
    return is_call(node, AUXILIARY) and (strict or _has_interval(node))


def only_relation(select: exp.Select) -> exp.Expr | None:
    """The table or subquery that a query reads; None where it reads anything else, or more."""
    relation = from_item(select)
    if relation is None or select.args.get("joins") or select.args.get("laterals") or relation.args.get("joins"):
        return None
    named = isinstance(relation, exp.Table) and isinstance(relation.this, exp.Identifier)
    return relation if named or isinstance(relation, exp.Subquery) else None


def _has_interval(call: exp.Expr) -> bool:
    """True if an interval, or a text that may be one, comes behind the first argument."""
    return any(
        isinstance(a, exp.Interval) or (isinstance(a, exp.Literal) and a.is_string and any(map(str.isdigit, a.name)))
        for a in call.expressions[1:]
    )


class GroupWindows(Editor):
    """Edits the group windows of a statement's queries."""

    def __init__(self, source: Source, resolver: Resolver, *, strict: bool) -> None:
        super().__init__(source, resolver)
        self._strict = strict

    def windows(self, tree: exp.Expr) -> Iterator[tuple[exp.Select, exp.Anonymous, Tumble | Hop | Session]]:
        """The group windows of a statement: query, call and window."""
        for group in find(tree, exp.Group):
            select = enclosing(group, exp.Select)
            for call in own(group, exp.Anonymous):
                if select and is_group_window(call, self._strict):
                    yield select, call, self._read(call).window

    def edits(self, tree: exp.Expr) -> Iterator[Edit]:
        """Spark's window in the place of every group window and auxiliary function of a statement."""
        calls: dict[int, list[exp.Anonymous]] = {}
        for call in find(tree, exp.Anonymous):
            if is_call(call, (*GROUP_WINDOWS, *AUXILIARY)):
                calls.setdefault(id(enclosing(call, exp.Select)), []).append(call)
        for select in find(tree, exp.Select) if calls else ():
            if id(select) in calls:
                yield from self._select(select, calls[id(select)])

    def read(self, select: exp.Select) -> tuple[GroupWindow, list[exp.Expr]] | None:
        """The group window of a query, and its other keys; None if it has none."""
        group = select.args.get("group")
        if group is None or group.find(*SETS):
            return None
        for key in group.expressions:
            if is_group_window(key, self._strict):
                return self._read(key), [other for other in group.expressions if other is not key]
        return None

    def _select(self, select: exp.Select, calls: list[exp.Anonymous]) -> Iterator[Edit]:
        group = select.args.get("group")
        windows = [k for k in (own(group, exp.Anonymous) if group else ()) if is_group_window(k, self._strict)]
        if not self._strict and not windows:  # a function of the user's own may have one of these names
            calls = [c for c in calls if is_call(c, AUXILIARY)]
        if not self._strict:
            times = {normal_form(w.expressions[0]) for w in windows}
            calls = [c for c in calls if _has_interval(c) or (c.expressions and normal_form(c.expressions[0]) in times)]
        if not calls:
            return
        spans = self.source
        if len(windows) > 1:
            raise spans.error(
                spans.call_span(windows[1]),
                "one GROUP BY takes one group window",
                "put one of them in a subquery, or join two table functions",
            )
        read = self._read(windows[0]) if windows else None
        if read and group and group.find(*SETS):
            raise spans.error(
                spans.call_span(windows[0]),
                f"a group window {read.window.name} can't stand beside GROUPING SETS, ROLLUP or CUBE",
                f"write FROM {read.window.name}(TABLE t, DESCRIPTOR(ts), ...) and group by window_start, window_end",
            )
        for call in calls:
            yield self._edit(select, call, read, any(call is w for w in windows))
        if read and self._cuts_rows(read, select):
            yield self._cut(read.time, select)

    def _cuts_rows(self, read: GroupWindow, select: exp.Select) -> bool:
        """True if the times of a SESSION are cut to milliseconds below the query, where `window()` does it by division.

        Arithmetic on a TIMESTAMP_NTZ goes through the calendar, and takes as long as the sessions themselves.
        """
        session = isinstance(read.window, Session) and isinstance(read.time, exp.Column)
        if not session or self.type(read.time) == LTZ:
            return False
        relation = only_relation(select)
        named = all(len(column.parts) < 3 for column in select.find_all(exp.Column))
        return relation is not None and named and not select.args.get("pivots") and not relation.args.get("pivots")

    def _cut(self, time: exp.Expr, select: exp.Select) -> Edit:
        """The relation of a query with its times, cut to milliseconds, as `__time`."""
        source = self.source
        [relation] = sources(select)
        span = source.span(relation)
        name = source.name_of(relation)

        def rows() -> str:
            wall = wall_clock(source.rendered(time), self.type(time) == NTZ)
            query = Select(["*", f"{time_window(wall, MILLISECOND, ZERO)}.start AS __time"], source.render(span))
            return placed(parenthesized(query), source.indent(span[0])) + (f" AS {name}" if name else "")

        return Edit(span, rows, level=1)

    def _edit(self, select: exp.Select, call: exp.Anonymous, read: GroupWindow | None, is_window: bool) -> Edit:
        source = self.source
        span = source.call_span(call)
        name = call.name.upper()
        if is_window:
            assert read
            self._check_time(read, select)
            return Edit(span, lambda: self._spark_window(read, select))
        if name in GROUP_WINDOWS:
            raise source.error(
                span,
                f"the group window {name}(...) stands in GROUP BY only",
                f"write {name}_START(...) or {name}_END(...) for its bounds",
            )
        kind, bound = AUXILIARY[name]
        if read is None or kind != read.window.name:
            raise source.error(
                span, f"{name} needs {kind} with the same arguments in GROUP BY", f"write GROUP BY {_USAGE[kind]}"
            )
        if not self._read(call).same(read):
            raise source.error(
                span,
                f"{name} has other arguments than {kind} in GROUP BY",
                f"give both the same: {source.written(read.time)} and the same intervals",
            )
        if bound == "PROCTIME":
            raise source.error(
                span,
                f"{name} has no meaning in batch: there is no processing time",
                f"write {kind}_ROWTIME(...), or current_timestamp() for the time of the run",
            )
        text, end, time = self._bound(read, bound), self._bound(read, "END"), call.expressions[0]
        clause = self._clause(select, call)
        if clause == "where":
            raise source.error(
                span, f"{name} can't stand in WHERE, which comes before the windows", "write it in HAVING"
            )
        if clause != "expressions":
            return Edit(span, lambda: text)
        alias = f" AS {name.lower()}" if not self._strict and call in select.expressions else ""
        wall_bounds = self.resolver.wall_bounds
        if self.type(read.time) == NTZ or (wall_bounds and bound != "ROWTIME"):
            return Edit(span, lambda: text + alias)
        if bound == "ROWTIME" and not wall_bounds:
            return Edit(span, lambda: f"coalesce({end}, min({source.rendered(time)})) - {MILLISECOND.sql()}{alias}")
        return Edit(span, lambda: f"coalesce({text}, min({source.rendered(time)})){alias}")

    @staticmethod
    def _clause(select: exp.Select, node: exp.Expr) -> str:
        while node.parent is not select and node.parent:
            node = node.parent
        return node.arg_key or ""

    def _read(self, call: exp.Anonymous) -> GroupWindow:
        """Reads a group window, or an auxiliary function as the window it belongs to."""
        source = self.source
        name = call.name.upper()
        kind = AUXILIARY[name][0] if name in AUXILIARY else name
        names = _ARGUMENTS[kind]
        span = source.call_span(call)
        time, *rest = call.expressions or [None]
        if (len(rest) > len(names) and kind == "TUMBLE") or (kind == "HOP" and len(rest) == 3):
            raise source.error(
                rest[len(names)],
                f"a group window {kind} can't be aligned to a time of day",
                f"write FROM {kind}(TABLE t, DESCRIPTOR(ts), ..., offset INTERVAL '8' HOUR)",
            )
        if time is None or len(rest) != len(names):
            raise source.error(span, f"{name} takes {len(names) + 1} arguments", f"write {_USAGE[kind]}")
        values = {}
        for argument, node in zip(names, rest, strict=True):
            place = source.span(node)
            try:
                values[argument] = read_interval(source.tokens_in(place), flink=self._strict)
            except IntervalError as error:
                raise source.error(place, f"{name}'s {argument}: {error}", error.hint) from None
        try:
            window = GROUP_WINDOWS[kind](**values)
        except PartError as error:
            raise source.error(rest[names.index(error.part)], str(error), error.hint) from None
        if isinstance(window, Hop) and window.slide > window.size:
            raise source.error(
                span,
                "a group window HOP can't have a slide longer than its size",
                "write FROM HOP(TABLE t, DESCRIPTOR(ts), slide, size), which drops the rows between two windows",
            )
        return GroupWindow(time, window)

    def _check_time(self, read: GroupWindow, select: exp.Select) -> None:
        name = self.source.written(read.time)
        if isinstance(read.time, exp.Column) and self.resolver.candidates(read.time, select) == []:
            known = sum(map(self.resolver.columns, sources(select)), Columns())
            refuse_column(self.source, read.time, name, known, "this FROM")
        column = self.resolver.expression(read.time, select)
        check_time(self.source, read.time, name, column.type, column.origin, flink=self._strict)

    def _spark_window(self, read: GroupWindow, select: exp.Select) -> str:
        time, type_ = self.text(read.time), self.type(read.time)
        wall = wall_clock(time, type_ == NTZ)
        window = read.window
        if isinstance(window, Session):
            assert window.gap is not None
            # Flink keeps milliseconds; session_window would keep what is finer. date_trunc gives a TIMESTAMP.
            if type_ == LTZ:
                wall = wall_clock(f"date_trunc('MILLISECOND', {time})", False)
                return f"session_window({wall}, '{window.gap.words()}')"
            if self._cuts_rows(read, select):
                return f"session_window(__time, '{window.gap.words()}')"
            finer = f"pmod(({wall} - TIMESTAMP_NTZ '1970-01-01') DIV INTERVAL '0.000001' SECOND, 1000)"
            return f"session_window({wall} - INTERVAL '0.000001' SECOND * {finer}, '{window.gap.words()}')"
        return time_window(wall, window.size, ZERO, window.slide if isinstance(window, Hop) else None)

    @staticmethod
    def _bound(read: GroupWindow, bound: str) -> str:
        window = "session_window" if read.window.name == "SESSION" else "window"
        if bound == "ROWTIME":
            return f"{window}.end - {MILLISECOND.sql()}"
        return f"{window}.{bound.lower()}"
