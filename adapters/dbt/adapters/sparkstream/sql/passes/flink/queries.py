"""Queries of Flink SQL: UNION, LIMIT, OFFSET, FETCH, TABLESAMPLE, keys of ORDER BY and names of columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from math import isfinite

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.literals import backticked, quoted
from dbt.adapters.sparkstream.sql.core.names.paths import output_name, unused_name
from dbt.adapters.sparkstream.sql.core.names.scope import joins_of, sources
from dbt.adapters.sparkstream.sql.core.nodes import own
from dbt.adapters.sparkstream.sql.core.source import SPAN, Edit
from dbt.adapters.sparkstream.sql.passes.flink.grouping import is_aggregated
from dbt.adapters.sparkstream.sql.passes.flink.rewriter import Rewriter, cast, constant, handles, widened

_WORDS = (exp.CurrentDate, exp.CurrentTimestamp)
_KEY = "__order_"


class FlinkQueries(Rewriter):
    """Edits queries and their clauses."""

    # -- SELECT ------------------------------------------------------------------------------------------
    @handles(exp.Select)
    def _select(self, select: exp.Select) -> Iterator[Edit]:
        yield from self._ordered_by(select)
        group = select.args.get("group")
        for key in group.expressions if group else []:
            if isinstance(key, exp.Literal) and key.is_number:  # a constant to Flink, the place of a column to Spark
                self.refuse(key, "GROUP BY takes no positions", "repeat the expression")
        yield from self._named(select)

    # -- UNION, EXCEPT, INTERSECT ------------------------------------------------------------------------
    @handles(exp.Union, exp.Except, exp.Intersect)
    def _set_operation(self, node: exp.SetOperation) -> Iterator[Edit]:
        yield from self._ordered_set(node)
        around = node.parent
        while isinstance(around, exp.Subquery):  # parentheses, also those of a set operation that binds tighter
            around = around.parent
        if isinstance(around, exp.SetOperation):
            return
        results = [column.type for column in self.resolver.columns(node).items]
        for select in _sides(node):
            columns = self.resolver.columns(select)
            if not columns.complete or len(columns.items) != len(results):
                continue
            needed = [widened(column.type, result) for column, result in zip(columns.items, results, strict=True)]
            if len(select.expressions) == len(results) and not any(p.is_star for p in select.expressions):
                for projection, type_ in zip(select.expressions, needed, strict=True):
                    yield from self._column(projection, type_)
            elif any(needed):
                names = [quoted(column.name) for column in columns.items]
                outputs = [
                    name if type_ is None else f"{cast(name, type_)} AS {name}"
                    for name, type_ in zip(names, needed, strict=True)
                ]
                text = lambda s=select, o=outputs: f"SELECT {', '.join(o)} FROM ({self.text(s)})"  # noqa: E731
                yield self.edit(select, text, level=1)

    def _column(self, projection: exp.Expr, type_: str | None) -> Iterator[Edit]:
        """A column of a SELECT in a type; it keeps its name."""
        value = projection.unalias()
        if type_ is not None and projection is value and isinstance(value, exp.Column):
            named = lambda: f"{cast(self.text(value), type_)} AS {quoted(value.name)}"  # noqa: E731
            yield self.edit(value, named, level=2)
        else:
            yield from self.as_type(value, type_)

    # -- LIMIT, OFFSET, TABLESAMPLE ----------------------------------------------------------------------
    @handles(exp.Limit, exp.Fetch)
    def _limit(self, node: exp.Limit | exp.Fetch) -> Iterator[Edit]:
        """Spark has neither FETCH nor `LIMIT 1, 2`, and takes LIMIT before OFFSET."""
        options = node.args.get("limit_options")
        if options and (options.args.get("percent") or options.args.get("with_ties")):
            return  # LIMIT has neither, and Spark refuses FETCH
        span = self.source.span(node)
        offset = node.parent.args.get("offset") if node.parent else None
        if isinstance(offset, exp.Offset) and (SPAN not in offset.meta or self.source.span(offset)[0] < span[0]):
            span = min(self.source.span(offset)[0], span[0]), span[1]
        elif isinstance(node, exp.Fetch):
            offset = None
        else:
            return
        number = node.args.get("count") or node.args.get("expression")

        def text() -> str:
            limit = f"LIMIT {self.text(number) if number else 1}"
            return f"{limit} OFFSET {self.source.written(offset.expression)}" if offset else limit

        yield Edit(span, text, level=1)

    @handles(exp.Offset)
    def _offset(self, node: exp.Offset) -> Iterator[Edit]:
        if SPAN in node.meta:  # the 1 of LIMIT 1, 2 has none
            yield self.edit(node, lambda: f"OFFSET {self.text(node.expression)}")

    @handles(exp.TableSample)
    def _sample(self, node: exp.TableSample) -> Iterator[Edit]:
        """`TABLESAMPLE BERNOULLI (10)` takes ten of a hundred rows."""
        if str(node.args.get("method") or "").upper() != "BERNOULLI" or node.args.get("size") is None:
            return
        tokens = self.source.tokens
        at = tokens.at(self.source.span(node.args["size"])[0])
        percentage = tokens[at].text
        yield Edit((tokens[at - 2].start, tokens[at + 1].end + 1), lambda: f"({percentage} PERCENT)")

    # -- names of columns ----------------------------------------------------------------------------------
    def _named(self, select: exp.Select) -> Iterator[Edit]:
        """Names output columns as Flink does: EXPR$0, EXPR$1 by position, and a number behind a repeated name."""
        if not _names_matter(select):
            yield from self._lone_text(select)
            return
        taken: set[str] = set()
        written: set[str] = set()
        # A column without a name is numbered by the columns before it; with aggregates, by their different names.
        grouped = is_aggregated(select)
        for projection in select.expressions:
            if projection.is_star:
                stars = self._star(select, projection, taken, written)
                if stars is None:
                    return
                yield from stars
                continue
            called = "" if self._has_plus(projection) else output_name(projection)
            name = called or self._word(projection) or f"EXPR${len(written) if grouped else len(taken)}"
            written.add(name)
            given = unused_name(name, taken)
            quoted = backticked(given)
            yield from self._ordered(select, projection, quoted)
            if given != name and isinstance(projection, exp.Alias):
                yield self.edit(projection.args["alias"], lambda n=quoted: n)  # type: ignore[misc]
            elif given != name or not called:
                text = lambda p=projection, n=quoted: f"{self.text(p)} AS {n}"  # noqa: E731
                yield self.edit(projection, text, level=3)

    def _has_plus(self, projection: exp.Expr) -> bool:
        """True for `+a`, a column without a name in Flink, which is a column to sqlglot."""
        column = projection.unnest()
        return isinstance(column, exp.Column) and self.source.written(column).startswith("+")

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
        """Replaces a key of ORDER BY that repeats an output column by its name: behind DISTINCT, Spark needs that."""
        order, value = select.args.get("order"), projection.unalias()
        if select.args.get("distinct") and order is not None and not isinstance(value, exp.Column):
            for item in order.expressions:
                if item.this == value:
                    yield self.edit(item.this, lambda: name)

    def _star(self, select: exp.Select, star: exp.Expr, taken: set[str], written: set[str]) -> list[Edit] | None:
        """Writes out a star that brings a name again; None where its columns aren't all known.

        `t.*` of a join with USING is written out, too: Spark puts the columns of USING first.
        """
        columns = self._behind(select, star)
        if columns is None:
            return None
        written.update(name for _, name in columns)
        named = [(column, name, unused_name(name, taken)) for column, name in columns]
        known = all(name == given for _, name, given in named) and not (
            isinstance(star, exp.Column) and _merges(select)
        )
        if known or not all(column for column, _, _ in named):
            return []
        items = [column + ("" if name == given else f" AS {backticked(given)}") for column, name, given in named]
        inputs = [(self.source.span(s)[1], alias) for s, alias in _unnamed(select)]
        return [
            self.edit(star, lambda: ", ".join(items)),
            *(Edit.to((end, end), f" AS {alias}") for end, alias in inputs),
        ]

    def _behind(self, select: exp.Select, star: exp.Expr) -> list[tuple[str, str]] | None:
        """The columns that a star stands for, as Spark SQL (empty where it has none) and by name; None if unknown."""
        table = star.table.casefold() if isinstance(star, exp.Column) else ""
        scope = [s for s in sources(select) if not table or s.alias_or_name.casefold() == table]
        if not scope and isinstance(star, exp.Column):  # the fields of a row
            row, rows = self.source.written(star).rpartition(".")[0], self.resolver.starred(select, star)
            return [(f"{row}.{backticked(c.name)}", c.name) for c in rows.items] if rows.complete else None
        if not all(self.resolver.columns(s).complete for s in scope):
            return None
        if not table and _merges(select):
            return self._merged(select, scope)
        unnamed = {id(s): alias for s, alias in _unnamed(select)}
        columns = [
            (s.alias_or_name or unnamed.get(id(s), ""), c.name) for s in scope for c in self.resolver.columns(s).items
        ]
        return [(f"{backticked(t)}.{backticked(n)}" if t else "", n) for t, n in columns]

    def _merged(self, select: exp.Select, scope: list[exp.Expr]) -> list[tuple[str, str]] | None:
        """The columns of a join by USING or NATURAL: columns that both sides have come first, once."""
        if len(scope) != 2:
            return None
        join = joins_of(select)[0]
        left, right = (self.resolver.columns(side).items for side in scope)
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

    # -- keys of ORDER BY ----------------------------------------------------------------------------------
    def _ordered_by(self, node: exp.Select) -> Iterator[Edit]:
        """Edits the keys of ORDER BY of a SELECT."""
        names = self._names(node)
        folded: dict[str, list[str]] = {}
        for name in names:
            folded.setdefault(name.casefold(), []).append(name)
        for item in _items(node):
            key = item.this
            number = constant(key)
            if number is not None:
                yield from self._place(key, number)
                continue
            for column in own(key, exp.Column):
                if not column.table:
                    self._check_name(column, folded)
        yield from self._windows(node, names)

    def _windows(self, select: exp.Select, names: list[str]) -> Iterator[Edit]:
        """Wraps a query whose ORDER BY has a window function into another query: Spark sorts by none."""
        keys = [item.this for item in _items(select)]
        windows = [key for key in keys if any(True for _ in own(key, exp.Window))]
        within = select.args.get("distinct") or isinstance(select.parent, exp.SetOperation)
        if not windows or within:
            return
        values: list[str] = []
        for key in keys:
            if constant(key) is None and not (isinstance(key, exp.Column) and not key.table and key.name in names):
                self._check_aliases(select, key)
                yield self.edit(key, lambda k=key: self._taken(k, values), level=9)  # type: ignore[misc]
        start, end = self.source.span(select)
        behind = self.source.span(select.expressions[-1])[1]
        tokens = self.source.tokens
        order = tokens[tokens.at(self.source.span(select.args["order"])[0]) - 1].start  # at ORDER BY

        def text() -> str:
            more = ", ".join(f"{value} AS {_KEY}{i}" for i, value in enumerate(values))
            gone = ", ".join(f"{_KEY}{i}" for i in range(len(values)))
            inner = f"{self.source.render((start, behind))}, {more}{self.source.render((behind, order)).rstrip()}"
            return f"SELECT * EXCEPT ({gone}) FROM ({inner}) {self.source.render((order, end), behind=True)}"

        yield Edit((start, end), text, level=9)

    def _check_aliases(self, select: exp.Select, key: exp.Expr) -> None:
        """Refuses the alias of another value in a key that becomes a column: there it would mean an input column."""
        named = {p.alias.casefold(): p.this for p in select.expressions if isinstance(p, exp.Alias)}
        for column in key.find_all(exp.Column):
            value = named.get(column.name.casefold()) if not column.table else None
            if value is not None and output_name(value).casefold() != column.name.casefold():
                self.refuse(column, f"{column.name} is an alias, beside a window function", "repeat what it stands for")

    def _taken(self, key: exp.Expr, values: list[str]) -> str:
        """Name of a key as a column of the inner query; adds the key to `values`."""
        values.append(self.text(key))
        return f"{_KEY}{len(values) - 1}"

    def _ordered_set(self, node: exp.SetOperation) -> Iterator[Edit]:
        """Edits the keys of ORDER BY of a UNION, EXCEPT or INTERSECT."""
        if not _items(node):
            return
        first: exp.Expr = node
        while isinstance(first, (exp.SetOperation, exp.Subquery, exp.Paren)):
            first = first.this
        names = self._names(first) if isinstance(first, exp.Select) else []
        twice = next((name for name, times in Counter(names).items() if name and times > 1), None)
        for item in _items(node):
            key, number = item.this, constant(item.this)
            if twice is not None:  # also where the key is a column that stands once (measured in 2.3)
                self._refuse_twice(key, twice)
            if number is not None:
                yield from self._place(key, number)

    def _names(self, select: exp.Select) -> list[str]:
        """Names of a query's columns for ORDER BY, as far as they are known.

        A column of a star gets a number behind a name that an earlier column has; a column that is written out keeps
        its name, also a repeated one (measured in 2.3).
        """
        names: list[str] = []
        for projection in select.expressions:
            if not projection.is_star:
                names.append(output_name(projection))
                continue
            taken, columns = {*names}, self._behind(select, projection) or ()
            names += [unused_name(name, taken) for _, name in columns]
        return names

    def _place(self, key: exp.Expr, number: float) -> Iterator[Edit]:
        """Edits the place of a column in ORDER BY: Flink cuts its fraction, and takes a negative one for a constant."""
        if number < 0:
            yield self.edit(key, lambda: f"CAST({self.text(key)} AS INT)")
            return
        if not self.source.written(key).isdecimal() and isfinite(number):
            yield self.edit(key, lambda: str(int(number)))

    def _check_name(self, column: exp.Column, folded: dict[str, list[str]]) -> None:
        alike = folded.get(column.name.casefold(), [])
        if alike.count(column.name) > 1:
            self._refuse_twice(column, column.name)
        if len({*alike}) > 1:
            self.refuse(
                column, f"Spark doesn't tell {' from '.join(dict.fromkeys(alike))}", "call one of them otherwise"
            )

    def _refuse_twice(self, key: exp.Expr, name: str) -> None:
        self.refuse(
            key, f"{name} is ambiguous: two columns of this query are called so", "call one of them otherwise, with AS"
        )


def _sides(node: exp.Expr) -> Iterator[exp.Select]:
    """The SELECTs of a set operation."""
    if isinstance(node, exp.SetOperation):
        yield from _sides(node.this)
        yield from _sides(node.expression)
    elif isinstance(node, exp.Subquery):
        yield from _sides(node.this)
    elif isinstance(node, exp.Select):
        yield node


def _names_matter(select: exp.Select) -> bool:
    """True if the names of a query's columns are visible, in the result or to a query around it."""
    node: exp.Expr = select
    while isinstance(node.parent, exp.SetOperation):
        if node.arg_key != "this":
            return False
        node = node.parent
    if isinstance(node.parent, exp.Subquery):
        return isinstance(node.parent.parent, (exp.From, exp.Join, exp.Lateral))
    return node.parent is None or isinstance(node.parent, (exp.CTE, exp.Create, exp.Insert))


def _merges(select: exp.Select) -> bool:
    """True if a query has a join with USING, or a NATURAL one."""
    return any(join.args.get("using") or join.method for join in joins_of(select))


def _unnamed(select: exp.Select) -> list[tuple[exp.Expr, str]]:
    """The inputs in FROM that have no name, each with one for the columns of a star; UNNEST has one in Spark SQL."""
    inputs = enumerate(sources(select), start=1)
    return [(s, f"__input_{i}") for i, s in inputs if not s.alias_or_name and not isinstance(s, exp.Unnest)]


def _items(query: exp.Expr) -> list[exp.Expr]:
    order = query.args.get("order")
    return order.expressions if isinstance(order, exp.Order) else []
