"""Multisets of Flink SQL, a type that Spark doesn't have: where an array does in its place."""

from __future__ import annotations

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.tree import enclosing


def is_unnested(call: exp.Anonymous) -> bool:
    """Whether some UNNEST of another query may read the multiset that COLLECT gives."""
    select = enclosing(call, exp.Select)
    if select is None:
        return False
    unnests = select.root().find_all(exp.Unnest)
    return any(enclosing(each, exp.Select) is not select and each.find(exp.Column) for each in unnests)


def is_taken_apart(call: exp.Anonymous) -> bool:
    """Whether nobody sees the multiset that COLLECT gives: it has a name, and only UNNEST reads that."""
    select = enclosing(call, exp.Select)
    alias = call.parent.parent if isinstance(call.parent, exp.Filter) else call.parent
    if select is None or not isinstance(alias, exp.Alias) or select.parent is None:
        return False
    name = alias.alias.casefold()
    uses = [
        column
        for column in select.root().find_all(exp.Column)
        if column.name.casefold() == name and enclosing(column, exp.Select) is not select
    ]
    readers = [enclosing(column, exp.Select) for column in uses]
    return (
        bool(uses)
        and all(isinstance(column.parent, exp.Unnest) for column in uses)
        and not any(projection.is_star for reader in readers if reader for projection in reader.expressions)
    )
