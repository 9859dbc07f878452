"""Columns and GROUP BY of Flink SQL."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.columns import NO_SELECT, Resolver
from dbt.adapters.sparkstream.sql.core.literals import quoted
from dbt.adapters.sparkstream.sql.core.matching import MatchRecognize
from dbt.adapters.sparkstream.sql.core.nested import entry, fields
from dbt.adapters.sparkstream.sql.core.paths import is_called, names_of, output_name
from dbt.adapters.sparkstream.sql.core.scope import Column, merged_names, sources
from dbt.adapters.sparkstream.sql.core.source import Edit, Source
from dbt.adapters.sparkstream.sql.core.tree import enclosing, once
from dbt.adapters.sparkstream.sql.core.windows import AUXILIARY, WindowFunction
from dbt.adapters.sparkstream.sql.passes.flink.aggregated import has_aggregate
from dbt.adapters.sparkstream.sql.passes.flink.clocks import WORDS, word
from dbt.adapters.sparkstream.sql.passes.flink.functions import AGGREGATES
from dbt.adapters.sparkstream.sql.passes.flink.orderkeys import ordered_names, orders_by
from dbt.adapters.sparkstream.sql.passes.flink.rewriter import Rewriter


class QueryChecks(Rewriter):
    """Refuses columns that Flink refuses, and edits the words that look like columns."""

    def __init__(self, source: Source, resolver: Resolver) -> None:
        super().__init__(source, resolver)
        self.handlers = {
            exp.Column: self._column,
            exp.Select: self._select,
            exp.Join: self._join,
            exp.Dot: self._dot,
        }

    def _column(self, node: exp.Expr) -> Iterator[Edit]:
        assert isinstance(node, exp.Column)
        clock = word(node)
        if clock is not None:
            name = f" AS {node.name}" if isinstance(node.parent, exp.Select) else ""
            yield self.edit(node, lambda: f"{WORDS[clock][0]}{name}")
            return
        if word(node, ("PI",)) and not self.resolver.candidates(node, enclosing(node, exp.Select) or NO_SELECT):
            yield self.edit(node, lambda: "PI() AS PI" if isinstance(node.parent, exp.Select) else "PI()")
            return
        self._check_column(node)
        yield from self._bare_field(node)

    def _dot(self, node: exp.Expr) -> Iterable[Edit]:
        """Refuses a field that a row hasn't, where the row is no column: `ROW(1, 2).a`."""
        known = fields(self.type(node.this)) if names_of(node) is None else None
        if known and not any(name.casefold() == node.expression.name.casefold() for name, _ in known):
            names = ", ".join(name for name, _ in known)
            self.refuse(node.expression, f"this row has no field {node.expression.name}", f"it has {names}")
        return ()

    def _bare_field(self, column: exp.Column) -> Iterator[Edit]:
        """Names the row of a field that is named without it."""
        select = enclosing(column, exp.Select)
        found = self.resolver.find(column, select) if select is not None and not column.is_star else None
        if found is None or not found.rows:
            return
        path, names = (*found.rows, found.name), [part.name.casefold() for part in column.parts]
        written = [name.casefold() for name in path[-len(names) :]] == names
        first = column.parts[0 if written else 1]  # an input may stand before it
        yield Edit((self.source.span(first)[0], self.source.span(column)[1]), lambda: ".".join(map(quoted, path)))

    def _check_column(self, column: exp.Column) -> None:
        """Refuses a name that no table in scope has, or that two have."""
        select = enclosing(column, exp.Select)
        around = enclosing(column, WindowFunction, MatchRecognize, exp.Select)
        if select is None or column.is_star or around is not select:
            return
        if isinstance(column.parent, exp.Join):
            return
        merged = merged_names(select)
        if merged:
            self._check_merged(column, select, merged)
            return
        found = self.resolver.candidates(column, select)
        self._check_twice(column, select)
        self._check_qualify(column, select, found)
        if found is None or len(found) == 1:
            return
        if orders_by(column, select) and column.name in ordered_names(self.resolver, select)[0] and not column.table:
            return
        if len(found) > 1:
            self.refuse(
                column,
                f"{column.name} is ambiguous: two inputs have it",
                f"write the input before it: {sources(select)[0].alias_or_name or 'L'}.{column.name}",
            )
        aliases = {p.alias_or_name.casefold() for p in select.expressions}
        around = enclosing(column, exp.Order, exp.Qualify, exp.Select)
        if around is not select and column.name.casefold() in aliases:
            return
        known = [c.name for s in sources(select) for c in self.resolver.columns(s).items]
        written = self.source.written(column)
        row = self.resolver.row_of(column, select)
        if row is not None:
            names = ", ".join(name for name, _ in fields(row.type) or ())
            hint = f"it has {names}" if names else f"it is of type {row.type}, and no row"
            self.refuse(column, f"{row.name} has no field {column.name}", hint)
        self.refuse(column, f"there is no column {written} here", f"there are {', '.join(known)}" if known else None)

    def _check_merged(self, column: exp.Column, select: exp.Select, merged: set[str]) -> None:
        """Refuses a column of USING where Flink doesn't put both sides together: behind FROM, but for GROUP BY."""
        if column.table or column.name.casefold() not in merged:
            return
        names = ordered_names(self.resolver, select)[0]
        place = enclosing(column, exp.Where, exp.Having, exp.Qualify, exp.Join, exp.Select)
        ordered = orders_by(column, select) and column.name not in names
        behind = place is not select and place is not None and not isinstance(place.parent, exp.Filter)
        if ordered or behind or select.args.get("qualify") is not None:
            self.refuse(
                column,
                f"{column.name} is ambiguous here: USING makes one column of two in SELECT and GROUP BY alone",
                f"write the input before it: {sources(select)[0].alias_or_name or 'L'}.{column.name}",
            )

    def _check_twice(self, column: exp.Column, select: exp.Select) -> None:
        """Refuses a name that a subquery in FROM gives to two of its columns."""
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

    def _select(self, node: exp.Expr) -> Iterable[Edit]:
        assert isinstance(node, exp.Select)
        self._check_group(node)
        self._check_grouped(node)
        return ()

    def _join(self, node: exp.Expr) -> Iterable[Edit]:
        """Refuses a name in USING that an input on one side hasn't."""
        select = enclosing(node, exp.Select)
        inputs = sources(select) if select is not None else []
        at = _places(select).get(id(node.this), 0) if select is not None else 0
        for name in node.args.get("using") or [] if at and not isinstance(node.this, exp.Unnest) else []:
            for side in (inputs[:at], inputs[at : at + 1]):
                if all(self._lacks(relation, name.name) for relation in side):
                    there = ", ".join(c.name for relation in side for c in self.resolver.columns(relation).items)
                    self.refuse(
                        name,
                        f"USING takes a column of both sides, and there is no {name.name} on {_side(side)}",
                        f"there are {there}",
                    )
        return ()

    def _lacks(self, relation: exp.Expr, name: str) -> bool:
        columns = self.resolver.columns(relation)
        return columns.complete and columns.find(name) is None

    def _check_group(self, select: exp.Select) -> None:
        """GROUP BY takes columns of the input: neither aliases nor positions."""
        group = select.args.get("group")
        aliases = {p.alias.casefold() for p in select.expressions if isinstance(p, exp.Alias)}
        for key in group.expressions if group else []:
            if isinstance(key, exp.Literal) and key.is_number:
                self.refuse(key, "GROUP BY takes no positions", "repeat the expression")
            if entry(self.type(key)) is not None:
                self.refuse(key, "a MAP has no order, so nothing is grouped by it", "group by MAP_KEYS(m) or m['k']")
            if isinstance(key, exp.Column) and not key.table and key.name.casefold() in aliases:
                inputs = [self.resolver.columns(s) for s in sources(select)]
                if all(c.complete for c in inputs) and not any(c.find(key.name) for c in inputs):
                    self.refuse(
                        key,
                        f"{key.name} is an alias of this SELECT, and no column of its input",
                        "repeat the expression",
                    )

    def _check_grouped(self, select: exp.Select) -> None:
        """Refuses a column that is neither a key of GROUP BY nor within an aggregate."""
        group = select.args.get("group")
        having = select.args.get("having")
        outputs = [*select.expressions, *([having.this] if having else [])]
        if group is None and having is None and not any(has_aggregate(output) for output in outputs):
            for key in self._ordered(select):
                if has_aggregate(key):
                    self.refuse(key, "ORDER BY has an aggregate, and SELECT has none", "write GROUP BY, and select it")
            return
        outputs += self._ordered(select)
        keys = list(group.expressions) if group else []
        for kind in ("grouping_sets", "cube", "rollup"):
            keys += (group.args.get(kind) or []) if group else []
        flat = [inner for key in keys for inner in key_parts(key)]
        grouped = _Keys(flat, select)
        for output in outputs:
            self._check_star(select, output, flat)
            self._check_in_group(select, output, grouped)

    def _check_star(self, select: exp.Select, output: exp.Expr, keys: list[exp.Expr]) -> None:
        """Refuses `*` of a table with a column that isn't grouped."""
        if not output.is_star or not isinstance(output, (exp.Star, exp.Column)):
            return
        table = output.table if isinstance(output, exp.Column) else ""
        grouped = {key.name.casefold() for key in keys if isinstance(key, exp.Column)}
        for relation in sources(select):
            columns = self.resolver.columns(relation)
            if (table and not is_called(relation, [table])) or not columns.complete:
                continue
            left = next((column.name for column in columns.items if column.name.casefold() not in grouped), None)
            if left is not None:
                self.refuse(
                    output, f"{left} is neither in GROUP BY nor in an aggregate function", "name the columns, and group"
                )

    def _ordered(self, select: exp.Select) -> list[exp.Expr]:
        """What ORDER BY sorts by, but for names of outputs."""
        order = select.args.get("order")
        names = {projection.alias_or_name.casefold() for projection in select.expressions}
        keys = [item.this for item in order.expressions] if order is not None else []
        return [key for key in keys if not (isinstance(key, exp.Column) and key.name.casefold() in names)]

    def _check_in_group(self, select: exp.Select, node: exp.Expr, keys: _Keys) -> None:
        if isinstance(node, (exp.Query, exp.Filter)) or node in keys:
            return
        if isinstance(node, exp.Anonymous) and node.name.upper() in (
            *AGGREGATES,
            *AUXILIARY,
            "GROUPING",
            "GROUPING_ID",
        ):
            window = isinstance(node.parent, exp.Window) and node.arg_key == "this"
            for inner in node.expressions if window else ():
                self._check_in_group(select, inner, keys)
            return
        if isinstance(node, exp.Column) and self.resolver.candidates(node, select):
            if node.is_star or not self._of_query(node, select):
                return
            self.refuse(
                node,
                f"{self.source.written(node)} is neither in GROUP BY nor in an aggregate function",
                f"write GROUP BY ..., {self.source.written(node)}",
            )
        for child in node.iter_expressions():
            self._check_in_group(select, child, keys)

    def _of_query(self, column: exp.Column, select: exp.Select) -> bool:
        """Whether a column is one of the query's own inputs, and not of a query around it."""
        return bool(self.resolver.own(column, select))


def _side(inputs: list[exp.Expr]) -> str:
    names = [relation.alias_or_name for relation in inputs]
    return f"that of {', '.join(names)}" if all(names) else "one of them"


def key_parts(key: exp.Expr) -> Iterator[exp.Expr]:
    """The expressions of an element of GROUP BY, through GROUPING SETS, ROLLUP, CUBE and parentheses."""
    if isinstance(key, (exp.GroupingSets, exp.Cube, exp.Rollup, exp.Tuple)):
        for inner in key.expressions:
            yield from key_parts(inner)
    elif isinstance(key, exp.Paren):
        yield from key_parts(key.this)
    else:
        yield key


class _Keys:
    """Keys of GROUP BY, and which expressions are one of them; a column may have its table's name or not."""

    def __init__(self, keys: list[exp.Expr], select: exp.Select) -> None:
        self._inputs = {s.alias_or_name.casefold() for s in sources(select)}
        self._written = {key for key in keys if names_of(key) is None}
        self._names = {_folded(names) for names in map(names_of, keys) if names}
        self._shorter = {shorter for names in self._names for shorter in self._without_input(names)}

    def __contains__(self, node: exp.Expr) -> bool:
        if (own := names_of(node)) is None:
            return node in self._written
        names = _folded(own)
        return names in self._shorter or not self._names.isdisjoint((names, *self._without_input(names)))

    def _without_input(self, names: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        """A column's names without those of its input."""
        return (names[i:] for i in range(1, len(names)) if names[i - 1] in self._inputs)


def _folded(names: list[str]) -> tuple[str, ...]:
    return tuple(name.casefold() for name in names)


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


@once
def _places(select: exp.Select) -> dict[int, int]:
    """The id of each input of a query -> its place among them."""
    return {id(relation): i for i, relation in enumerate(sources(select))}
