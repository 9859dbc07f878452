"""Confluent's `$rowtime` as the column that is the event time of the table that it is read from."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.literals import named
from dbt.adapters.sparkstream.sql.core.names.scope import find_cte
from dbt.adapters.sparkstream.sql.core.source import Edit, Source
from dbt.adapters.sparkstream.sql.core.windows import WindowFunction
from dbt.adapters.sparkstream.sql.dialects.flink import rowtimes

EventTimeOf = Callable[[str], str | None]
"""The column with the event time of a table, by the name as it is written; None where it isn't known."""


def event_times(tree: exp.Expr, source: Source, event_time_of: EventTimeOf) -> Iterator[Edit]:
    """Edits that write the column in place of each `$rowtime` of which one table is read, with a known event time."""
    for name in rowtimes(tree):
        within = name.find_ancestor(WindowFunction, exp.Select)
        of_one = name.parent.table.casefold() if isinstance(name.parent, exp.Column) else ""
        tables = [table for alias, table in _read(within) if not of_one or alias.casefold() == of_one]
        if len(tables) == 1 and tables[0] is not None:
            first, last = tables[0].parts[0], tables[0].parts[-1]
            time = event_time_of(source.text[source.span(first)[0] : source.span(last)[1]])
            if time is not None:
                yield Edit(source.span(name), lambda time=time: named(time))  # type: ignore[misc]


def _read(within: exp.Expr | None) -> Iterator[tuple[str, exp.Table | None]]:
    """Inputs of a query or window function: name, and the table whose rows they give whole, as `t` of `FROM t AS u`."""
    if isinstance(within, WindowFunction):
        yield "", _table(within.this)
    elif isinstance(within, exp.Select):
        from_ = within.args.get("from_")
        for item in [from_, *(within.args.get("joins") or ())]:
            if item is not None:
                yield item.this.alias_or_name, _table(item.this)


def _table(item: exp.Expr) -> exp.Table | None:
    """The table whose columns a relation passes on with all others; None for another relation."""
    if isinstance(item, exp.Table) and isinstance(item.this, WindowFunction):
        item = item.this
    if isinstance(item, WindowFunction):
        return _table(item.this)
    if isinstance(item, exp.Table):
        if not isinstance(item.this, exp.Identifier):
            return None
        cte = find_cte(item) if len(item.parts) == 1 else None
        return item if cte is None else _table(cte.this)
    if isinstance(item, exp.Subquery):
        return _table(item.this)
    if isinstance(item, exp.Select) and item.is_star and not item.args.get("joins"):
        from_ = item.args.get("from_")
        return None if from_ is None else _table(from_.this)
    return None
