"""Relations in FROM of Flink SQL, UNNEST and LATERAL, and subqueries in expressions: IN, EXISTS, SOME and ALL."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp
from sqlglot.tokens import TokenType

from dbt.adapters.sparkstream.sql.core.literals import quoted, string_literal
from dbt.adapters.sparkstream.sql.core.names.columns import Resolver
from dbt.adapters.sparkstream.sql.core.names.paths import names_of
from dbt.adapters.sparkstream.sql.core.names.scope import sources
from dbt.adapters.sparkstream.sql.core.nodes import enclosing, row_values
from dbt.adapters.sparkstream.sql.core.source import Edit
from dbt.adapters.sparkstream.sql.core.unnested import Pieces, Unnested, names_given
from dbt.adapters.sparkstream.sql.core.windows import WindowFunction
from dbt.adapters.sparkstream.sql.passes.flink.functions import is_aggregate_call
from dbt.adapters.sparkstream.sql.passes.flink.grouping import has_aggregate, several_sets
from dbt.adapters.sparkstream.sql.passes.flink.rewriter import Rewriter, handles

_ROW = "__row"
"""Variable in a filter for a row of UNNEST."""


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
                yield Edit.to(self.source.span(node), path)

    def _variables(self, rows: Unnested) -> dict[str, str]:
        """Name of a column -> its SQL in a filter."""
        names = [name for name, _ in rows.columns]
        if rows.kind is Pieces.ROWS and not rows.ordinal:
            return {name.casefold(): f"{_ROW}.{quoted(own)}" for name, own in zip(names, rows.fields, strict=True)}
        return {name.casefold(): f"{_ROW}.{quoted(name)}" if rows.ordinal else quoted(name) for name in names}

    def _call(self, node: exp.Unnest, rows: Unnested, condition: str | None = None, *, outer: bool = False) -> str:
        """Spark SQL that gives the rows of an UNNEST, such as `EXPLODE(a)`."""
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
    """True if a query reads a column of the inputs of the SELECT around it."""
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


QUANTIFIERS = ("ALL", "SOME", "ANY")
_OPERATORS: dict[type[exp.Expr], str] = {
    exp.EQ: "=", exp.NEQ: "<>", exp.GT: ">", exp.GTE: ">=", exp.LT: "<", exp.LTE: "<="
}  # fmt: skip
_EXTREMES: dict[type[exp.Expr], tuple[str, str]] = {
    **dict.fromkeys((exp.GT, exp.GTE), ("MIN", "MAX")),
    **dict.fromkeys((exp.LT, exp.LTE), ("MAX", "MIN")),
}
"""Comparison -> the extremes of a subquery for SOME and for ALL: `x > ALL (q)` compares x with the MAX of q."""
_CLAUSES = (exp.Where, exp.Join, exp.Group, exp.From, exp.Lateral, exp.Select)


class Subqueries(Rewriter):
    """Edits tests of the values that a subquery or a list gives, and scalar subqueries in a query with GROUP BY."""

    # -- IN, EXISTS ----------------------------------------------------------------------------------------
    def of_in(self, node: exp.In) -> Iterator[Edit]:
        """`x IN (SELECT ...)`, `(a, b) IN (VALUES (1, 2))` and `ROW(a, b) IN (SELECT ...)`."""
        query = node.args.get("query")
        if isinstance(node.this, exp.Anonymous) and query and row_values(node.this):
            row = node.this
            yield Edit(self.source.call_span(row), lambda: f"({', '.join(map(self.text, row.expressions))})", level=1)
        if len(node.expressions) == 1 and isinstance(node.expressions[0], exp.Values):
            yield from self.selected(self.source.span(node.this)[1])
        if query is not None:
            yield from self._member(node, query)
            yield from self._in_sets(node, query)

    def selected(self, start: int) -> Iterator[Edit]:
        """Writes `SELECT * FROM` before the first `VALUES (` from a place on, which Spark takes for a call."""
        tokens = self.source.tokens
        at = next(i for i in tokens.within((start, len(self.source.text))) if tokens[i].text.upper() == "VALUES")
        if tokens[at + 1].token_type == TokenType.L_PAREN:
            place = tokens[at].start
            yield Edit((place, place), lambda: "SELECT * FROM ")

    def _member(self, node: exp.In, query: exp.Expr) -> Iterator[Edit]:
        """Edits `x IN (SELECT ...)` where NULL and FALSE differ: in WHERE, HAVING and ON, NULL counts as FALSE."""
        inner: exp.Expr = query.this
        while isinstance(inner, exp.Subquery) and inner.is_wrapper:
            inner = inner.this
        if inner is not query.this:  # in more parentheses, Spark reads a query of one row
            yield self.edit(query.this, lambda: self.text(inner))
        around = node.parent
        while isinstance(around, (exp.And, exp.Or, exp.Paren, exp.Not)):
            around = around.parent
        unseen = isinstance(around, (exp.Where, exp.Having, exp.Join))
        if unseen or isinstance(node.this, exp.Tuple) or _is_correlated(query.this):
            return

        def text() -> str:
            x = self.text(node.this)
            member = _member(f"({x})" if isinstance(node.this, exp.Binary) else x, self.text(query.this))
            return f"(NOT {member})" if self.source.is_negated(node) else member

        yield self.edit(node, text)

    # -- SOME and ALL --------------------------------------------------------------------------------------
    @handles(exp.All, exp.Any)
    def quantified(self, node: exp.Expr) -> Iterator[Edit]:
        """`x > ALL (q)` by the largest value of q; `> ALL (1, 2)` is a call to sqlglot.

        A comparison with every value is NULL where it is NULL for one and false for none. So all are true if q is
        empty, or if x is more than the largest and no value is NULL. SOME is its mirror image.
        """
        comparison = node.parent
        if not isinstance(comparison, exp.Binary) or type(comparison) not in _OPERATORS or node.arg_key != "expression":
            return
        every = isinstance(node, exp.All) or node.name.upper() == "ALL"
        listed = node.expressions
        values = node.this if isinstance(node, (exp.All, exp.Any)) else exp.Tuple(expressions=listed)
        if len(listed) == 1 and isinstance(listed[0], exp.Values):  # ALL (VALUES 1, 2)
            values = listed[0]
        while isinstance(values, (exp.Paren, exp.Subquery)) and isinstance(values.this, exp.Expr):
            values = values.this

        def text() -> str:
            x = self.text(comparison.left)
            x = f"({x})" if isinstance(comparison.left, exp.Binary) else x
            if isinstance(values, (exp.Query, exp.Values)):
                return _of_query(comparison, x, self.text(values), every)
            listed = map(self.text, values.expressions if isinstance(values, exp.Tuple) else [values])
            joint = " AND " if every else " OR "
            return f"({joint.join(f'{x} {_OPERATORS[type(comparison)]} {value}' for value in listed)})"

        yield self.edit(comparison, text)

    # -- with GROUP BY -------------------------------------------------------------------------------------
    @handles(exp.Subquery)
    def _scalar(self, node: exp.Subquery) -> Iterator[Edit]:
        """Takes `(SELECT MAX(e) FROM s WHERE s.h = t.b)` of a group's first row: it reads keys, equal in all rows.

        Spark wants such a subquery in GROUP BY, or in an aggregate.
        """
        if isinstance(node.parent, (exp.In, exp.Exists, exp.Any, exp.All)):
            return
        group = self._group_around(node, node.this)
        if group is not None:
            if several_sets(group):
                self._refuse_several(node)
            yield self.edit(node, lambda: f"FIRST({self.text(node)})", level=1)

    @handles(exp.Exists)
    def _exists(self, node: exp.Exists) -> Iterator[Edit]:
        yield from self._in_sets(node, node.this)

    def _in_sets(self, node: exp.Expr, query: exp.Expr) -> Iterator[Edit]:
        """EXISTS and IN in a query with several sets of keys: Spark plans it and fails as it runs (4.1 to 4.3)."""
        group = self._group_around(node, query)
        if group is not None and several_sets(group):
            self._refuse_several(node)
        yield from ()

    def _group_around(self, node: exp.Expr, query: exp.Expr) -> exp.Group | None:
        """The GROUP BY of the SELECT around a subquery that reads its columns, outside of aggregates."""
        query = query.unnest() if isinstance(query, exp.Expr) else query
        select = enclosing(node, *_CLAUSES)
        if not isinstance(query, exp.Select) or not isinstance(select, exp.Select):
            return None
        group: exp.Group | None = select.args.get("group")
        around = node.parent
        while group is not None and around is not None and around is not select:
            if is_aggregate_call(around):
                return None
            around = around.parent
        return group if group is not None and reads_around(self.resolver, query, select) else None

    def _refuse_several(self, node: exp.Expr) -> None:
        self.refuse(
            node,
            "beside several sets of keys, Spark takes no subquery that reads one of them",
            "group in a subquery, and write this one in a query around it",
        )


def is_exists_of_values(node: exp.Anonymous) -> bool:
    """True if a node is `EXISTS (VALUES ...)`."""
    return node.name.upper() == "EXISTS" and len(node.expressions) == 1 and isinstance(node.expressions[0], exp.Values)


def _of_query(comparison: exp.Binary, x: str, query: str, every: bool) -> str:
    """A comparison with some or every value that a query gives."""
    kind = type(comparison)
    if (kind, every) in ((exp.EQ, False), (exp.NEQ, True)):
        negated = "NOT " if every else ""
        if _is_conjunct(comparison):
            return f"{x} {negated}IN ({query})"
        # Elsewhere Spark's IN gives FALSE where it should be NULL.
        return f"({negated}{_member(x, query)})"
    extremes = [_EXTREMES[kind][every]] if kind in _EXTREMES else ["MIN", "MAX"]
    compared = [f"{x} {_OPERATORS[kind]} {_of(query, f'{extreme}(v)')}" for extreme in extremes]
    if every:
        compared.append(_of(query, "COUNT(*) = COUNT(v) OR NULL"))
        return f"({_of(query, 'COUNT(*)')} = 0 OR {' AND '.join(compared)})"
    return _if_any(query, " OR ".join(compared))


def _of(query: str, aggregate: str) -> str:
    """An aggregate over the values `v` that a query gives, as a subquery."""
    return f"(SELECT {aggregate} FROM ({query}) AS q(v))"


def _if_any(query: str, found: str) -> str:
    """`ANY` over a query: TRUE with a value that meets the condition, else NULL with a NULL value, else FALSE."""
    return f"({_of(query, 'COUNT(*)')} > 0 AND ({found} OR {_of(query, 'COUNT(*) > COUNT(v) AND NULL')}))"


def _member(x: str, query: str) -> str:
    """Condition that a query gives the value x; NULL where that isn't known, and where Spark's IN gives FALSE."""
    return _if_any(query, f"ARRAY_CONTAINS({_of(query, 'COLLECT_SET(v)')}, {x})")


def _is_correlated(query: exp.Expr) -> bool:
    """True if a column in a subquery is qualified by a table outside of it."""
    inside = {source.alias_or_name.casefold() for select in query.find_all(exp.Select) for source in sources(select)}
    return any(column.table and column.table.casefold() not in inside for column in query.find_all(exp.Column))


def _is_conjunct(condition: exp.Expr) -> bool:
    """True if a condition is in WHERE, alone or joined by AND, so that NULL counts as FALSE."""
    node = condition
    while isinstance(node.parent, (exp.And, exp.Paren)):
        node = node.parent
    return isinstance(node.parent, exp.Where)
