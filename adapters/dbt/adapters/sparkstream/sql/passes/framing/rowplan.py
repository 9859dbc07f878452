"""Plan of a SELECT's rows for its windows: their order, streams, UNION tables, and the need of a subquery."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.errors import NoRule
from dbt.adapters.sparkstream.sql.core.frames import Kind
from dbt.adapters.sparkstream.sql.core.interval import MICROS
from dbt.adapters.sparkstream.sql.core.names.scope import Column, Columns, sources
from dbt.adapters.sparkstream.sql.core.source import SPAN
from dbt.adapters.sparkstream.sql.core.types import TIMES
from dbt.adapters.sparkstream.sql.grammar.specs import WindowSpec
from dbt.adapters.sparkstream.sql.passes.framing.aggregates import AGGREGATES
from dbt.adapters.sparkstream.sql.passes.framing.block import holding
from dbt.adapters.sparkstream.sql.passes.framing.calls import Call, Window
from dbt.adapters.sparkstream.sql.passes.framing.relation import Relation
from dbt.adapters.sparkstream.sql.passes.framing.rowsets import by_key, can_run, needs_order
from dbt.adapters.sparkstream.sql.passes.framing.select import FramedSelect
from dbt.adapters.sparkstream.sql.passes.framing.streams import ARRIVAL, KEY_TYPES, MARK, Stream
from dbt.adapters.sparkstream.sql.passes.optimize.aggregates import Arguments, running
from dbt.adapters.sparkstream.sql.passes.optimize.timeblocks import TimeBlocks

_SUBTRACTED = ("SUM", "COUNT", "AVG")
"""Aggregates that may come from running ones, depending on the type of their argument."""


class RowPlan:
    """The streams that the windows of a SELECT draw from.

    Attributes:
        unions: the UNION tables of its windows; the first has the number 1.
        union_checks: conditions that Spark refuses where a UNION table has other columns than FROM.
        streams: rows with one partition, order and the same UNION tables.
        inner: True if calls become columns of a subquery.
        blocks: how the rows of each partition are split by time; None where they aren't.
        whole: windows whose partitions aren't split though one has most of the rows, and why.
    """

    def __init__(self, select: FramedSelect, relation: Relation) -> None:
        self._select = select
        self._relation = relation
        self.unions: list[exp.Expr] = []
        self.union_checks: list[str] = []
        self.streams: list[Stream] = []
        self._union_numbers: dict[tuple[str, int], int] = {}
        for window in select.our_windows:
            for union, name in zip(window.spec.unions, self._union_names(window.spec), strict=True):
                if name not in self._union_numbers:
                    self.unions.append(union)
                    self._union_numbers[name] = len(self.unions)
                    self.union_checks += _check_union(select, relation, union)
        self._known: dict[tuple[object, ...], Stream] = {}
        self._stream_of = {id(window): self._stream(window.spec) for window in select.our_windows}
        self.inner = bool(self.unions) or any(c.inner and c.is_aggregate for c in _every(select.calls))
        calls: dict[int, list[Call]] = {}
        for call in select.calls:
            calls.setdefault(self.stream_of(call).number, []).append(call)
        for stream in self.streams:
            self._set_order(stream, calls.get(stream.number, []))
        self.whole: list[tuple[Window, str]] = []
        self.blocks = self._blocks() if select.skewed and select.calls else None
        self.inner = self.inner or self.blocks is not None
        if not self.ordered and not relation.structured:
            for stream in self.streams:
                if ARRIVAL in stream.arrival:
                    stream.arrival = (*stream.arrival[:-1], "monotonically_increasing_id()")

    def _set_order(self, stream: Stream, calls: list[Call]) -> None:
        """Sets a stream `running` if its calls come from running aggregates, or `ordered` if its rows are numbered."""
        if self.inner:
            stream.ordered = True
        elif self._select.running and stream.measures and calls and all(map(self._can_run, calls)):
            stream.running = True
        else:
            frames = ((call, call.window.spec.frame) for call in calls)
            stream.ordered = any(needs_order(frame) or (by_key(frame) and _keeps_order(call)) for call, frame in frames)

    def _blocks(self) -> TimeBlocks | None:
        """Blocks of time that split all streams; None if a window can't be split, with the reasons in `whole`."""
        windows = list({id(call.window): call.window for call in self._select.calls}.values())
        streams = [self._stream_of[id(window)] for window in windows]
        for window, stream in zip(windows, streams, strict=True):
            frame = window.spec.frame
            if frame.kind is not Kind.ROWS_RANGE or frame.start is None:
                self.whole.append((window, "it doesn't begin at a time"))
            elif not stream.measures:
                self.whole.append((window, "its rows aren't ordered by what is known to be a time or a short number"))
            elif stream.wide_key != streams[0].wide_key:
                self.whole.append((window, "a window beside it goes by another time: put it in a query of its own"))
        if self.whole:
            left = [window for window in windows if window not in [known for known, _ in self.whole]]
            self.whole += [
                (window, "a window beside it isn't split: put that in a query of its own") for window in left
            ]
            return None
        for stream in self.streams:
            stream.split = True
        millis = streams[0].timed or streams[0].key_type in TIMES
        back = max(window.spec.frame.start or 0 for window in windows)
        return TimeBlocks(streams[0].wide_key, 0, back, MICROS["MILLISECOND"] if millis else None)

    def _can_run(self, call: Call) -> bool:
        """True if a call can be computed from running aggregates."""
        name = call.name.removeprefix("FZ_").removesuffix("_WHERE")
        if not can_run(call.window.spec.frame) or name not in _SUBTRACTED or call.distinct or call.inner:
            return False
        item = holding(call.span, self._select.block.projections)
        named = item is None or isinstance(self._select.select.expressions[item], exp.Alias)
        if not named and not self._select.rules.printed_names:
            return False  # Spark names its column by the call
        if not call.arguments or (len(call.arguments) > 1 and not call.name.endswith("_WHERE")):
            return False
        try:
            running(Arguments(name.lower(), "x", self._select.type_of(call.arguments[0]), distinct=False), "", "")
        except NoRule:
            return False
        return True

    def stream_of(self, call: Call) -> Stream:
        """The rows that the window of a call draws from."""
        return self._stream_of[id(call.window)]

    @property
    def ordered(self) -> list[Stream]:
        """The streams whose rows are numbered."""
        return [s for s in self.streams if s.ordered]

    @property
    def numbers_arrival(self) -> bool:
        """True if rows get a number in the order in which Spark reads them."""
        return any(ARRIVAL in s.arrival for s in self.streams)

    def _stream(self, spec: WindowSpec) -> Stream:
        select = self._select
        partition = tuple(select.render(key.span) for key in spec.partition)
        numbers = tuple(self._union_numbers[name] for name in self._union_names(spec))
        ties: tuple[str, ...] = ()
        key: str | None = None
        key_type: str | None = None
        if spec.order:
            key = select.render(spec.order[0].span)
            key_type = select.type_of(spec.order[0].expression)
            _check_order_type(select, spec, key_type)
        elif select.rules.by_rowtime:
            key = self._rowtime()
        if select.rules.by_rowtime and key:
            rowtime = self._rowtime()
            ties = () if key.lower() == rowtime.lower() or not self._has_rowtime else (rowtime,)
        elif select.rules.free_keys and key and key_type not in KEY_TYPES[:4]:
            ties = (key,)
        arrival = self._arrival(spec)
        told = partition, key, numbers, arrival
        if told in self._known:
            return self._known[told]
        stream = self._known[told] = Stream(
            number=len(self.streams) + 1,
            partition=partition,
            key=key,
            key_type=key_type if key_type in KEY_TYPES else None,
            ties=ties,
            sources=numbers,
            all_sources=len(numbers) == len(self.unions),
            timed=select.rules.by_rowtime and _is_time(spec, key_type),
            arrival=arrival,
            nullable=select.rules.keyless,
        )
        self.streams.append(stream)
        return stream

    def _union_names(self, spec: WindowSpec) -> list[tuple[str, int]]:
        """Keys of the UNION tables of a window: the text of each, and its place among equal texts."""
        texts = [self._select.render(union.meta[SPAN]) for union in spec.unions]
        return [(text, texts[:i].count(text)) for i, text in enumerate(texts)]

    def _rowtime(self) -> str:
        """ROWTIME, of the first table where there are several."""
        return f"{self._relation.first}.ROWTIME" if self._relation.qualified else "ROWTIME"

    @cached_property
    def _has_rowtime(self) -> bool:
        """True if the rows have a ROWTIME: by the schema or, where that isn't complete, as the SELECT names it."""
        select = self._select.select
        tables = sources(select)[:1] if self._relation.qualified else sources(select)
        known = [self._select.resolver.columns(table) for table in tables]
        if any(columns.find("ROWTIME") for columns in known):
            return True
        if known and all(columns.complete for columns in known):
            return False
        return any(column.name.upper() == "ROWTIME" for column in select.find_all(exp.Column))

    def _arrival(self, spec: WindowSpec) -> tuple[str, ...]:
        prefix = f"{self._relation.first}." if self._relation.qualified else ""
        last = (f"{prefix}{MARK}",) if self._select.requested else ()  # a request's row is the last to arrive
        if len(spec.order) > 1:
            return (*last, self._select.render(spec.order[1].span))
        return (*last, f"{prefix}{self._select.arrival}" if self._select.arrival else ARRIVAL)

    def key_guards(self) -> list[str]:
        """Conditions on the keys: OpenMLDB gives no row for a row without a key."""
        streams = [] if self._select.rules.keyless else self.streams
        return list(dict.fromkeys(_has_key(stream) for stream in streams if stream.key))


def _is_time(spec: WindowSpec, key_type: str | None) -> bool:
    """True if the key of a window of SQLstream's is a time: its bounds are intervals, or it is ROWTIME."""
    measured = spec.frame.kind is Kind.ROWS_RANGE and (spec.frame.start or spec.frame.end)
    if measured or key_type or not spec.order:
        return not spec.frame.unitless
    return spec.order[0].expression.name.upper() == "ROWTIME"


def _keeps_order(call: Call) -> bool:
    """True if a call's result may depend on the order of rows with equal keys."""
    return call.name not in AGGREGATES or AGGREGATES[call.name].ordered or any(map(_keeps_order, call.inner))


def _every(calls: list[Call]) -> Iterator[Call]:
    for call in calls:
        yield call
        yield from _every(call.inner)


def _has_key(stream: Stream) -> str:
    """Condition that a row has a key. One of an unknown type is a whole number below, and NULL without ANSI."""
    if stream.key_type:
        return f"{stream.key} IS NOT NULL"
    types = ", ".join(f"'{t}'" for t in KEY_TYPES)
    refused = "raise_error('a window is ordered by a number or a timestamp')"
    return f"IF(typeof({stream.key}) IN ({types}), {stream.key} IS NOT NULL, {refused})"


def _check_order_type(select: FramedSelect, spec: WindowSpec, type_: str | None) -> None:
    """Refuses to order by a type other than numbers and times, where the type is known."""
    if type_ is None and spec.order[0].expression.name.upper() == "ROWTIME" and select.rules.by_rowtime:
        type_ = "timestamp"
    if spec.frame.unitless and type_ in TIMES:
        raise select.source.error(
            spec.order[0].span,
            f"RANGE takes an interval for a {type_}",
            "write RANGE INTERVAL '1' HOUR PRECEDING, or order by a whole number",
        )
    if type_ is None or type_ in KEY_TYPES:
        return
    if select.rules.free_keys and spec.frame.kind is Kind.ROWS and not spec.frame.exclude_time:
        return
    raise select.source.error(
        spec.order[0].span,
        f"a window is ordered by a smallint, int, bigint or timestamp, and this is a {type_}",
        "convert it in a subquery: FROM (SELECT *, timestamp(d) AS ts FROM t)",
    )


def _check_union(select: FramedSelect, relation: Relation, union: exp.Expr) -> list[str]:
    """Refuses a UNION table that has other columns than FROM.

    Returns:
        Conditions that are always true, and that Spark refuses for other columns; where they aren't known here.
    """
    place = union.meta[SPAN]
    wanted = sum(map(select.resolver.columns, sources(select.select)), Columns())
    given = select.resolver.columns(union)
    if select.requested:  # the mark comes last, behind the columns of all tables
        wanted = Columns(tuple(sorted(wanted.items, key=lambda c: c.name == MARK)), wanted.complete)
    if wanted.complete and given.complete:
        known = _compare(select, union, list(wanted.items), list(given.items))
        if known:
            return []
    rows = "\n".join(relation.lines)
    return [
        "NOT EXISTS (SELECT array(struct(a.*), struct(b.*)), "
        "aggregate(array(struct(b.*)), struct(a.*), (a_row, b_row) -> b_row) "
        f"FROM (SELECT {', '.join(relation.items)} FROM {rows}) AS a, "
        f"(SELECT * FROM {select.render(place)}) AS b WHERE FALSE)"
    ]


def _compare(select: FramedSelect, union: exp.Expr, wanted: list[Column], given: list[Column]) -> bool:
    """Checks that a UNION table has the columns of FROM; returns True if all their types are known."""
    place = union.meta[SPAN]
    listed = ", ".join(f"{c.name} {c.type or ''}".strip() for c in wanted)
    hint = f"select the columns of FROM, in this order: {listed}"
    if len(wanted) != len(given):
        raise select.source.error(
            place, f"UNION needs the columns of FROM, which has {len(wanted)}, and this has {len(given)}", hint
        )
    for want, got in zip(wanted, given, strict=True):
        if want.name.casefold() != got.name.casefold():
            raise select.source.error(
                place, f"UNION needs the columns of FROM: {want.name} is called {got.name} here", hint
            )
        if want.type and got.type and want.type != got.type:
            raise select.source.error(
                place, f"UNION needs the columns of FROM: {want.name} is {want.type} there and {got.type} here", hint
            )
    return all(c.type for c in (*wanted, *given))
