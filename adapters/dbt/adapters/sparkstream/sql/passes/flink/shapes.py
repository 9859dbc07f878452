"""Refuses queries whose parts Flink doesn't put together: aggregates within others, columns that don't match."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.columns import Resolver
from dbt.adapters.sparkstream.sql.core.matching import MatchRecognize
from dbt.adapters.sparkstream.sql.core.nested import entry
from dbt.adapters.sparkstream.sql.core.paths import is_called, names_of
from dbt.adapters.sparkstream.sql.core.rows import cells, row_values
from dbt.adapters.sparkstream.sql.core.scope import find_cte, sources
from dbt.adapters.sparkstream.sql.core.source import Edit, Source
from dbt.adapters.sparkstream.sql.core.tree import enclosing
from dbt.adapters.sparkstream.sql.core.windows import WindowFunction
from dbt.adapters.sparkstream.sql.passes.flink.aggregated import is_aggregate
from dbt.adapters.sparkstream.sql.passes.flink.families import family, incompatible
from dbt.adapters.sparkstream.sql.passes.flink.rewriter import Rewriter

_OF_ROWS = (exp.In, exp.Exists, exp.All, exp.Any, exp.Subquery, exp.UDTF, WindowFunction, MatchRecognize)
"""What takes a query with all its rows."""


class QueryShapes(Rewriter):
    """Checks where aggregates stand, and how many columns subqueries and aliases have."""

    def __init__(self, source: Source, resolver: Resolver) -> None:
        super().__init__(source, resolver)
        self.handlers = {
            exp.Anonymous: self._call,
            exp.Select: self._select,
            exp.TableAlias: self._alias,
            exp.Subquery: self._subquery,
            exp.In: self._in,
            exp.Values: self._values,
            exp.With: self._with,
            exp.Window: self._window,
        }

    # -- aggregates ----------------------------------------------------------------------------------------
    def _call(self, node: exp.Expr) -> Iterable[Edit]:
        if not is_aggregate(node):
            return ()
        name = node.name.upper()
        around = enclosing(node, exp.Where, exp.Group, exp.Join, exp.Select)
        if isinstance(around, (exp.Where, exp.Group, exp.Join)):
            place = {"where": "WHERE", "group": "GROUP BY", "join": "ON"}[around.key]
            self.refuse(node, f"{name} can't stand in {place}", "aggregate in a subquery, or filter with HAVING")
        select = enclosing(node, exp.Select)
        outer = enclosing(node, exp.Anonymous, exp.Select)
        while isinstance(outer, exp.Anonymous):
            if is_aggregate(outer):
                self.refuse(node, f"{name} can't stand in {outer.name.upper()}", "aggregate in a subquery first")
            outer = enclosing(outer, exp.Anonymous, exp.Select)
        if select is not None and not node.expressions:
            self.refuse(node, f"{name} takes an argument", f"write {name}(*)" if name == "COUNT" else None)
        if name != "COUNT" and any(isinstance(argument, exp.Star) for argument in node.expressions):
            self.refuse(node, f"{name} takes a value, and no *", "write COUNT(*), or name a column")
        return ()

    def _window(self, node: exp.Expr) -> Iterable[Edit]:
        """No window function stands in the argument of a window function or of an aggregate."""
        outer = enclosing(node, exp.Anonymous, exp.Select)
        while isinstance(outer, exp.Anonymous):
            if is_aggregate(outer) or (isinstance(outer.parent, exp.Window) and outer.arg_key == "this"):
                self.refuse(node, f"a window function can't stand in {outer.name.upper()}", "compute it in a subquery")
            outer = enclosing(outer, exp.Anonymous, exp.Select)
        return ()

    # -- SELECT --------------------------------------------------------------------------------------------
    def _select(self, node: exp.Expr) -> Iterable[Edit]:
        assert isinstance(node, exp.Select)
        inputs = sources(node)
        if not inputs:
            for projection in node.expressions:
                if isinstance(projection, exp.Star):
                    self.refuse(projection, "* needs a FROM", "name a table")
        for projection in node.expressions:
            if isinstance(projection.unalias(), exp.Null):
                self.refuse(projection, "nobody knows the type of this NULL", "write CAST(NULL AS INT)")
            if node.args.get("distinct") and entry(self.type(projection.unalias())) is not None:
                self.refuse(
                    projection, "a MAP has no order, so DISTINCT can't compare it", "select MAP_KEYS(m), m['k']"
                )
            if isinstance(projection, exp.Column) and projection.is_star:
                self._check_star(node, projection, inputs)
        self._check_names(inputs)
        return ()

    def _check_star(self, select: exp.Select, star: exp.Column, inputs: Iterable[exp.Expr]) -> None:
        """Refuses `x.*` where neither an input nor a row is called x."""
        names = (names_of(star) or [])[:-1]
        if any(is_called(relation, names) for relation in inputs):
            return
        row = self.resolver.row_of(star, select)
        if row is not None:
            if family(row.type) not in (None, "row"):
                self.refuse(star, f"{'.'.join(names)} is of type {row.type}, and * takes the fields of a row")
            return
        if all(self.resolver.columns(relation).complete for relation in inputs):
            known = ", ".join(relation.alias_or_name for relation in inputs)
            self.refuse(star, f"there is no {'.'.join(names)} here", f"there are {known}" if known else None)

    # -- WITH ----------------------------------------------------------------------------------------------
    def _with(self, node: exp.Expr) -> Iterable[Edit]:
        """A name stands once in WITH, and is known behind its query."""
        if node.args.get("recursive"):
            self.refuse(node, "Flink has no WITH RECURSIVE", "write each step as a query of its own")
        behind: list[str] = []
        for cte in reversed(node.expressions):
            if cte.alias.casefold() in behind:
                self.refuse(cte.args["alias"], f"WITH has {cte.alias} twice", "give one another name")
            for table in cte.this.find_all(exp.Table):
                known = table.args.get("db") or find_cte(table) or self.resolver.columns(table).complete
                if not known and table.name.casefold() in behind:
                    self.refuse(table, f"{table.name} is defined behind this query", "put its definition before it")
            behind.append(cte.alias.casefold())
        return ()

    def _check_names(self, inputs: Iterable[exp.Expr]) -> None:
        """Refuses two inputs of one name."""
        taken: set[str] = set()
        for relation in inputs:
            name = relation.alias.casefold()
            if name and name in taken:
                self.refuse(relation, f"two inputs are called {relation.alias}", "give one another alias")
            taken.add(name)

    # -- numbers of columns --------------------------------------------------------------------------------
    def _alias(self, node: exp.Expr) -> Iterable[Edit]:
        """`AS v(a, b)` names as many columns as there are."""
        names, relation = node.args.get("columns") or [], node.parent
        if not names or relation is None or isinstance(relation, exp.Unnest):
            return ()
        plain = relation.this if isinstance(relation, (exp.Subquery, exp.CTE)) else None
        if isinstance(relation, exp.Values):
            count: int | None = len(cells(relation.expressions[0]))
        else:
            of_table = self.resolver.of_table(relation) if isinstance(relation, exp.Table) else None
            columns = self.resolver.columns(plain) if plain is not None else of_table
            count = len(columns.items) if columns is not None and columns.complete else None
        if not all(isinstance(name, exp.Identifier) for name in names):
            return ()
        called = [name.name for name in names]
        twice = next((name for i, name in enumerate(names) if name.name in called[:i]), None)
        if twice is not None:
            self.refuse(twice, f"two columns are called {twice.name}", "give one another name")
        if count is not None and count != len(names):
            self.refuse(node, f"this names {len(names)} columns, and there are {count}", "name them all, or none")
        return ()

    def _width(self, query: exp.Expr) -> int | None:
        columns = self.resolver.columns(query.unnest() if isinstance(query, exp.Subquery) else query)
        return len(columns.items) if columns.complete else None

    def _subquery(self, node: exp.Expr) -> Iterable[Edit]:
        """A query that stands for a value has one column."""
        if not isinstance(node.parent, (exp.Condition, exp.Alias, exp.Select)) or isinstance(node.parent, _OF_ROWS):
            return ()
        if node.arg_key not in ("this", "expression", "expressions", "low", "high"):
            return ()
        width = self._width(node) if isinstance(node.this, exp.Query) else None
        if width is not None and width > 1:
            self.refuse(node, f"this query stands for one value, and has {width} columns", "select one column")
        return ()

    def _in(self, node: exp.Expr) -> Iterable[Edit]:
        query = node.args.get("query")
        row = row_values(node.this)
        if query is not None and row is None:
            columns = self.resolver.columns(query.unnest() if isinstance(query, exp.Subquery) else query)
            one, other = self.type(node.this), columns.items[0].type if len(columns.items) == 1 else None
            if incompatible(one, other):
                self.refuse(node, f"IN compares {one} with {other}", "write CAST(...) on one side")
        width = self._width(query) if query is not None else None
        wanted = 1 if row is None else len(row)
        if width is not None and width != wanted:
            self.refuse(node, f"IN compares {wanted} with {width} columns", "select as many columns as stand before IN")
        return ()

    def _values(self, node: exp.Expr) -> Iterator[Edit]:
        """All rows of VALUES have as many columns, and these the same types."""
        first, *rows = map(cells, node.expressions)
        for row, values in zip(node.expressions[1:], rows, strict=True):
            if len(values) != len(first):
                self.refuse(row, f"this row has {len(values)} columns, and the first has {len(first)}")
            for value, above in zip(values, first, strict=True):
                if incompatible(self.type(value), self.type(above)):
                    self.refuse(value, "VALUES has two kinds of values in one column", "write CAST(...) around one")
        for value in (value for row in node.expressions for value in cells(row)):
            if isinstance(value, exp.Null):
                self.refuse(node, "nobody knows the type of this NULL", "write CAST(NULL AS INT)")
        yield from ()
