"""GROUPING and GROUP_ID of Flink SQL."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations, product

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.columns import Resolver
from dbt.adapters.sparkstream.sql.core.source import Edit, Source
from dbt.adapters.sparkstream.sql.passes.flink.rewriter import Rewriter

_MOST_SETS = 4096
"""Grouping sets that Spark makes of a GROUP BY."""


class Groupings(Rewriter):
    """Refuses GROUP_ID() where two grouping sets are equal (else it is 0), and GROUPING where Spark doesn't know it."""

    def __init__(self, source: Source, resolver: Resolver) -> None:
        super().__init__(source, resolver)
        self.handlers = {
            exp.Anonymous: self._call,
        }

    def _call(self, node: exp.Expr) -> Iterable[Edit]:
        select, name = node.find_ancestor(exp.Select), node.name.upper()
        group = select.args.get("group") if select else None
        if name in ("GROUPING", "GROUPING_ID"):
            self._check_grouping(node, name, select)
        if name == "GROUP_ID" and group is not None:
            kinds = [
                _sets(item)
                for item in [
                    *group.expressions,
                    *(item for kind in ("grouping_sets", "cube", "rollup") for item in group.args.get(kind) or []),
                ]
            ]
            number = 1
            for sets in kinds:
                number *= len(sets)
            if number > _MOST_SETS or len({frozenset().union(*sets) for sets in product(*kinds)}) < number:
                self.refuse(
                    node,
                    "GROUP_ID() numbers equal grouping sets, which Spark doesn't tell from each other",
                    "write each set once, or UNION ALL with a number of your own",
                )
        return ()

    def _check_grouping(self, node: exp.Expr, name: str, select: exp.Select | None) -> None:
        """Refuses what Spark doesn't resolve: in HAVING, a key that isn't selected under its own name."""
        if not node.expressions:
            self.refuse(node, f"{name} takes keys of GROUP BY", f"write {name}(k)")
        if select is None or not isinstance(node.find_ancestor(exp.Having, exp.Select), exp.Having):
            return
        selected = {p.name.casefold() for p in select.expressions if isinstance(p, exp.Column)}
        for key in node.expressions:
            if isinstance(key, exp.Column) and key.name.casefold() not in selected:
                self.refuse(
                    node,
                    f"in HAVING, Spark knows {name} only of keys that are selected",
                    f"select {key.name} as well, or select {name}(...) in a subquery and filter around it",
                )


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
            else [some for n in sizes if len(parts) <= 12 for some in combinations(parts, n)]
        )
        return [frozenset().union(*some) for some in chosen]
    return [_keys(item)]


def _keys(item: exp.Expr) -> frozenset[str]:
    parts = item.expressions if isinstance(item, exp.Tuple) else [item.unnest()]
    return frozenset(part.sql().casefold() for part in parts)
