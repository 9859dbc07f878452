"""Arrays, maps and rows of Flink SQL: constructors, functions, x[i] and VALUES."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp
from sqlglot.tokens import TokenType

from dbt.adapters.sparkstream.sql.core.errors import RefusedError
from dbt.adapters.sparkstream.sql.core.literals import quoted
from dbt.adapters.sparkstream.sql.core.nested import Field, fields, is_array
from dbt.adapters.sparkstream.sql.core.nodes import is_row
from dbt.adapters.sparkstream.sql.core.source import Edit
from dbt.adapters.sparkstream.sql.passes.flink import json
from dbt.adapters.sparkstream.sql.passes.flink.rewriter import FlinkCall, Rewriter, constant, handles, row_fields
from dbt.adapters.sparkstream.sql.passes.flink.typenames import family


def cardinality(call: FlinkCall) -> str:
    """CARDINALITY of an array or a map, which is NULL of NULL: Spark's SIZE is -1 unless ANSI mode is on."""
    if is_array(call.types[0]):
        return call.to("ARRAY_SIZE")
    return f"CASE WHEN {call.args[0]} IS NOT NULL THEN SIZE({call.args[0]}) END"


ONLY_ELEMENT = (
    "TRY_ELEMENT_AT(CASE WHEN SIZE({0}) > 1 THEN RAISE_ERROR('ELEMENT takes an array of one element, and this one has "
    "more') ELSE {0} END, 1)"
)
"""ELEMENT, which fails for an array of several elements, and is NULL for an empty array."""


# -- arrays --------------------------------------------------------------------------------------------
def slice_(call: FlinkCall) -> str:
    """ARRAY_SLICE with its first and last position; negative ones count from the end, and 0 is 1."""
    array, *places = call.args
    first, last = (_place(array, at) for at in (*places, "-1")[:2])
    known = " AND ".join(f"{at} IS NOT NULL" for at in places if not at.lstrip("-").isdigit())
    slice = f"FILTER({array}, (__e, __i) -> __i + 1 BETWEEN {first} AND {last})"
    return f"CASE WHEN {known} THEN {slice} END" if known else slice


def _place(array: str, at: str) -> str:
    """Position counted from 1, as Spark SQL; negative ones count from the end, and 0 is 1."""
    if at.isdigit():
        return str(max(int(at), 1))
    if at.lstrip("-").isdigit():
        return f"SIZE({array}) + 1 - {at.lstrip('-')}"
    return f"CASE WHEN {at} < 0 THEN SIZE({array}) + 1 + {at} ELSE GREATEST({at}, 1) END"


def sort(call: FlinkCall) -> str:
    """ARRAY_SORT(a, ascending, nulls_first): ascending by default; NULLs by default first if ascending, else last."""
    array, *how = call.args
    words = [word.upper() for word in how]
    if any(word not in ("TRUE", "FALSE") for word in words):
        raise RefusedError(f"the order of {call.name} is TRUE or FALSE", "write such as ARRAY_SORT(a, FALSE)")
    ascending = (words or ["TRUE"])[0]
    if len(words) < 2 or words[1] == ascending:
        return f"SORT_ARRAY({array}, {ascending})"
    values, nulls = (f"FILTER({array}, __e -> __e IS {what})" for what in ("NOT NULL", "NULL"))
    parts = (nulls, f"SORT_ARRAY({values}, {ascending})")
    return f"CONCAT({', '.join(parts if words[1] == 'TRUE' else reversed(parts))})"


# -- maps ----------------------------------------------------------------------------------------------
def map_union(call: FlinkCall) -> str:
    """MAP_UNION: of a key that two maps have, the later map's value stays."""
    first, *others = call.args
    for other in others:
        first = f"MAP_CONCAT(MAP_FILTER({first}, (__k, __v) -> NOT MAP_CONTAINS_KEY({other}, __k)), {other})"
    return first


def field_at(type_: str | None, place: exp.Expr) -> Field | None:
    """Field of a row that `r[1]` or `r['x']` reads; None if the place isn't constant, or isn't a field."""
    if not isinstance(place, exp.Literal):
        return None
    if place.is_string:
        return next((found for found in fields(type_) or () if found[0] == place.name), None)
    row, at = fields(type_) or (), int(place.name) if place.name.isdecimal() else 0
    return row[at - 1] if 1 <= at <= len(row) else None


def is_map_constructor(node: exp.Expr | None) -> bool:
    """True if a node is `MAP[key, value, ...]`, which sqlglot parses as a subscript."""
    return isinstance(node, exp.Bracket) and isinstance(node.this, exp.Var)


def _last_entries(parts: list[exp.Expr]) -> list[exp.Expr]:
    """Keys and values of MAP[...]; of entries with equal constant keys the last alone, as Spark takes a key once."""
    pairs = list(zip(parts[::2], parts[1::2], strict=False))
    if len(parts) % 2 or not all(isinstance(key, exp.Literal) for key, _ in pairs):
        return parts
    return [part for pair in {key: (key, value) for key, value in pairs}.values() for part in pair]


class Constructs(Rewriter):
    """Edits `ARRAY[...]`, `MAP[...]`, `x[i]`, `(a, b)` and VALUES."""

    def _list(self, nodes: Sequence[exp.Expr]) -> str:
        return ", ".join(map(self.text, nodes))

    @handles(exp.Array)
    def _array(self, node: exp.Array) -> Iterator[Edit]:
        yield from self.alike(node.expressions)
        if self.source.tokens_in(self.source.span(node))[1].text == "[":
            yield self.edit(node, lambda: f"ARRAY({self._list(node.expressions)})")

    @handles(exp.Bracket)
    def _bracket(self, node: exp.Bracket) -> Iterator[Edit]:
        if is_map_constructor(node):
            yield from self.alike(node.expressions[::2])
            yield from self.alike(node.expressions[1::2])
            yield self.edit(node, lambda: f"MAP({self._list(_last_entries(node.expressions))})")
            return
        key, type_ = node.expressions[0], self.type(node.this)
        if is_array(type_) and (place := constant(key)) is not None and place < 1:
            # It is NULL: Flink's first element is a[1], and Spark's users write a[0].
            self.refuse(key, "the elements of an array count from 1", "write a[1]")
        if type_ == json.VARIANT:
            by_name = family(self.type(key)) == "text"
            yield self.edit(node, lambda: json.element(self.text(node.this), self.text(key), by_name=by_name))
        elif fields(type_) is not None:
            found = field_at(type_, key)
            if found is not None:
                yield self.edit(node, lambda: f"{self._row(node.this)}.{quoted(found[0])}")
        elif is_array(type_) and not isinstance(key, exp.Literal):
            # TRY_ELEMENT_AT fails for 0, and counts from the end below.
            yield self.edit(node, lambda: f"GET({self.text(node.this)}, {self._list(node.expressions)} - 1)")
        elif type_ is None and isinstance(key, exp.Literal) and key.is_string:
            # A row or a map: Spark knows the type.
            yield self.edit(node, lambda: f"{self._row(node.this)}[{self._list(node.expressions)}]")
        elif type_ is None and not isinstance(key, exp.Literal):
            yield self.edit(node, lambda: self._of_unknown(node))
        else:
            # Arrays count from 1, and what isn't there is NULL.
            yield self.edit(node, lambda: f"TRY_ELEMENT_AT({self.text(node.this)}, {self._list(node.expressions)})")

    def _of_unknown(self, node: exp.Expr) -> str:
        """Element of an array, NULL at 0 and below, or value of a map, where only Spark knows the type."""
        whole, key = self.text(node.this), self._list(node.expressions)
        return f"CASE WHEN typeof({whole}) LIKE 'map%' OR {key} > 0 THEN TRY_ELEMENT_AT({whole}, {key}) END"

    def _row(self, node: exp.Expr) -> str:
        """A row before `.field`: in parentheses, where the expression needs them."""
        text = self.text(node)
        return text if isinstance(node, (exp.Column, exp.Dot, exp.Bracket, exp.Anonymous, exp.Paren)) else f"({text})"

    @handles(exp.Tuple)
    def _tuple(self, node: exp.Tuple) -> Iterator[Edit]:
        """`(a, b)` as a value is ROW(a, b), with fields EXPR$0 and EXPR$1; as a key of GROUP BY it is two keys."""
        values, around = node.expressions, node.parent
        if not values:
            return
        if isinstance(around, exp.Group):
            yield self.edit(node, lambda: self._list(values))
        elif isinstance(around, (exp.Select, exp.Alias, exp.Array, exp.Anonymous, exp.If)):
            yield self.edit(node, lambda: f"NAMED_STRUCT({', '.join(row_fields(map(self.text, values)))})")

    # -- VALUES ------------------------------------------------------------------------------------------
    @handles(exp.Values)
    def _values(self, node: exp.Values) -> Iterator[Edit]:
        rows = [row.expressions if isinstance(row, exp.Tuple) else [row] for row in node.expressions]
        if len({len(row) for row in rows}) == 1:
            for column in zip(*rows, strict=True):
                yield from self.alike(column)
        for row in node.expressions:
            inner = row.expressions[0] if isinstance(row, exp.Tuple) and len(row.expressions) == 1 else None
            if inner is not None and is_row(inner):  # a row of the table, and no value in one: VALUES ROW(1, 'a')
                yield Edit(self.source.call_span(inner), lambda r=inner: f"({self._list(r.expressions)})", level=1)  # type: ignore[misc]
        yield from self._column_names(node)

    def _column_names(self, node: exp.Values) -> Iterator[Edit]:
        """Names the columns EXPR$0, EXPR$1."""
        seen = (exp.From, exp.Join, exp.Lateral, exp.CTE, exp.Subquery, exp.SetOperation, exp.Create)
        if node.alias_column_names or (node.parent is not None and not isinstance(node.parent, seen)):
            return
        columns = ", ".join(quoted(column.name) for column in self.resolver.columns(node).items)
        alias = node.args.get("alias")
        if columns and alias and "start" in alias.this.meta:
            yield self.edit(alias.this, lambda: f"{quoted(node.alias)}({columns})")
        elif columns:  # sqlglot gives VALUES of a CTE a name
            span = self.source.span(node.expressions[0])[0], self._end(node.expressions[-1])
            yield Edit(span, lambda: f"{self.source.render(span)} AS __values({columns})", level=3)

    def _end(self, row: exp.Expr) -> int:
        """End of a row of VALUES, behind its parenthesis."""
        start, end = self.source.span(row)
        tokens = self.source.tokens
        at = tokens.at(start)
        opening = at if tokens[at].token_type == TokenType.L_PAREN else at - 1
        closing = tokens.closing(opening) if tokens[opening].token_type == TokenType.L_PAREN else None
        return end if closing is None else tokens[closing].end + 1
