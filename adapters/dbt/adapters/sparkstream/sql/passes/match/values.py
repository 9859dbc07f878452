"""Expressions of MEASURES and DEFINE as Spark SQL over a match and the array of its partition's events."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core import types
from dbt.adapters.sparkstream.sql.core.errors import RefusedError
from dbt.adapters.sparkstream.sql.core.matching import NAVIGATION, ROWTIME, MatchRecognize
from dbt.adapters.sparkstream.sql.core.names.columns import Resolver
from dbt.adapters.sparkstream.sql.core.source import Edit, Source
from dbt.adapters.sparkstream.sql.passes.editor import Editor
from dbt.adapters.sparkstream.sql.passes.flink.aggregates import average_type, sum_type
from dbt.adapters.sparkstream.sql.passes.flink.clocks import word
from dbt.adapters.sparkstream.sql.passes.flink.rewriter import UntypedError, cast
from dbt.adapters.sparkstream.sql.passes.match.names import EVENT, WAYS_MATCH, MatchNames


def _values(events: str, value: str) -> str:
    return f"filter(transform({events}, {EVENT} -> {value}), x -> x IS NOT NULL)"


def _total(events: str, value: str, type_: str) -> str:
    """The sum of the values that aren't NULL; NULL without any."""
    more = cast(f"s + {value}", type_)
    return (
        f"aggregate({events}, CAST(NULL AS {type_.upper()}), (s, {EVENT}) -> coalesce({more}, s, {cast(value, type_)}))"
    )


def _number(type_: str | None) -> str:
    if type_ is None:
        raise UntypedError
    if not types.is_numeric(type_):
        raise RefusedError(f"this takes numbers, and not a {type_}")
    return type_


def _avg(events: str, value: str, type_: str | None) -> str:
    known = _number(type_)
    count = f"size({_values(events, value)})"
    if known in types.INTEGERS:
        return cast(f"{_total(events, value, 'bigint')} DIV {count}", known)
    if types.is_decimal(known):
        total = _total(events, value, sum_type(known))
        return cast(f"{total} / {cast(count, 'decimal(20,0)')}", average_type(known))
    return cast(f"{_total(events, value, 'double')} / {count}", known)


def _count(events: str, value: str, type_: str | None) -> str:
    counted = f"size({events})" if value == "*" else f"size({_values(events, value)})"
    return f"CAST(greatest({counted}, 0) AS BIGINT)"


def _extreme(function: str) -> Aggregate:
    return lambda events, value, type_: f"{function}(transform({events}, {EVENT} -> {value}))"


def _listagg(events: str, value: str, type_: str | None, separator: str = "','") -> str:
    values = _values(events, value)
    return f"CASE WHEN size({values}) > 0 THEN array_join({values}, {separator}) END"


Aggregate = Callable[..., str]
"""Function from a variable's array of events, the argument as an expression of EVENT, its type, and LISTAGG's
separator to Spark SQL."""

AGGREGATES: dict[str, Aggregate] = {
    "SUM": lambda events, value, type_: _total(events, value, sum_type(_number(type_))),
    "AVG": _avg,
    "COUNT": _count,
    "MIN": _extreme("array_min"),
    "MAX": _extreme("array_max"),
    "LISTAGG": _listagg,
}


def is_column(node: exp.Expr) -> bool:
    """True if a node is a column of an event, and no word such as LOCALTIME."""
    return isinstance(node, exp.Column) and word(node) is None


def call_around(column: exp.Expr, top: exp.Expr) -> exp.Anonymous | None:
    """The FIRST, LAST or aggregate whose argument a column is in, within an expression."""
    node = column
    while node is not top and node.parent is not None:
        node = node.parent
        if isinstance(node, exp.Anonymous) and node.name.upper() in (*NAVIGATION, *AGGREGATES):
            return node
    return None


def _place(call: exp.Anonymous | None) -> tuple[bool, int]:
    """`first` and `offset` of `MatchNames.event` for a call: without FIRST or LAST, those of the last event."""
    if call is None:
        return False, 0
    return call.name.upper() == "FIRST", int(call.expressions[1].name) if len(call.expressions) > 1 else 0


class Values(Editor):
    """Edits the expressions of a MATCH_RECOGNIZE."""

    def __init__(self, source: Source, resolver: Resolver, match: MatchRecognize, names: MatchNames) -> None:
        super().__init__(source, resolver)
        self._match = match
        self._names = names

    def edits(self, top: exp.Expr) -> Iterator[Edit]:
        """The edits of a measure or a condition."""
        for node in top.walk():
            if isinstance(node, exp.Column) and is_column(node):
                yield self.edit(node, lambda node=node: self._column(node, top))  # type: ignore[misc]
            elif isinstance(node, exp.Anonymous):
                name = node.name.upper()
                span = self.source.call_span(node)
                if name == ROWTIME:
                    time = self.source.written(self._match.order[0].this.this)
                    yield Edit(span, lambda time=time: f"{self._names.event('')}.{time}")  # type: ignore[misc]
                elif name in NAVIGATION:
                    yield Edit(span, lambda node=node: self._navigation(node))  # type: ignore[misc]
                elif name in AGGREGATES:
                    yield Edit(span, lambda node=node: self._aggregate(node))  # type: ignore[misc]

    def depends_on(self, top: exp.Expr) -> set[str]:
        """Numbers in the match of a way that a condition depends on, as Spark SQL."""
        found: set[str] = set()
        for node in top.walk():
            if isinstance(node, exp.Column) and is_column(node):
                call = call_around(node, top)
                if call is not None and call.name.upper() in AGGREGATES:
                    found.update(self._names.ends(node.table, WAYS_MATCH))
                else:
                    found |= self._names.depends_on(node.table, *_place(call))
        return found

    def _column(self, column: exp.Column, top: exp.Expr) -> str:
        name = self.source.written(column.this)
        call = call_around(column, top)
        if call is None:
            return f"{self._names.event(column.table)}.{name}"
        if call.name.upper() in AGGREGATES:
            return f"{EVENT}.{name}"
        return f"{self._names.event(column.table, *_place(call))}.{name}"

    def _navigation(self, call: exp.Anonymous) -> str:
        value = call.expressions[0]
        text = self.text(value)
        return text if isinstance(value, (exp.Column, exp.Anonymous)) else f"({text})"

    def _aggregate(self, call: exp.Anonymous) -> str:
        value = call.expressions[0]
        variable = next((column.table for column in value.find_all(exp.Column) if is_column(column)), "")
        text = "*" if isinstance(value, exp.Star) else self.text(value)
        try:
            more = map(self.source.rendered, call.expressions[1:])
            return AGGREGATES[call.name.upper()](self._names.all(variable), text, self.type(value), *more)
        except UntypedError:
            raise self.source.error(
                self.source.call_span(call),
                f"nobody knows the type of {self.source.written(value)} here, and {call.name} depends on it",
                f"write {call.name}(CAST({self.source.written(value)} AS DOUBLE)), or give its type in the schema",
            ) from None
        except RefusedError as error:
            raise self.source.error(self.source.call_span(call), str(error), error.hint) from None
