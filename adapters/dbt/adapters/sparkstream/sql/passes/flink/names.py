"""Names of tables and columns in Flink SQL, words that look like columns, and Confluent's $rowtime."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.literals import named, quoted
from dbt.adapters.sparkstream.sql.core.matching import MatchRecognize
from dbt.adapters.sparkstream.sql.core.names.columns import NO_SELECT
from dbt.adapters.sparkstream.sql.core.names.paths import default_qualifiers, is_called, output_name
from dbt.adapters.sparkstream.sql.core.names.scope import Column, find_cte, from_item, merged_names, relations, sources
from dbt.adapters.sparkstream.sql.core.nodes import enclosing, once
from dbt.adapters.sparkstream.sql.core.source import Edit, Source
from dbt.adapters.sparkstream.sql.core.windows import WindowFunction
from dbt.adapters.sparkstream.sql.dialects.flink import qualifier, rowtimes
from dbt.adapters.sparkstream.sql.passes.flink.clocks import WORDS, word
from dbt.adapters.sparkstream.sql.passes.flink.rewriter import Rewriter, handles


class FlinkNames(Rewriter):
    """Edits names that Spark lacks; refuses a column `a` that Spark would take for the alias in `SELECT b AS a`."""

    @handles(exp.Identifier)
    def _identifier(self, node: exp.Identifier) -> Iterator[Edit]:
        """`EXPR$0` is a name in Flink as it stands, and one in backticks in Spark."""
        if "$" in node.name and not node.args.get("quoted") and node.meta.get("start") is not None:
            yield self.edit(node, lambda: quoted(node.name))

    @handles(exp.Table)
    def _table(self, node: exp.Table) -> Iterator[Edit]:
        """Leaves `default_catalog.default_database.` out before a table."""
        before = qualifier(node)
        if not before:
            return
        start, name = self.source.span(before[0])[0], self.source.span(node.this)
        if find_cte(node) is not None:
            self.refuse(
                (start, name[1]),
                f"WITH has a query called {node.name}, too, and Spark would take it",
                "give the query in WITH another name",
            )
        yield Edit.to((start, name[0]), "")

    @handles(exp.Column)
    def _column(self, node: exp.Column) -> Iterator[Edit]:
        unsaid = default_qualifiers([part.name for part in node.parts[:-1]])
        if unsaid:
            yield Edit.to((self.source.span(node.parts[0])[0], self.source.span(node.parts[unsaid])[0]), "")
        clock = word(node)
        if clock is not None:
            name = f" AS {node.name}" if isinstance(node.parent, exp.Select) else ""
            yield self.edit(node, lambda: f"{WORDS[clock][0]}{name}")
            return
        if word(node, ("PI",)) and not self.resolver.candidates(node, enclosing(node, exp.Select) or NO_SELECT):
            yield self.edit(node, lambda: "PI() AS PI" if isinstance(node.parent, exp.Select) else "PI()")
            return
        self._check(node)
        yield from self._bare_field(node)

    def _bare_field(self, column: exp.Column) -> Iterator[Edit]:
        """Writes the row before a field whose name stands alone."""
        select = enclosing(column, exp.Select)
        found = self.resolver.find(column, select) if select is not None and not column.is_star else None
        if found is None or not found.rows:
            return
        path, names = (*found.rows, found.name), [part.name.casefold() for part in column.parts]
        written = [name.casefold() for name in path[-len(names) :]] == names
        first = column.parts[0 if written else 1]  # an input may stand before it
        yield Edit((self.source.span(first)[0], self.source.span(column)[1]), lambda: ".".join(map(quoted, path)))

    def _check(self, column: exp.Column) -> None:
        """Refuses a name that Spark would resolve to another column, or find ambiguous."""
        select = enclosing(column, exp.Select)
        around = enclosing(column, WindowFunction, MatchRecognize, exp.Select)
        if select is None or column.is_star or around is not select:
            return
        if isinstance(column.parent, exp.Join) or merged_names(select):
            return
        self._check_qualify(column, select, self.resolver.candidates(column, select))
        for relation in _named_twice(select).get(column.name, ()):
            if not column.table or is_called(relation, [column.table]):
                self.refuse(column, f"two columns of the subquery are called {column.name}", "name one in another way")

    def _check_qualify(self, column: exp.Column, select: exp.Select, found: list[Column] | None) -> None:
        """Refuses a name in QUALIFY that is an alias to Flink, and another column of the input to Spark."""
        if column.table or not found or not isinstance(enclosing(column, exp.Qualify, exp.Select), exp.Qualify):
            return
        name = column.name.casefold()
        named = [p.unalias() for p in select.expressions if p.alias_or_name.casefold() == name]
        if any(not isinstance(p, exp.Column) or p.name.casefold() != name for p in named):
            self.refuse(
                column,
                f"{column.name} is an alias of this SELECT, and a column of its input as well",
                "give the alias a name of its own",
            )


@once
def _named_twice(select: exp.Select) -> dict[str, list[exp.Expr]]:
    """A name that a subquery in FROM gives to two of its columns -> the subqueries that do."""
    found: dict[str, list[exp.Expr]] = {}
    for relation in sources(select):
        query = relation.this if isinstance(relation, exp.Subquery) else None
        if isinstance(query, exp.Select) and not relation.alias_column_names:
            for name, times in Counter(map(output_name, query.expressions)).items():
                if times > 1:
                    found.setdefault(name, []).append(relation)
    return found


EventTimeOf = Callable[[str], str | None]
"""Function from the name of a table, as written, to its event-time column; None where it isn't known."""


def event_times(tree: exp.Expr, source: Source, event_time_of: EventTimeOf) -> Iterator[Edit]:
    """Edits that replace `$rowtime` by the event-time column, where one table is read and its column is known."""
    for name in rowtimes(tree):
        within = name.find_ancestor(WindowFunction, exp.Select)
        of_one = name.parent.table.casefold() if isinstance(name.parent, exp.Column) else ""
        tables = [table for alias, table in _read(within) if not of_one or alias.casefold() == of_one]
        if len(tables) == 1 and tables[0] is not None:
            time = event_time_of(source.text[slice(*source.full_name(tables[0]))])
            if time is not None:
                yield Edit.to(source.span(name), named(time))


def _read(within: exp.Expr | None) -> Iterator[tuple[str, exp.Table | None]]:
    """Inputs of a query or window function: name, and the table whose rows they give whole, as `t` of `FROM t AS u`."""
    if isinstance(within, WindowFunction):
        yield "", _table(within.this)
    elif isinstance(within, exp.Select):
        for item in relations(within):
            yield item.alias_or_name, _table(item)


def _table(item: exp.Expr | None) -> exp.Table | None:
    """The table whose columns a relation passes on with all others; None for another relation."""
    if isinstance(item, exp.Table) and isinstance(item.this, WindowFunction):
        item = item.this
    if isinstance(item, WindowFunction):
        return _table(item.this)
    if isinstance(item, exp.Table):
        if not isinstance(item.this, exp.Identifier):
            return None
        cte = find_cte(item)
        return item if cte is None else _table(cte.this)
    if isinstance(item, exp.Subquery):
        return _table(item.this)
    if isinstance(item, exp.Select) and item.is_star and not item.args.get("joins"):
        return _table(from_item(item))
    return None
