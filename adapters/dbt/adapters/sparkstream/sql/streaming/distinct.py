"""Aggregates of DISTINCT values on a stream, which Spark's streams don't have: two aggregations, one behind the other.

The first one groups by the values too, so each value is in its state once. When a window closes, the second one gets
its groups and aggregates their values. Where there are other aggregates too, or several lists of DISTINCT values, each
row becomes several, told apart by a number: 0 for the aggregates of all rows, and one for each list.

    SELECT window_end, sum(v) AS s, count(DISTINCT k) AS n FROM ... GROUP BY window_end

    SELECT __key_1 AS window_end, first(__all_1) FILTER (WHERE __copy = 0) AS s,
      count(__value_1) FILTER (WHERE __copy = 1) AS n
    FROM (
      SELECT window_end AS __key_1, __copy, CASE WHEN __copy = 1 THEN k END AS __value_1,
        sum(v) FILTER (WHERE __copy = 0) AS __all_1
      FROM ... LATERAL VIEW explode(array(0, 1)) __copies AS __copy
      GROUP BY window_end, __copy, CASE WHEN __copy = 1 THEN k END
    )
    GROUP BY __key_1

Values that several aggregates filter in different ways are one list: `bool_or(condition)` is with each value.
DISTINCT and GROUP BY take the same values for equal, so this is exact for all types and all aggregates.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp
from sqlglot.tokens import TokenType

from dbt.adapters.sparkstream.sql.core.errors import NoRule
from dbt.adapters.sparkstream.sql.core.names.columns import Resolver
from dbt.adapters.sparkstream.sql.core.nodes import SETS, aggregate_name, has_more, own
from dbt.adapters.sparkstream.sql.core.source import Edit, Source, Span
from dbt.adapters.sparkstream.sql.passes.flink.grouping import key_parts
from dbt.adapters.sparkstream.sql.passes.forms import normal_form
from dbt.adapters.sparkstream.sql.passes.framing.block import Block
from dbt.adapters.sparkstream.sql.passes.optimize.grouping import alternatives
from dbt.adapters.sparkstream.sql.statement import Statement
from dbt.adapters.sparkstream.sql.streaming.names import Streams

_GROUPINGS = ("grouping", "grouping_id")
_GROUPING_ID = "grouping_id()"
_CHANGING = {
    *("rand", "randn", "random", "randstr", "uniform", "uuid", "shuffle", "monotonically_increasing_id"),
    *("current_timestamp", "now", "localtimestamp", "current_date", "curdate", "current_time", "unix_timestamp"),
}
"""Functions with another value in each row or micro-batch."""
_NO_COPY = -1
"""The number of a row that FILTER leaves out of a list of DISTINCT values: its group is there, and has no value."""


def has_distinct(select: exp.Select) -> bool:
    """True if a query itself has an aggregate of DISTINCT values, and groups."""
    return bool(select.args.get("group")) and any(node.arg_key != "distinct" for node in own(select, exp.Distinct))


def check_distinct(select: exp.Select, source: Source, resolver: Resolver) -> None:
    """Refuses what a query with aggregates of DISTINCT values can't have on a stream.

    Raises:
        TranslationError: what it is, and what to write instead.
    """
    group = select.args["group"]
    if has_more(group, "expressions"):
        raise source.error(
            Block(source, select).clauses["group"],
            "GROUP BY ALL and WITH ROLLUP don't stream beside DISTINCT values",
            "name the keys: GROUP BY window_start, window_end, ROLLUP (k)",
        )
    if any(join.kind == "ANTI" for join in select.args.get("joins") or []):
        raise source.error(select, "DISTINCT values of an ANTI JOIN don't stream", "put the join into a subquery")
    for item, span in zip(select.expressions, Block(source, select).projections, strict=True):
        if not isinstance(item, (exp.Alias, exp.Column)) or item.is_star:
            raise source.error(
                span, f"{source.text[slice(*span)]} has no name, which it needs beside DISTINCT values", "write AS n"
            )
    for key in _keys(group):
        named = _item_of(key, select)
        if named is not None and isinstance(key, exp.Column) and resolver.find(key, select) is not None:
            raise source.error(
                key,
                f"{key.name} is a column and the name of something else in the SELECT list",
                "give that another name",
            )
    try:
        sets = [tuple(sorted({normal_form(key) for key in keys})) for keys in alternatives(group)]
    except NoRule as reason:
        raise source.error(group, str(reason), "group by fewer keys") from None
    if len(set(sets)) < len(sets):
        raise source.error(group, "the same grouping set stands here twice, beside DISTINCT values", "leave one out")


def without_distinct(sql: str, streams: Streams) -> tuple[str, bool]:
    """A query of Spark's, with two aggregations in the place of each one that has DISTINCT values of a stream.

    Args:
        streams: the streams and stages.

    Returns:
        The query, and whether several FILTERs share a list of values in it.
    """
    if "distinct" not in sql.casefold():
        return sql, False
    statement = Statement.parse(sql, "spark", whole=True)
    writers = [
        _Writer(statement.source, select)
        for tree in statement.trees
        for select in tree.find_all(exp.Select)
        if has_distinct(select) and streams.feeds_query(select)
    ]
    statement.source.apply(Edit(writer.span, writer.written) for writer in writers)
    return statement.source.render(), any(writer.shares for writer in writers)


def _keys(group: exp.Group) -> list[exp.Expr]:
    """The keys of GROUP BY, also the keys in its grouping sets."""
    return [part for key in group.expressions for part in key_parts(key)]


def _item_of(key: exp.Expr, select: exp.Select) -> exp.Expr | None:
    """The item of the SELECT list that a key means by its number or its alias; None where it is an expression."""
    if isinstance(key, exp.Literal) and key.is_int and 0 < int(key.name) <= len(select.expressions):
        return select.expressions[int(key.name) - 1].unalias()
    if isinstance(key, exp.Column) and not key.table:
        for item in select.expressions:
            named = isinstance(item, exp.Alias) and item.alias.casefold() == key.name.casefold()
            # Spark takes a column first, and there is one of this name if the item is computed from it.
            if named and not any(c.name.casefold() == key.name.casefold() for c in item.this.find_all(exp.Column)):
                return item.this
    return None


def _aggregate(node: exp.Expr) -> exp.Expr | None:
    """Aggregate call in a node, also within FILTER; None without one."""
    call = node
    while isinstance(call, (exp.Filter, exp.WithinGroup, exp.IgnoreNulls, exp.RespectNulls)):
        call = call.this
    return call if aggregate_name(call) else None


class _Writer:
    """Rewrites one query with DISTINCT values."""

    def __init__(self, source: Source, select: exp.Select) -> None:
        self._source = source
        self._select = select
        self._block = Block(source, select)
        group = select.args["group"]
        self._means = {id(key): _item_of(key, select) for key in _keys(group)}
        self._has_sets = any(isinstance(key, SETS) for key in group.expressions)
        self._keys: dict[str, str] = {}
        self._named_keys: dict[str, exp.Expr] = {}
        for key in _keys(group):
            name = self._keys.setdefault(normal_form(self._means[id(key)] or key), f"__key_{len(self._keys) + 1}")
            self._named_keys.setdefault(name, key)
        self._plain: dict[str, str] = {}
        self._lists: dict[tuple[tuple[str, ...], str | None], list[str | None]] = {}
        self._flags: dict[str, str] = {}
        self._groupings: dict[str, str] = {}
        self._all_rows = False

    @property
    def span(self) -> Span:
        return self._block.span

    @property
    def shares(self) -> bool:
        """True if several FILTERs share a list of values; known once the query is written."""
        return bool(self._flags)

    def written(self) -> str:
        """The query, when the edits within it are made."""
        self._read_aggregates()
        block, clauses = self._block, self._block.clauses
        items = [self._item(item, span) for item, span in zip(self._select.expressions, block.projections, strict=True)]
        having = ""
        if "having" in clauses:
            pieces = self._pieces(self._select.args["having"].this)
            having = f"\nHAVING {block.text(block.body('having'), pieces)}"
        values, names, numbers = [], [], ["0"] if self._all_rows else []
        for number, ((expressions, _), filters) in enumerate(self._lists.items(), 1):
            for i, expression in enumerate(expressions, 1):
                values.append(f"CASE WHEN __copy = {number} THEN {expression} END" if self._copies else expression)
                names.append(_value(number, i))
            some = " OR ".join(f"({condition})" if len(filters) > 1 else str(condition) for condition in filters)
            numbers.append(str(number) if None in filters else f"IF(coalesce({some}, FALSE), {number}, {_NO_COPY})")
        added = [*(["__copy"] if self._copies else []), *values]
        group = self._select.args["group"]
        inner = [f"{self._key_text(key)} AS {name}" for name, key in self._named_keys.items()]
        inner += ["grouping_id() AS __set"] if self._has_sets else []
        # The values behind the keys are bits of grouping_id() too.
        ids = {_GROUPING_ID: f"shiftright({_GROUPING_ID}, {len(added)})"}
        inner += [f"{ids.get(text, text)} AS {name}" for text, name in self._groupings.items()]
        inner += ["__copy"] if self._copies else []
        inner += [f"{value} AS {name}" for value, name in zip(values, names, strict=True)]
        inner += [f"bool_or({condition}) AS {name}" for condition, name in self._flags.items()]
        inner += [f"{text} AS {name}" for text, name in self._plain.items()]
        lines = ["SELECT " + ", ".join(inner), block.text(clauses["from"])]
        if self._copies:
            lines.append(f"LATERAL VIEW explode(array({', '.join(numbers)})) __copies AS __copy")
        if "where" in clauses:
            lines.append(block.text(clauses["where"]))
        meant = [
            (self._source.span(key), self._key_text(key)) for key in _keys(group) if self._means[id(key)] is not None
        ]
        lines.append(", ".join([block.text(clauses["group"], meant), *added]))
        by = [*self._keys.values(), *(["__set"] if self._has_sets else []), *self._groupings.values()]
        rows = "\n".join(f"  {line}" for line in lines)
        return f"SELECT {', '.join(items)}\nFROM (\n{rows}\n)\nGROUP BY {', '.join(by)}{having}"

    def _read_aggregates(self) -> None:
        """Finds the lists: DISTINCT values -> conditions of FILTERs, None for all rows; and condition -> its flag.

        Spark takes no clock and no random number within `bool_or`: a FILTER with one has a list of its own.
        """
        outside = [item.unalias() for item in self._select.expressions]
        if self._select.args.get("having"):
            outside.append(self._select.args["having"].this)
        for call in (call for node in outside for call in self._calls(node)):
            if call.find(exp.Distinct) is None:
                self._all_rows = True
                continue
            listed, condition = self._list(call)
            filters = self._lists.setdefault(listed, [])
            if condition not in filters:
                filters.append(condition)
        shared = (condition for filters in self._lists.values() if len(filters) > 1 for condition in filters)
        self._flags = {c: f"__is_{n}" for n, c in enumerate(dict.fromkeys(filter(None, shared)), 1)}

    @property
    def _copies(self) -> bool:
        """True if each row becomes several."""
        # With grouping sets too: a value that is a key as well would be one in all of them.
        filtered = any(None not in filters for filters in self._lists.values())
        return self._all_rows or len(self._lists) > 1 or filtered or self._has_sets

    # -- keys --------------------------------------------------------------------------------------
    def _key_text(self, key: exp.Expr) -> str:
        return self._source.rendered(self._means[id(key)] or key)

    def _key_of(self, node: exp.Expr) -> str | None:
        """The name that the first aggregation gives an expression, if that is a key."""
        found = self._keys.get(normal_form(node))
        if found is None and isinstance(node, exp.Column):
            # `k` and `b.k` are the same where only one of them has a table's name.
            same = {
                name
                for form, name in self._keys.items()
                if form.rsplit(".", 1)[-1] == normal_form(node).rsplit(".", 1)[-1] and ("." in form) != bool(node.table)
            }
            found = next(iter(same)) if len(same) == 1 else None
        return found

    # -- what is outside of aggregates ---------------------------------------------------------------
    def _item(self, item: exp.Expr, span: Span) -> str:
        if isinstance(item, exp.Column):
            return f"{self._key_of(item) or self._source.rendered(item)} AS {self._source.written(item.this)}"
        return self._block.text(span, self._pieces(item.unalias()))

    def _pieces(self, node: exp.Expr) -> list[tuple[Span, str]]:
        """Other text for keys and aggregates in an expression."""
        if isinstance(node, exp.Query):
            return []
        key = self._key_of(node)
        if key is not None:
            return [(self._source.span(node), key)]
        if _aggregate(node) is not None:
            return [(self._source.span(node), self._second(node))]
        if isinstance(node, exp.Anonymous) and str(node.this).lower() in _GROUPINGS:
            text = _GROUPING_ID if node.name.lower() == "grouping_id" else self._source.rendered(node)
            return [
                (self._source.span(node), self._groupings.setdefault(text, f"__grouping_{len(self._groupings) + 1}"))
            ]
        return [piece for child in node.iter_expressions() for piece in self._pieces(child)]

    def _calls(self, node: exp.Expr) -> Iterator[exp.Expr]:
        """The aggregates in an expression, each with its FILTER."""
        if isinstance(node, exp.Query) or self._key_of(node) is not None:
            return
        if _aggregate(node) is not None:
            yield node
            return
        for child in node.iter_expressions():
            yield from self._calls(child)

    # -- aggregates --------------------------------------------------------------------------------
    def _list(self, call: exp.Expr) -> tuple[tuple[tuple[str, ...], str | None], str | None]:
        """The list of an aggregate, which is its DISTINCT values and a FILTER that isn't shared; and its FILTER."""
        distinct = next(call.find_all(exp.Distinct))
        values = tuple(self._source.rendered(e) for e in distinct.expressions if not isinstance(e, exp.Literal))
        filter_ = call.find(exp.Filter)
        if filter_ is None:
            return (values, None), None
        condition = self._source.rendered(filter_.expression.this)
        tokens = self._source.tokens_in(self._source.span(filter_.expression.this))
        changes = any(token.text.casefold() in _CHANGING for token in tokens)
        return (values, condition if changes else None), condition

    def _distinct_span(self, node: exp.Expr, distinct: exp.Distinct) -> Span:
        """Span of DISTINCT and its values."""
        start, end = self._source.span(distinct)
        tokens = self._source.tokens_in((self._source.span(node)[0], end))
        word = next(token for token in tokens if token.token_type == TokenType.DISTINCT)
        return min(word.start, start), end

    def _second(self, node: exp.Expr) -> str:
        """An aggregate over the groups of the first aggregation."""
        distinct = node.find(exp.Distinct)
        if distinct is None:
            text = self._source.rendered(node)
            if self._copies:
                filter_ = node.find(exp.Filter)
                if filter_ is None:
                    text += " FILTER (WHERE __copy = 0)"
                else:
                    place = self._source.span(filter_.expression.this)
                    within = f"__copy = 0 AND ({self._source.render(place)})"
                    text = self._block.text(self._source.span(node), [(place, within)])
            name = self._plain.setdefault(text, f"__all_{len(self._plain) + 1}")
            return f"first({name}) FILTER (WHERE __copy = 0)"
        listed, condition = self._list(node)
        number, filters = list(self._lists).index(listed) + 1, self._lists[listed]
        names = {value: _value(number, i) for i, value in enumerate(listed[0], 1)}
        given = [names.get(text, text) for text in map(self._source.rendered, distinct.expressions)]
        pieces = [(self._distinct_span(node, distinct), ", ".join(given))]
        for ordered in node.find_all(exp.Ordered):  # WITHIN GROUP has to order by the value itself
            text = self._source.rendered(ordered.this)
            pieces += [(self._source.span(ordered.this), names[text])] if text in names else []
        filter_ = node.find(exp.Filter)
        flag = [self._flags[condition]] if condition is not None and len(filters) > 1 else []
        chosen = " AND ".join([*([f"__copy = {number}"] if self._copies else []), *flag])
        if filter_ is not None:
            pieces.append((self._source.span(filter_.expression.this), chosen))
        text = self._block.text(self._source.span(node), pieces)
        return text if filter_ is not None or not chosen else f"{text} FILTER (WHERE {chosen})"


def _value(number: int, i: int) -> str:
    return f"__value_{number}_{i}"
