"""A CTE as a subquery where it is read."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.names.scope import find_cte
from dbt.adapters.sparkstream.sql.core.nodes import find, within
from dbt.adapters.sparkstream.sql.core.source import Edit, Source


def inlined(table: exp.Table, cte: exp.CTE, source: Source) -> Iterator[Edit]:
    """Edits that replace a table in FROM by the query of the CTE that it names."""
    for inner in find(cte.this, exp.Table):
        meant = find_cte(inner)
        if inner.args.get("db") or not isinstance(inner.this, exp.Identifier) or (meant and within(meant, cte)):
            continue
        there = exp.Table(this=exp.to_identifier(inner.name))
        there.parent = table.parent
        if find_cte(there) is not meant:
            message = f"{cte.alias} is read more than once, and its {inner.name} is another table where it is read"
            raise source.error(table, message, f"give one {inner.name} another name")
    name = source.span(table.this)
    query = source.written(cte.this)
    columns = cte.args["alias"].columns
    listed = f"({', '.join(source.written(column) for column in columns)})" if columns else ""
    alias = table.args.get("alias")
    if alias is None or alias.this is None:
        yield Edit(name, lambda: f"(\n{query}\n) AS {source.text[slice(*name)]}{listed}")
        return
    yield Edit(name, lambda: f"(\n{query}\n)")
    if listed and not alias.columns:
        end = source.span(alias.this)[1]
        yield Edit((end, end), lambda: listed)
