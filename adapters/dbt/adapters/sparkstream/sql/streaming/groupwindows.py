"""Flink's group windows on a stream: `GROUP BY TUMBLE(ts, ...)` is the table function, grouped by its bounds.

A group window and the table function of the same name give each row the same windows. The streaming part of the
translator knows the functions, so a query is written with them first.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.names.columns import Resolver
from dbt.adapters.sparkstream.sql.core.source import Edit, Source, Span
from dbt.adapters.sparkstream.sql.core.tree import own
from dbt.adapters.sparkstream.sql.core.windows import AUXILIARY, WindowFunction
from dbt.adapters.sparkstream.sql.dialects.flinkwords import flink_name
from dbt.adapters.sparkstream.sql.passes.framing.block import Block
from dbt.adapters.sparkstream.sql.passes.windows.groups import GroupWindows, is_call
from dbt.adapters.sparkstream.sql.streaming.names import Streams, from_item, unaliased

_COLUMNS = {"START": "window_start", "END": "window_end", "ROWTIME": "window_time"}


def group_windows_as_functions(
    tree: exp.Expr, source: Source, streams: Streams, resolver: Resolver, strict: bool
) -> Iterator[Edit]:
    """Window functions in the place of the group windows of streams.

    Args:
        strict: whether it is Flink SQL: there, the names of group windows are nobody's own functions.

    Raises:
        TranslationError: what is wrong with a group window.
    """
    windows = GroupWindows(source, resolver, strict=strict)
    found = [
        (select, call)
        for select, call, _ in windows.windows(tree)
        if streams.feeds_query(select) and _relation(select) is not None and isinstance(call.expressions[0], exp.Column)
    ]
    if found:
        list(windows.edits(tree))  # which checks that the calls of a query go together
    for select, call in found:
        yield from _Query(source, select, call, strict).edits()


def _relation(select: exp.Select) -> exp.Expr | None:
    """What a query reads, where it is a table or a subquery and nothing else."""
    relation = from_item(select)
    if relation is None or select.args.get("joins") or select.args.get("laterals") or relation.args.get("joins"):
        return None
    plain = isinstance(relation, exp.Subquery) or (
        isinstance(relation, exp.Table) and isinstance(relation.this, exp.Identifier)
    )
    return relation if plain and not relation.find(WindowFunction) else None


class _Query:
    """The edits of one query.

    Args:
        call: its group window, in GROUP BY.
    """

    def __init__(self, source: Source, select: exp.Select, call: exp.Anonymous, strict: bool) -> None:
        self._source = source
        self._select = select
        self._call = call
        self._strict = strict

    def edits(self) -> Iterator[Edit]:
        kind = self._call.name.upper()
        relation = from_item(self._select)
        assert relation is not None
        place = unaliased(self._source, relation)
        table = isinstance(relation, exp.Table)
        keys = self._keys() if kind == "SESSION" else []
        per = f" PARTITION BY {', '.join(keys)}" if keys else ""
        time, *lengths = self._call.expressions
        rest = ", ".join([f"DESCRIPTOR({self._source.written(time.this)})", *map(self._source.written, lengths)])
        alias = f" AS {flink_name(relation.name)}" if table and not relation.alias else ""
        where = self._select.args.get("where") if kind == "SESSION" else None
        if where is not None:
            # Rows that WHERE leaves out are in no session, while SESSION reads the rows before its query does.
            whole, condition = self._source.span(relation), self._source.span(where.this)
            read = f"(SELECT * FROM {self._source.render(whole)} WHERE {self._source.render(condition)})"
            yield Edit(place, lambda: f"TABLE({kind}({read}{per}, {rest})){alias}")
            yield Edit(Block(self._source, self._select).clauses["where"], lambda: "")
        else:
            before = f"TABLE({kind}({'TABLE ' if table else ''}"
            yield Edit(place, lambda: f"{before}{self._source.render(place)}{per}, {rest})){alias}")
        bounds = {"window_start": None, "window_end": None}
        for other in own(self._select, exp.Anonymous):
            if is_call(other, AUXILIARY):
                column = _COLUMNS[AUXILIARY[other.name.upper()][1]]
                bounds[column] = None
                yield self._bound(other, column)
        yield Edit(self._source.call_span(self._call), lambda: ", ".join(bounds))

    def _bound(self, call: exp.Anonymous, text: str) -> Edit:
        """The column in the place of TUMBLE_START and its like, under the name that the call has."""
        if call in self._select.expressions:
            position = self._select.expressions.index(call)
            text += f" AS `EXPR${position}`" if self._strict else f" AS {call.name.lower()}"
        return Edit(self._source.call_span(call), lambda: text)

    def _keys(self) -> list[str]:
        """The other keys of GROUP BY, as PARTITION BY of a SESSION has them."""
        keys = [key for key in self._select.args["group"].expressions if key is not self._call]
        for key in keys:
            if not isinstance(key, exp.Column):
                place: Span = self._source.span(key)
                raise self._source.error(
                    place,
                    f"{self._source.text[slice(*place)]} is no column: on a stream, columns are the keys of a SESSION",
                    "compute it in a subquery, and group by its name",
                )
        return [self._source.written(key.this) for key in keys]
