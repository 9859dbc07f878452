"""GROUP BY with several sets of keys, GROUPING and GROUP_ID of Flink SQL."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations, product
from math import prod

from sqlglot import exp
from sqlglot.tokens import TokenType

from dbt.adapters.sparkstream.sql.core.nodes import SETS, enclosing, own
from dbt.adapters.sparkstream.sql.core.source import Edit
from dbt.adapters.sparkstream.sql.passes.flink.functions import is_aggregate_call
from dbt.adapters.sparkstream.sql.passes.flink.rewriter import Rewriter, handles
from dbt.adapters.sparkstream.sql.passes.forms import normal_form

_MOST_SETS = 4096
"""Grouping sets of a GROUP BY that are looked at one by one: CUBE doubles them with each key."""


class Groupings(Rewriter):
    """Writes sets of keys as Flink groups by them, and refuses GROUPING and GROUP_ID where Spark doesn't know them."""

    # -- GROUP BY ----------------------------------------------------------------------------------------
    @handles(exp.Group)
    def _group(self, node: exp.Group) -> Iterator[Edit]:
        inner = self.source.tokens_in(self.source.span(node))[1:]
        distinct = bool(inner) and inner[0].token_type == TokenType.DISTINCT
        several = several_sets(node)
        nothing = sum(isinstance(key, exp.Tuple) and not key.expressions for key in node.expressions)
        if several or len(node.expressions) > nothing > 0:
            yield from self._sets_of(node, distinct, nothing > 0)
        elif nothing:
            yield from self._one_group(node)
        elif distinct:
            yield Edit.to((inner[0].start, inner[1].start), "")

    def _one_group(self, node: exp.Group) -> Iterator[Edit]:
        """`GROUP BY ()` makes one group of all rows, as an aggregate without GROUP BY does."""
        select = node.parent
        calls = own(select, exp.Anonymous) if isinstance(select, exp.Select) else ()
        aggregates = any(map(is_aggregate_call, calls))
        filtered = select is not None and select.args.get("having") is not None
        if filtered and not aggregates:
            self.refuse(node, "Spark's GROUP BY has no ()", "leave GROUP BY () out, and write HAVING as WHERE")
        yield self.edit(node, lambda: "" if aggregates else "HAVING COUNT(*) >= 0")

    def _sets_of(self, node: exp.Group, distinct: bool, nothing: bool) -> Iterator[Edit]:
        """Writes out all grouping sets where Spark would use other sets than Flink, or can't read them.

        Flink groups by repeated sets in a second pass, and so on; in a pass with only one set, it groups by all keys
        (measured).
        """
        sets = _all_sets(node)
        if sets is None:
            self._check_many(node, distinct or nothing)
            return
        keys = {normal_form(part): part for item in _elements(node) for part in key_parts(item)}
        counts = Counter(sets)
        goes = [[each for each, n in counts.items() if n > go] for go in range(1, max(counts.values()))]
        alone = [] if distinct else [go for go in goes if len(go) == 1 and len(go[0]) < len(keys)]
        if not (distinct or nothing or alone or any(map(_comes_again, several_sets(node)))):
            return
        select = node.parent
        asked = select.find_all(exp.Anonymous) if alone and isinstance(select, exp.Select) else ()
        for call in asked:
            if call.name.upper() in ("GROUPING", "GROUPING_ID"):
                self.refuse(
                    call, "Flink groups by all keys where one set alone comes again", "write each set of keys once"
                )
        again = [each if go not in alone else frozenset(keys) for go in goes for each in go]
        written = [*counts] if distinct else [*counts, *again]

        def text() -> str:
            rows = (", ".join(self.text(key) for name, key in keys.items() if name in each) for each in written)
            every = [f"({row})" for row in rows]
            return f"GROUP BY {every[0][1:-1]}" if len(every) == 1 else f"GROUP BY GROUPING SETS ({', '.join(every)})"

        yield self.edit(node, text)

    def _check_many(self, node: exp.Group, rewritten: bool) -> None:
        """Refuses more sets than can be written out, unless all keys differ: Spark groups by those as Flink does."""
        keys = [normal_form(key) for item in _elements(node) for key in key_parts(item)]
        if rewritten or len({*keys}) < len(keys):
            self.refuse(
                node,
                f"this makes more than {_MOST_SETS} grouping sets, which must be written out one by one for Spark",
                "name each key once, without DISTINCT and (), or take fewer keys into CUBE",
            )

    # -- GROUPING and GROUP_ID ---------------------------------------------------------------------------
    def call(self, node: exp.Anonymous) -> Iterator[Edit]:
        """Edits GROUPING, GROUPING_ID or GROUP_ID by the keys of its query."""
        name = node.name.upper()
        select = enclosing(node, exp.Select)
        group = select.args.get("group") if select else None
        if select is None or group is None:
            return
        keys = {_last(key) for item in _elements(group) for key in key_parts(item)}
        if name == "GROUP_ID":
            self._check_sets(node, group)
        elif several_sets(group):
            yield from self._in_having(node, name, select)
        elif node.expressions and keys.issuperset(map(_last, node.expressions)):  # Spark knows it beside ROLLUP only
            yield Edit(self.source.call_span(node), lambda: "CAST(0 AS BIGINT)", level=1)

    def _check_sets(self, node: exp.Expr, group: exp.Group) -> None:
        sets = _all_sets(group)
        if sets is None or len({*sets}) < len(sets):
            self.refuse(
                node,
                "GROUP_ID() numbers equal grouping sets, which Spark doesn't tell from each other",
                "write each set once, or UNION ALL with a number of your own",
            )

    def _in_having(self, node: exp.Expr, name: str, select: exp.Select) -> Iterator[Edit]:
        """In HAVING, Spark knows GROUPING of keys that are selected as they are, and what the result has."""
        if not isinstance(enclosing(node, exp.Having, exp.Select), exp.Having):
            return
        for projection in select.expressions:
            if isinstance(projection, exp.Alias) and projection.this == node:
                alias = self.source.written(projection.args["alias"])
                yield Edit.to(self.source.span(node), alias, level=1)
                return
        selected = {p.name.casefold() for p in select.expressions if isinstance(p, exp.Column)}
        for key in node.expressions:
            if isinstance(key, exp.Column) and key.name.casefold() not in selected:
                self.refuse(
                    node,
                    f"in HAVING, Spark knows {name} only of keys that are selected",
                    f"select {key.name} as well, or select {name}(...) in a subquery and filter around it",
                )


def key_parts(key: exp.Expr) -> Iterator[exp.Expr]:
    """The expressions of an element of GROUP BY, through GROUPING SETS, ROLLUP, CUBE and parentheses."""
    if isinstance(key, (exp.Tuple, *SETS)):
        for inner in key.expressions:
            yield from key_parts(inner)
    elif isinstance(key, exp.Paren):
        yield from key_parts(key.this)
    else:
        yield key


def several_sets(group: exp.Group) -> list[exp.Expr]:
    """The elements of a GROUP BY that make several sets of keys."""
    found = [item for kind in ("grouping_sets", "cube", "rollup") for item in group.args.get(kind) or []]
    found += [item for item in group.expressions if isinstance(item, SETS)]
    return list({id(item): item for item in found}.values())


def _elements(group: exp.Group) -> list[exp.Expr]:
    return list({id(item): item for item in [*group.expressions, *several_sets(group)]}.values())


def _all_sets(group: exp.Group) -> list[frozenset[str]] | None:
    """The grouping sets of a GROUP BY, equal ones too; None for more than `_MOST_SETS`."""
    items = _elements(group)
    if prod(map(_number_of, items)) > _MOST_SETS:
        return None
    return [frozenset().union(*each) for each in product(*map(_sets, items))]


def _number_of(item: exp.Expr) -> int:
    """Most grouping sets that an element of GROUP BY can have, counted without making them."""
    if isinstance(item, exp.GroupingSets):
        return sum(map(_number_of, item.expressions))
    if isinstance(item, exp.Cube):
        return 1 << len(item.expressions)
    return len(item.expressions) + 1 if isinstance(item, exp.Rollup) else 1


def _sets(item: exp.Expr) -> list[frozenset[str]]:
    """The grouping sets of an element of GROUP BY, each as its keys."""
    if isinstance(item, exp.GroupingSets):
        return [keys for inner in item.expressions for keys in _sets(inner)]
    if isinstance(item, (exp.Rollup, exp.Cube)):
        parts = [_keys(inner) for inner in item.expressions]
        sizes = range(len(parts) + 1)
        chosen = (
            [tuple(parts[:n]) for n in sizes]
            if isinstance(item, exp.Rollup)
            else [some for n in sizes for some in combinations(parts, n)]
        )
        return list(dict.fromkeys(frozenset().union(*some) for some in chosen))
    return [_keys(item)]


def _comes_again(item: exp.Expr) -> bool:
    """True if a ROLLUP or CUBE has a key twice: Flink has each of its sets once, and Spark repeats them."""
    if isinstance(item, exp.GroupingSets):
        return any(map(_comes_again, item.expressions))
    keys = [normal_form(key) for key in key_parts(item)]
    return isinstance(item, (exp.Rollup, exp.Cube)) and len({*keys}) < len(keys)


def _keys(item: exp.Expr) -> frozenset[str]:
    parts = item.expressions if isinstance(item, exp.Tuple) else [item.unnest()]
    return frozenset(map(normal_form, parts))


def _last(key: exp.Expr) -> str:
    """A column's name without its table's, which may have dots; another expression as it is."""
    return normal_form(key.this if isinstance(key, exp.Column) else key)


# -- aggregates ------------------------------------------------------------------------------------------
def _aggregates(node: exp.Expr) -> bool:
    """True if a node is an aggregate over the rows of a group, and not before OVER."""
    if not is_aggregate_call(node):
        return False
    outer: exp.Expr | None = node
    while outer is not None and isinstance(outer.parent, (exp.Filter, exp.WithinGroup)) and outer.arg_key == "this":
        outer = outer.parent
    return outer is not None and not (isinstance(outer.parent, exp.Window) and outer.arg_key == "this")


def has_aggregate(node: exp.Expr) -> bool:
    """True if an expression of a SELECT has an aggregate that isn't over a window, outside of subqueries."""
    return any(_aggregates(each) for each in own(node, exp.Expr))


def is_aggregated(select: exp.Select) -> bool:
    """True if a query has GROUP BY or HAVING, or selects an aggregate that isn't over a window."""
    clauses = select.args.get("group") is not None or select.args.get("having") is not None
    return clauses or any(has_aggregate(projection) for projection in select.expressions)
