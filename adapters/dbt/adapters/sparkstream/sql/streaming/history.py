"""OVER across windows: which rows of earlier micro-batches the rows of later ones need.

Closed rows come in the order of their time, over all micro-batches. So OVER on the rows of a micro-batch together
with the earlier rows that their frames reach back to is OVER on all rows.

Windows close by their ends. So OVER across closed windows has to read their rows in the order of `window_end` and
`window_time`; in that of `window_start` only where all windows are of one length, or where those of a key follow each
other, as sessions do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.errors import NoRule, TranslationError
from dbt.adapters.sparkstream.sql.core.frames import Kind
from dbt.adapters.sparkstream.sql.core.interval import Interval
from dbt.adapters.sparkstream.sql.core.names.columns import Resolver
from dbt.adapters.sparkstream.sql.core.names.scope import find_cte, from_item
from dbt.adapters.sparkstream.sql.core.nodes import has_aggregate
from dbt.adapters.sparkstream.sql.core.over import bound, named, offset
from dbt.adapters.sparkstream.sql.core.source import Source
from dbt.adapters.sparkstream.sql.core.types import LTZ
from dbt.adapters.sparkstream.sql.core.windows import WINDOW_COLUMNS, Hop, Session, Tumble, WindowFunction
from dbt.adapters.sparkstream.sql.grammar.specs import FramedWindow
from dbt.adapters.sparkstream.sql.passes.flink.frames import in_force
from dbt.adapters.sparkstream.sql.streaming.asofjoins import last_value_of, own_frames
from dbt.adapters.sparkstream.sql.streaming.endings import NEW
from dbt.adapters.sparkstream.sql.streaming.names import END, ctes_of, may_be_null
from dbt.adapters.sparkstream.sql.streaming.timebounds import turned

_BOUNDED = "give it a frame with a lower bound, such as RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND CURRENT ROW"


@dataclass(frozen=True)
class Newest:
    """The newest rows of each key.

    Attributes:
        keys: what rows are partitioned by.
        back: the order from the newest row back.
        where: the rows that count: `px IS NOT NULL` for `last_value(px, TRUE)`; None for all.
        count: how many rows.
    """

    keys: tuple[str, ...]
    back: str
    where: str | None
    count: int

    def number(self, name: str) -> str:
        """A column that numbers the rows, 1 for the newest."""
        keys = [*self.keys, *([self.where] if self.where else [])]
        per_key = f"PARTITION BY {', '.join(keys)} " if keys else ""
        return f"row_number() OVER ({per_key}ORDER BY {self.back}) AS {name}"

    def test(self, name: str) -> str:
        """The condition for the rows."""
        newest = f"{name} <= {self.count}"
        return f"({newest} AND {self.where})" if self.where else newest


@dataclass(frozen=True)
class History:
    """Closed rows that are kept for later rows.

    Attributes:
        time: the column that they are ordered by, as it is written.
        span: how far back in time frames reach; None where none goes by time.
        rows: how many rows back frames reach.
        column: the name of that column.
        where: the condition that rows have to meet; None for none.
        name: the relation's name in `where`, as it is written; empty without one.
    """

    time: str
    span: Interval | None
    rows: tuple[Newest, ...]
    column: str
    where: str | None = None
    name: str = ""

    def query(self, relation: str) -> str:
        """The rows of a relation that later ones need."""
        tests = []
        rows = f"{relation} AS {self.name}" if self.name else relation
        rows += f" WHERE {self.where}" if self.where else ""
        if self.span is not None:
            # Spark takes days off on the clock of the zone, and a frame may count 24 hours.
            span = turned(self.span).sql()
            tests.append(f"{self.time} >= (SELECT max({self.time}) FROM {rows}) - {span}")
        newest_of = {f"__newest_{i}": newest for i, newest in enumerate(self.rows)}
        tests += [newest.test(name) for name, newest in newest_of.items()]
        numbers = "".join(f", {newest.number(name)}" for name, newest in newest_of.items())
        names = ", ".join([NEW, *newest_of])
        return f"SELECT * EXCEPT ({names}) FROM (SELECT *{numbers} FROM {rows}) WHERE {' OR '.join(tests)}"


def is_within_windows(select: exp.Select, resolver: Resolver) -> bool:
    """True if every OVER of a query stays within a window: the window's end is among its keys."""
    return all(END in _origins(keys, select, resolver) for _, keys, _ in frames_of(select))


def history(select: exp.Select, source: Source, arrival: str | None) -> History:
    """Closed rows that the frames of a query need.

    Args:
        arrival: the column that numbers rows in order of arrival; breaks ties in frames of ours.

    Raises:
        TranslationError: the frames need all rows, or rows that are still to come.
    """
    times: dict[str, exp.Column] = {}
    span: Interval | None = None
    rows: dict[tuple[tuple[str, ...], str, str | None], int] = {}
    for window, keys, order in frames_of(select):
        if not order or not isinstance(order[0][0], exp.Column) or order[0][1]:
            hint = "write ORDER BY and the event time; a join as of a time streams with direction='backward'"
            raise source.error(window, "OVER on a stream is ordered by time, from earlier rows to later ones", hint)
        times.setdefault(order[0][0].name.casefold(), order[0][0])
        back = ", ".join(f"{source.written(o)} {way}" for o, _, way in order)
        if arrival is not None and len(order) == 1 and isinstance(named(window) or window, FramedWindow):
            back += f", {arrival} DESC"
        names = tuple(source.written(key) for key in keys)
        carried = _carried(window)
        reach = _reach(window, source) if carried is None else 1
        if isinstance(reach, Interval):
            span = max(span or reach, reach)
        else:
            where = None if carried is None else f"({source.written(carried)}) IS NOT NULL"
            rows[names, back, where] = max(rows.get((names, back, where), 0), reach)
    if len(times) > 1:
        raise source.error(
            select,
            f"OVER on a stream has one order, and here there are {' and '.join(times)}",
            "order all of them by the event time",
        )
    [column] = times.values()
    if select.args.get("laterals"):
        raise source.error(select, "LATERAL VIEW beside OVER doesn't stream", "put it into a subquery")
    where = select.args.get("where")
    relation = select.args["from_"].this
    return History(
        source.written(column),
        span,
        tuple(Newest(*newest, count) for newest, count in rows.items()),
        column.name,
        source.written(where.this) if where is not None else None,
        source.name_of(relation),
    )


Order = list[tuple[exp.Expr, bool, str]]
"""The columns of an ORDER BY: each with whether it is DESC, and its direction from the last row back."""


def frames_of(select: exp.Select) -> Iterator[tuple[exp.Window, list[exp.Expr], Order]]:
    """OVER clauses of a query itself: (clause, its keys, its order)."""
    for window in own_frames(select):
        defined, parts = named(window) or window, in_force(window)
        if isinstance(defined, FramedWindow):
            value = defined.value
            keys = [k.expression for k in value.partition]
            yield window, keys, [(k.expression, False, "DESC") for k in value.order]
        else:
            order = parts.order.expressions if parts.order else []
            yield window, parts.partition_by, [(o.this, *_ways(o)) for o in order]


def _ways(item: exp.Ordered) -> tuple[bool, str]:
    desc, nulls_first = bool(item.args.get("desc")), bool(item.args.get("nulls_first"))
    nulls = "" if nulls_first is not desc else " NULLS LAST" if nulls_first else " NULLS FIRST"
    return desc, f"{'ASC' if desc else 'DESC'}{nulls}"


def _origins(keys: list[exp.Expr], select: exp.Select, resolver: Resolver) -> set[str]:
    origins = set()
    for key in keys:
        found = resolver.find(key, select) if isinstance(key, exp.Column) else None
        if isinstance(key, exp.Column) and may_be_null(key, select):
            continue  # its NULLs come with every micro-batch
        origins.add(found.origin if found is not None and found.origin else key.name.casefold())
    return origins


def _carried(window: exp.Window) -> exp.Expr | None:
    """x of `last_value(x, TRUE)` over all rows up to the current one: it needs the newest row with an x alone."""
    frame = in_force(window).frame
    whole = frame is None or (bound(frame, "start")[0] == -2 and bound(frame, "end") == (0, None))
    return last_value_of(window.this) if whole and not isinstance(named(window) or window, FramedWindow) else None


def _reach(window: exp.Window, source: Source) -> Interval | int:
    """Distance that a window's frame reaches back: in time, or in rows."""
    function = window.this
    defined = named(window) or window
    if isinstance(defined, FramedWindow):
        value = defined.value
        if value.unions or value.frame.instance_not_in_window:
            raise source.error(window, "a frame with UNION doesn't stream", "use a table model")
        if value.frame.start is None:
            raise _endless(source, window)
        return value.frame.start if value.frame.kind is Kind.ROWS else Interval(value.frame.start * 1000)
    called = function.name.upper() if isinstance(function, exp.Anonymous) else ""
    if called == "LEAD":
        raise source.error(window, "LEAD needs rows that are still to come", "swap the two: LAG on the later row")
    if called == "LAG":
        back = function.expressions[1].unnest() if len(function.expressions) > 1 else exp.Literal.number(1)
        if not isinstance(back, exp.Literal) or not back.is_int:  # -1 is a row to come
            raise source.error(window, "LAG on a stream takes a constant number of rows, 0 or more", "write it")
        return int(back.name)
    frame = in_force(window).frame
    if frame is None or bound(frame, "start")[0] == -2:
        raise _endless(source, window)
    by_rows = frame.args.get("kind", "").upper() == "ROWS"
    try:
        start, end = (offset(source, frame, side, "rows" if by_rows else LTZ) for side in ("start", "end"))
    except NoRule:
        raise source.error(window, "the frame's bounds are no constants", _BOUNDED) from None
    if end is None or end > 0:  # INTERVAL '-1' HOUR PRECEDING, for one
        raise source.error(window, "FOLLOWING needs rows that are still to come", "end the frame at CURRENT ROW")
    start = start or 0
    return -start if by_rows else Interval(-start)


def _endless(source: Source, window: exp.Window) -> TranslationError:
    return source.error(window, "this OVER needs all rows that ever were, and a stream has no end", _BOUNDED)


START = "window_start"


def check_order(select: exp.Select, relation: exp.Expr, source: Source, resolver: Resolver) -> None:
    """Refuses OVER across windows in another order than that in which they close.

    Args:
        select: the query with OVER.
        relation: the aggregation over windows that it reads.

    Raises:
        TranslationError: points at the OVER.
    """
    functions = [f for node in (relation, *ctes_of(relation)) for f in node.find_all(WindowFunction)]
    for window, keys, order in frames_of(select):
        column = order[0][0]
        known = resolver.find(column, select)
        origin = known.origin if known is not None else None
        if origin == START or (origin is None and column.name.casefold() == START):
            frame = in_force(window).frame
            by_time = frame is not None and str(frame.args.get("kind")).upper() == "RANGE"
            fits = all(_start_is_in_order(function, keys, by_time) for function in functions)
        else:
            value = None if origin is not None else _definition(column.name, relation)
            fits = value is None or _is_of_a_window(value)
        if not fits:
            raise source.error(
                window,
                f"windows close in the order of their ends, and this OVER reads them in that of {column.name}",
                "write ORDER BY window_end, and then what else decides",
            )


def _start_is_in_order(function: WindowFunction, keys: Sequence[exp.Expr], by_time: bool) -> bool:
    if isinstance(function.window, Session):
        names = {key.name.casefold() for key in keys if isinstance(key, exp.Column)}
        return not by_time and {key.name.casefold() for key in function.partition_by} <= names
    return isinstance(function.window, (Tumble, Hop))


def _definition(name: str, relation: exp.Expr) -> exp.Expr | None:
    """Expression that a column of a relation is computed by, or the rows' column that it is; None if it isn't known."""
    value: exp.Expr | None = None
    inner: exp.Expr | None = relation
    while isinstance(inner, (exp.Subquery, exp.Table, exp.Select)):
        if isinstance(inner, exp.Subquery):
            inner = inner.this
        elif isinstance(inner, exp.Table):
            cte = find_cte(inner)
            if cte is None:
                return value  # rows
            inner = None if cte.alias_column_names else cte.this
        else:
            items = {item.alias_or_name.casefold(): item.unalias() for item in inner.expressions if not item.is_star}
            value = items.get(name.casefold(), value)
            if value is not None and (not isinstance(value, exp.Column) or _is_of_a_window(value)):
                return value
            name = name if value is None else value.name
            inner = from_item(inner)
    return value if isinstance(inner, WindowFunction) else None


def _is_of_a_window(value: exp.Expr) -> bool:
    """True if a value is computed from a window's bounds, or from the result of Spark's `window()`."""
    if has_aggregate(value):
        return False
    names = {part.name.casefold() for column in value.find_all(exp.Column) for part in column.parts}
    calls = {call.name.casefold() for call in value.find_all(exp.Anonymous)}
    return bool(names & {*WINDOW_COLUMNS, "window", "session_window"} or calls & {"window", "session_window"})
