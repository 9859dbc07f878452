"""Relations in FROM in Flink SQL, and the names of their columns: VALUES, LATERAL."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp
from sqlglot.tokens import TokenType

from dbt.adapters.sparkstream.sql.core.literals import quoted
from dbt.adapters.sparkstream.sql.core.names.columns import Resolver
from dbt.adapters.sparkstream.sql.core.names.paths import names_of
from dbt.adapters.sparkstream.sql.core.names.scope import sources
from dbt.adapters.sparkstream.sql.core.source import Edit, Source
from dbt.adapters.sparkstream.sql.core.tree import enclosing
from dbt.adapters.sparkstream.sql.core.windows import WindowFunction
from dbt.adapters.sparkstream.sql.passes.flink.aggregated import has_aggregate
from dbt.adapters.sparkstream.sql.passes.flink.rewriter import Rewriter


class Relations(Rewriter):
    """Edits names such as EXPR$0, VALUES and LATERAL."""

    def __init__(self, source: Source, resolver: Resolver) -> None:
        super().__init__(source, resolver)
        self.handlers = {
            exp.Identifier: self._identifier,
            exp.Values: self._values,
            exp.Lateral: self._lateral,
        }

    def _identifier(self, node: exp.Expr) -> Iterator[Edit]:
        """`EXPR$0` is a name in Flink as it stands, and one in backticks in Spark."""
        if "$" in node.name and not node.args.get("quoted") and node.meta.get("start") is not None:
            yield self.edit(node, lambda: quoted(node.name))

    def _values(self, node: exp.Expr) -> Iterator[Edit]:
        """Names the columns EXPR$0, EXPR$1."""
        assert isinstance(node, exp.Values)
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
        """Where a row of VALUES ends, with its parenthesis."""
        start, end = self.source.span(row)
        tokens = self.source.tokens
        at = tokens.at(start)
        opening = at if tokens[at].token_type == TokenType.L_PAREN else at - 1
        closing = tokens.closing(opening) if tokens[opening].token_type == TokenType.L_PAREN else None
        return end if closing is None else tokens[closing].end + 1

    def _lateral(self, node: exp.Expr) -> Iterator[Edit]:
        """Drops the row that an aggregate of no rows gives, as Flink does (measured)."""
        query = node.this.unnest() if isinstance(node.this, exp.Subquery) else None
        select = enclosing(node, exp.Select)
        if not isinstance(query, exp.Select) or select is None or query.args.get("group"):
            return
        aggregated = any(has_aggregate(each) for each in query.expressions)
        if not aggregated or not reads_around(self.resolver, query, select):
            return
        having = query.args.get("having")
        if having is not None:
            yield self.edit(having.this, lambda: f"({self.text(having.this)}) AND COUNT(*) > 0")
            return
        last = query.args.get("where") or (query.args.get("joins") or [query.args.get("from_")])[-1]
        if last is not None:
            span = self.source.span(last)
            yield Edit(span, lambda: f"{self.source.render(span)} HAVING COUNT(*) > 0", level=3)


def reads_around(resolver: Resolver, query: exp.Select, select: exp.Select) -> bool:
    """Whether a query reads a column of the inputs of the SELECT around it."""
    inner = {s.alias_or_name.casefold() for s in sources(query)}
    outer = {s.alias_or_name.casefold() for s in sources(select)}
    for column in query.find_all(exp.Column):
        names = names_of(column) or []
        if enclosing(column, WindowFunction, exp.Select) is not query or resolver.own(column, query):
            continue
        first = names[0].casefold()
        if (len(names) > 1 and first in outer - inner) or resolver.own(column, select):
            return True
    return False
