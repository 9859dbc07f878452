"""Relations in FROM in Flink SQL: LATERAL, and UNNEST, which is Spark's explode and inline."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.literals import quoted, string_literal
from dbt.adapters.sparkstream.sql.core.names.columns import Resolver
from dbt.adapters.sparkstream.sql.core.names.paths import names_of
from dbt.adapters.sparkstream.sql.core.names.scope import sources
from dbt.adapters.sparkstream.sql.core.source import Edit
from dbt.adapters.sparkstream.sql.core.tree import enclosing
from dbt.adapters.sparkstream.sql.core.unnested import Pieces, Unnested, names_given
from dbt.adapters.sparkstream.sql.core.windows import WindowFunction
from dbt.adapters.sparkstream.sql.passes.flink.grouping import has_aggregate
from dbt.adapters.sparkstream.sql.passes.flink.rewriter import Rewriter, handles

_ROW = "__row"
"""A row that UNNEST gives, where a condition speaks of it."""


class Relations(Rewriter):
    """Edits UNNEST(...) with the joins of it, and LATERAL.

    Spark answers a LATERAL JOIN that has a condition, and every LEFT one, by taking the distinct arrays apart and
    joining the result with the rows, which it can't for maps. A CROSS JOIN takes each row's array apart in its place.
    So a condition becomes a filter of the array, and a LEFT JOIN a CROSS JOIN with EXPLODE_OUTER, which has a row of
    NULLs for an array without elements.
    """

    @handles(exp.Lateral)
    def _lateral(self, node: exp.Lateral) -> Iterator[Edit]:
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

    # -- UNNEST ------------------------------------------------------------------------------------------
    @handles(exp.Unnest)
    def _unnest(self, node: exp.Unnest) -> Iterator[Edit]:
        rows = self._checked(node)
        relation = node.parent if isinstance(node.parent, exp.Lateral) else node
        join, span = relation.parent, self.source.span(relation)
        if not isinstance(join, exp.Join):
            yield Edit(span, lambda: self._relation(relation, rows, self._call(node, rows)))
            return
        left, on = join.side == "LEFT", join.args.get("on")
        if isinstance(on, exp.Boolean) and not on._meta:  # sqlglot has made it up
            on = None
        condition = None if isinstance(on, exp.Boolean) and on.this else on
        if condition is not None and rows.kind is Pieces.ROWS and not rows.fields:
            # The names of the fields aren't known, which a filter would need.
            yield Edit(span, lambda: f"LATERAL {self._relation(relation, rows, self._call(node, rows))}")
            return
        if condition is not None:
            yield from self._references(relation, rows, condition)

        def text() -> str:
            where = self.text(condition) if condition is not None else None
            return f"LATERAL {self._relation(relation, rows, self._call(node, rows, where, outer=left))}"

        if on is None:
            yield Edit(span, text)
        else:
            yield Edit((self.join_start(span), self.source.span(on)[1]), lambda: f"CROSS JOIN {text()}", level=1)

    def _checked(self, node: exp.Unnest) -> Unnested:
        """The rows of an UNNEST; refuses a second array and names that don't fit, which would be dropped."""
        if len(node.expressions) != 1:
            self.refuse(node, "UNNEST takes one array or map", "join UNNEST(a) and UNNEST(b), each with its ordinality")
        rows, given = self.resolver.unnested(node), names_given(node)
        if given and len(given) != len(rows.columns):
            count = len(rows.columns)
            names = f"{count} column{'' if count == 1 else 's'}: {', '.join(name for name, _ in rows.columns)}"
            self.refuse(node, f"this names {len(given)} columns, and UNNEST gives {names}")
        return rows

    def _references(self, relation: exp.Expr, rows: Unnested, condition: exp.Expr) -> Iterator[Edit]:
        """Columns of UNNEST in a condition, as the variables of a filter."""
        alias = relation.alias_or_name.casefold()
        variables = self._variables(rows)
        select = enclosing(relation, exp.Select)
        others = [s for s in sources(select) if s is not relation] if select else []
        for node in condition.find_all(exp.Column, exp.Dot):
            names = names_of(node)
            if names is None or names_of(node.parent) is not None:
                continue
            if len(names) > 1 and names[0].casefold() == alias:
                names = names[1:]
            elif any(s.alias_or_name.casefold() == names[0].casefold() for s in others if len(names) > 1):
                continue
            if names[0].casefold() in variables:
                path = ".".join([variables[names[0].casefold()], *map(quoted, names[1:])])
                yield Edit(self.source.span(node), lambda path=path: path)  # type: ignore[misc]

    def _variables(self, rows: Unnested) -> dict[str, str]:
        """Name of a column -> how a filter says it."""
        names = [name for name, _ in rows.columns]
        if rows.kind is Pieces.ROWS and not rows.ordinal:
            return {name.casefold(): f"{_ROW}.{quoted(own)}" for name, own in zip(names, rows.fields, strict=True)}
        return {name.casefold(): f"{_ROW}.{quoted(name)}" if rows.ordinal else quoted(name) for name in names}

    def _call(self, node: exp.Unnest, rows: Unnested, condition: str | None = None, *, outer: bool = False) -> str:
        """A call of Spark's that gives the rows."""
        value, suffix = self.text(node.expressions[0]), "_OUTER" if outer else ""
        names = [quoted(name) for name, _ in rows.columns]
        if rows.ordinal and rows.kind is Pieces.ROWS and not rows.fields:
            return f"(SELECT col.*, pos + 1 FROM POSEXPLODE{suffix}({value}))"
        if rows.ordinal:
            value = self._numbered(value, rows)
            filtered = f"FILTER({value}, {_ROW} -> {condition})"
        elif rows.kind is Pieces.ROWS:  # Flink leaves out rows that are NULL
            filtered = f"FILTER({value}, {_ROW} -> {_ROW} IS NOT NULL AND ({condition}))"
            value = f"ARRAY_COMPACT({value})"
        elif rows.kind is Pieces.ENTRIES:
            filtered = f"MAP_FILTER({value}, ({', '.join(names)}) -> {condition})"
        else:
            filtered = f"FILTER({value}, {names[0]} -> {condition})"
        function = "INLINE" if rows.ordinal or rows.kind is Pieces.ROWS else "EXPLODE"
        return f"{function}{suffix}({value if condition is None else filtered})"

    def _numbered(self, value: str, rows: Unnested) -> str:
        """An array of the rows with their ordinality."""
        if rows.kind is Pieces.ENTRIES:
            value, parts = f"MAP_ENTRIES({value})", ["e.key", "e.value"]
        else:
            parts = [f"e.{quoted(name)}" for name in rows.fields] if rows.kind is Pieces.ROWS else ["e"]
        names = [string_literal(name) for name, _ in rows.columns]
        items = ", ".join(f"{n}, {part}" for n, part in zip(names, [*parts, "i + 1"], strict=True))
        return f"TRANSFORM({value}, (e, i) -> NAMED_STRUCT({items}))"

    def _relation(self, relation: exp.Expr, rows: Unnested, call: str) -> str:
        """The call with its alias, and with the names that Flink gives its columns."""
        alias = quoted(relation.alias) if relation.alias else ""
        own = rows.kind is Pieces.ROWS and tuple(name for name, _ in rows.columns) == rows.fields
        if own or (rows.ordinal and call.startswith("INLINE")):  # they have their names from the row
            return f"{call} AS {alias}" if alias else call
        return f"{call} AS {alias or '__unnest'}({', '.join(quoted(name) for name, _ in rows.columns)})"


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
