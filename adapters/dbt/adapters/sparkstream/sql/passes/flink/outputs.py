"""The names that Flink gives the columns of a query."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.literals import backticked
from dbt.adapters.sparkstream.sql.core.names.paths import output_name, unused_name
from dbt.adapters.sparkstream.sql.core.names.scope import joins_of, sources
from dbt.adapters.sparkstream.sql.core.source import Edit
from dbt.adapters.sparkstream.sql.passes.flink.grouping import is_aggregated
from dbt.adapters.sparkstream.sql.passes.flink.rewriter import Rewriter

_WORDS = (exp.CurrentDate, exp.CurrentTimestamp)


class OutputNames(Rewriter):
    """Names output columns as Flink does."""

    def of_select(self, select: exp.Select) -> Iterator[Edit]:
        """Names what Flink names: EXPR$0, EXPR$1 by position, and a number behind a name that comes again."""
        if not _names_matter(select):
            yield from self._lone_text(select)
            return
        taken: set[str] = set()
        written: set[str] = set()
        # A column without a name is numbered by the columns before it; beside aggregates, by their different names.
        grouped = is_aggregated(select)
        for projection in select.expressions:
            if projection.is_star:
                stars = self._star(select, projection, taken, written)
                if stars is None:
                    return
                yield from stars
                continue
            named = output_name(projection) or self._word(projection)
            name = named or f"EXPR${len(written) if grouped else len(taken)}"
            written.add(name)
            given = unused_name(name, taken)
            quoted = backticked(given)
            yield from self._ordered(select, projection, quoted)
            if given != name and isinstance(projection, exp.Alias):
                yield self.edit(projection.args["alias"], lambda n=quoted: n)  # type: ignore[misc]
            elif given != name or not output_name(projection):
                text = lambda p=projection, n=quoted: f"{self.text(p)} AS {n}"  # noqa: E731
                yield self.edit(projection, text, level=2)

    def _lone_text(self, select: exp.Select) -> Iterator[Edit]:
        """Names the text of `(SELECT 'a')`, which Spark takes for a constant of a type SELECT."""
        first = next(iter(select.expressions), None)
        alone = not select.args.get("from_") and not isinstance(select.parent, exp.SetOperation)
        if alone and isinstance(first, exp.Literal) and first.is_string:
            yield self.edit(first, lambda: f"{self.text(first)} AS `EXPR$0`", level=2)

    def _word(self, projection: exp.Expr) -> str:
        """The name of a function without parentheses, such as CURRENT_DATE: the word itself."""
        written = self.source.written(projection) if isinstance(projection, _WORDS) else ""
        return "" if "(" in written else written

    def _ordered(self, select: exp.Select, projection: exp.Expr, name: str) -> Iterator[Edit]:
        """Orders by the name of an output column what repeats it: Spark knows no other columns behind DISTINCT."""
        order, value = select.args.get("order"), projection.unalias()
        if select.args.get("distinct") and order is not None and not isinstance(value, exp.Column):
            for item in order.expressions:
                if item.this == value:
                    yield self.edit(item.this, lambda: name)

    def _star(self, select: exp.Select, star: exp.Expr, taken: set[str], written: set[str]) -> list[Edit] | None:
        """Writes out a star that brings a name again; None where its columns aren't all known."""
        columns = behind(self, select, star)
        if columns is None:
            return None
        written.update(name for _, name in columns)
        named = [(column, name, unused_name(name, taken)) for column, name in columns]
        if all(name == given for _, name, given in named) or not all(column for column, _, _ in named):
            return []
        items = [column + ("" if name == given else f" AS {backticked(given)}") for column, name, given in named]
        return [self.edit(star, lambda: ", ".join(items))]


def _names_matter(select: exp.Select) -> bool:
    """Whether somebody sees the names of a query's columns: the reader of the result, or a query around it."""
    node: exp.Expr = select
    while isinstance(node.parent, exp.SetOperation):
        if node.arg_key != "this":
            return False
        node = node.parent
    if isinstance(node.parent, exp.Subquery):
        return isinstance(node.parent.parent, (exp.From, exp.Join, exp.Lateral))
    return node.parent is None or isinstance(node.parent, (exp.CTE, exp.Create, exp.Insert))


def behind(query: Rewriter, select: exp.Select, star: exp.Expr) -> list[tuple[str, str]] | None:
    """The columns that a star stands for, as Spark SQL (empty where it has none) and by name; None if unknown."""
    table = star.table.casefold() if isinstance(star, exp.Column) else ""
    scope = [s for s in sources(select) if not table or s.alias_or_name.casefold() == table]
    if not scope and isinstance(star, exp.Column):  # the fields of a row
        row, rows = query.source.written(star).rpartition(".")[0], query.resolver.starred(select, star)
        return [(f"{row}.{backticked(c.name)}", c.name) for c in rows.items] if rows.complete else None
    if not all(query.resolver.columns(s).complete for s in scope):
        return None
    if not table and any(j.args.get("using") or j.method for j in joins_of(select)):
        return _merged(query, select, scope)
    columns = [(s.alias_or_name, c.name) for s in scope for c in query.resolver.columns(s).items]
    return [(f"{backticked(t)}.{backticked(n)}" if t else "", n) for t, n in columns]


def _merged(query: Rewriter, select: exp.Select, scope: list[exp.Expr]) -> list[tuple[str, str]] | None:
    """The columns of a join by USING or NATURAL: columns that both sides have come first, once."""
    if len(scope) != 2:
        return None
    join = joins_of(select)[0]
    left, right = (query.resolver.columns(side).items for side in scope)
    using = [column.name.casefold() for column in join.args.get("using") or []]
    if join.method == "NATURAL":
        others = {column.name.casefold() for column in right}
        using = [column.name.casefold() for column in left if column.name.casefold() in others]
    first = {column.name.casefold(): column.name for column in left}
    columns = [(backticked(first[name]), first[name]) for name in using if name in first]
    for side, items in zip(scope, (left, right), strict=True):
        table = backticked(side.alias_or_name)
        columns += [(f"{table}.{backticked(c.name)}", c.name) for c in items if c.name.casefold() not in using]
    return columns
