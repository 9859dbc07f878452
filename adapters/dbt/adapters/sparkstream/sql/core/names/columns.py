"""Columns of relations, as far as the statement and the schema tell."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.errors import TokenError
from sqlglot.tokens import TokenType

from dbt.adapters.sparkstream.sql.core.errors import ArgumentError
from dbt.adapters.sparkstream.sql.core.matching import ROWTIME, MatchRecognize, match_of
from dbt.adapters.sparkstream.sql.core.names.paths import is_called, names_of, output_name, unused_name
from dbt.adapters.sparkstream.sql.core.names.scope import (
    Column,
    Columns,
    DottedNames,
    find_cte,
    joined,
    joins_of,
    merged_names,
    sources,
)
from dbt.adapters.sparkstream.sql.core.nested import fields
from dbt.adapters.sparkstream.sql.core.nodes import Opaque, cells, enclosing, excepted
from dbt.adapters.sparkstream.sql.core.schema import Schema
from dbt.adapters.sparkstream.sql.core.types import NTZ, plain_type
from dbt.adapters.sparkstream.sql.core.typing import SPARK, TypeRules
from dbt.adapters.sparkstream.sql.core.unnested import Unnested, unnested
from dbt.adapters.sparkstream.sql.core.windows import AUXILIARY, BOUNDS, WINDOW_COLUMNS, WindowFunction

_SPARK = Spark()
UNKNOWN = Columns(complete=False)
NO_SELECT = exp.Select()
"""The query around an expression that stands in no query, such as a condition alone."""


class Resolver:
    """Finds the columns of relations, through CTEs, subqueries and window functions, and the types of expressions.

    Attributes:
        wall_bounds: True if window_start and window_end are TIMESTAMP_NTZ whatever the time column is, as in Flink;
            else they have its type, as window_time always does.
    """

    def __init__(self, schema: Schema | None, rules: TypeRules = SPARK, *, wall_bounds: bool = False) -> None:
        self.wall_bounds = wall_bounds
        self._rules = rules
        self._names = DottedNames(self.columns, rules.bare_fields)
        self._tables = {_key(name): columns for name, columns in (schema or {}).items()}
        # The entry holds the node, too: Python gives the id of a node that is gone to a new node.
        self._known: dict[int, tuple[exp.Expr, Columns]] = {}
        self._read: dict[tuple[int, int], tuple[exp.Expr, exp.Select, Column]] = {}

    def columns(self, relation: exp.Expr) -> Columns:
        """The columns of a relation in FROM, or of a query."""
        key = id(relation)
        if key not in self._known:
            self._known[key] = relation, UNKNOWN  # ends a recursive CTE
            self._known[key] = relation, self._columns(relation)
        return self._known[key][-1]

    def _columns(self, relation: exp.Expr) -> Columns:
        if relation.args.get("pivots") or isinstance(relation, Opaque):
            return UNKNOWN
        if isinstance(relation, exp.Subquery):
            inputs = joined(relation)
            if inputs[0] is not relation:  # a join in parentheses
                return sum(map(self.columns, inputs), Columns())
            return self.columns(relation.this).renamed(relation.alias_column_names)
        if isinstance(relation, exp.Table):
            return self.of_table(relation).renamed(relation.alias_column_names)
        if isinstance(relation, WindowFunction):
            return self._window(relation)
        if isinstance(relation, MatchRecognize):
            return self._match(relation).renamed(relation.alias_column_names)
        if isinstance(relation, exp.SetOperation):
            return self._set_operation(relation)
        if isinstance(relation, exp.Select):
            return self._select(relation)
        if isinstance(relation, exp.Values):
            return self._values(relation)
        if isinstance(relation, exp.Unnest):
            rows = self.unnested(relation)
            return Columns(tuple(Column(*each) for each in rows.columns), rows.complete)
        if isinstance(relation, exp.Lateral):
            return self.columns(relation.this).renamed(relation.alias_column_names)
        return UNKNOWN

    def unnested(self, unnest: exp.Unnest) -> Unnested:
        """The rows of an UNNEST: names and types of their columns."""
        select = enclosing(unnest, exp.Select) or NO_SELECT
        return unnested(unnest, self.type(unnest.expressions[0], select) if unnest.expressions else None)

    def _values(self, values: exp.Values) -> Columns:
        rows = [row.expressions if isinstance(row, exp.Tuple) else [row] for row in values.expressions]
        if self._rules.unnamed:  # VALUES ROW(1, 2) are two columns in Flink
            rows = list(map(cells, values.expressions))
        names = values.alias_column_names
        if not names and self._rules.unnamed:
            names = [self._rules.unnamed.format(position=i) for i in range(len(rows[0]))]
            alias = values.args.get("alias")
            if len(names) == 1 and alias and "start" in alias.this.meta:
                names = [values.alias]  # Flink gives the only column the name of its table
        if any(len(row) != len(names) for row in rows):
            return UNKNOWN
        columns = ([self.type(row[i], NO_SELECT) for row in rows] for i in range(len(names)))
        return Columns(tuple(Column(n, self._rules.numbers.common(c)) for n, c in zip(names, columns, strict=True)))

    def _set_operation(self, operation: exp.SetOperation) -> Columns:
        left, right = self.columns(operation.this), self.columns(operation.expression)
        if not (left.complete and right.complete and len(left.items) == len(right.items)):
            return Columns(tuple(Column(c.name) for c in left.items), left.complete)
        pairs = zip(left.items, right.items, strict=True)
        common = self._rules.numbers.common
        return Columns(tuple(a if a.type == b.type else replace(a, type=common([a.type, b.type])) for a, b in pairs))

    def of_table(self, table: exp.Table) -> Columns:
        """The columns of a table or a CTE under their own names, whatever its alias calls them."""
        if isinstance(table.this, WindowFunction):
            return self.columns(table.this)
        if cte := find_cte(table):
            return self.columns(cte.this).renamed(cte.alias_column_names)
        known = self._tables.get(tuple(part.name.casefold() for part in table.parts))
        if not known:
            return UNKNOWN
        return Columns(tuple(Column(name, plain_type(type_)) for name, type_ in known.items()))

    def _window(self, function: WindowFunction) -> Columns:
        rows = self.columns(function.this)
        time = rows.find(function.timecol.name)
        added = tuple(Column(name, self._type_of(name, time.type if time else None), name) for name in WINDOW_COLUMNS)
        return rows + Columns(added)

    def _match(self, match: MatchRecognize) -> Columns:
        """The columns of PARTITION BY, then the measures."""
        keys = (replace(self.expression(key, NO_SELECT), name=key.name) for key in match.keys)
        measures = (Column(m.alias, self.type(m.this, NO_SELECT)) for m in match.measures)
        return Columns((*keys, *measures))

    def _type_of(self, window_column: str, time_type: str | None) -> str | None:
        """The type of a window column, from the type of the time column."""
        return NTZ if self.wall_bounds and window_column in BOUNDS else time_type

    def _select(self, select: exp.Select) -> Columns:
        if select.args.get("pivots") or select.args.get("kind"):
            return UNKNOWN
        found: list[Column] = []
        complete = True
        for projection in select.expressions:
            if isinstance(projection, exp.Star) or (isinstance(projection, exp.Column) and projection.is_star):
                starred = self._star(select, projection)
                found += self._numbered(starred.items, found)
                complete = complete and starred.complete
            elif projection.is_star or isinstance(projection, (exp.Aliases, exp.QueryTransform)):
                complete = False
            else:
                column = self.expression(projection.unalias(), select)
                names = {known.name for known in found}
                name = output_name(projection) or self._rules.unnamed.format(position=len(names))
                if name:
                    found.append(Column(name, column.type, column.origin))
                else:
                    complete = False
        return Columns(tuple(found), complete)

    def _numbered(self, starred: Sequence[Column], before: Sequence[Column]) -> Sequence[Column]:
        """The columns of a star as a query around it knows them: Flink numbers a name that comes again."""
        if not self._rules.unnamed:
            return starred
        taken = {column.name for column in before}
        return [replace(column, name=unused_name(column.name, taken)) for column in starred]

    def _star(self, select: exp.Select, star: exp.Expr) -> Columns:
        excluded = excepted(star)
        if isinstance(star, exp.Column):
            rows = self.starred(select, star)
        else:
            rows = sum(map(self.columns, sources(select)), Columns())
            joins = joins_of(select)
            fewer = any(j.args.get("using") or j.method == "NATURAL" or j.kind in ("SEMI", "ANTI") for j in joins)
            if fewer or select.args.get("laterals"):
                rows = replace(rows, complete=False)
        if excluded:
            gone = {e.name.casefold() for e in excluded}
            rows = Columns(tuple(c for c in rows.items if c.name.casefold() not in gone), rows.complete)
        return rows

    def starred(self, select: exp.Select, star: exp.Column) -> Columns:
        """The columns of `t.*`, or of `r.*` with the fields of a row r."""
        names = (names_of(star) or [])[:-1]
        named = [s for s in sources(select) if is_called(s, names)]
        if named:
            return self.columns(named[0])
        found = self._names.meant(names, star, select)
        inner = fields(found[0].type) if found and len(found) == 1 else None
        return UNKNOWN if inner is None else Columns(tuple(Column(*each) for each in inner))

    def type(self, node: exp.Expr | None, select: exp.Select) -> str | None:
        """The Spark type of an expression in a query, or None where it isn't known."""
        return self.expression(node, select).type if isinstance(node, exp.Expr) else None

    def expression(self, node: exp.Expr, select: exp.Select) -> Column:
        """Type of an expression in a query, and its origin if it is a window's column or PROCTIME()."""
        key = id(node), id(select)
        if key not in self._read:  # else each level of a long expression would ask for all below it again
            self._read[key] = node, select, self._expression(node, select)
        return self._read[key][-1]

    def _expression(self, node: exp.Expr, select: exp.Select) -> Column:
        if isinstance(node, exp.Paren):
            return self.expression(node.this, select)
        if isinstance(node, exp.Subquery):
            return Column("", self._scalar(node))
        known: Column | None = None
        if isinstance(node, exp.Column) or (isinstance(node, exp.Dot) and names_of(node)):
            known = self.find(node, select) or Column(node.name)
        elif isinstance(node, exp.Anonymous):
            known = self._call(node, select)
        if known and known.type is not None:
            return known
        type_ = self._rules.type_of(node, lambda operand: self.type(operand, select))
        return replace(known, type=type_) if known and type_ else known or Column("", type_)

    def _scalar(self, query: exp.Subquery) -> str | None:
        """The type of a scalar subquery's value."""
        inner = query.unnest()
        if isinstance(inner, exp.Select) and len(inner.expressions) == 1 and not inner.expressions[0].is_star:
            return self.type(inner.expressions[0], inner)
        columns = self.columns(query)
        return columns.items[0].type if len(columns.items) == 1 else None

    def _call(self, node: exp.Anonymous, select: exp.Select) -> Column | None:
        """Type and origin of PROCTIME(), MATCH_ROWTIME(), TUMBLE_START(ts, ...) and its like; None for other calls."""
        name = node.name.upper()
        if name == "PROCTIME":
            return Column("", "timestamp", "proctime")
        match = match_of(node) if name == ROWTIME else None
        if match is not None:
            return Column("", self.type(match.order[0].this, select))
        _, bound = AUXILIARY.get(name, ("", "PROCTIME"))
        if bound == "PROCTIME":
            return None
        time = self.type(node.expressions[0], select) if node.expressions else None
        origin = f"window_{'time' if bound == 'ROWTIME' else bound.lower()}"
        return Column("", self._type_of(origin, time), origin)

    def find(self, column: exp.Expr, select: exp.Select) -> Column | None:
        """The column that a reference means, where exactly one can be meant: of FROM, or of a query around.

        A column of USING is one, if it has one type on all sides.
        """
        found = self.candidates(column, select)
        if not found or len({each.type for each in found}) > 1:
            return None
        merged = isinstance(column, exp.Column) and not column.table and column.name.casefold() in merged_names(select)
        return found[0] if merged or len(found) == 1 else None

    def candidates(self, column: exp.Expr, select: exp.Select) -> list[Column] | None:
        """The columns that a reference may mean, or fields of them; None where columns in scope are unknown.

        Args:
            column: a name such as `v`, `t.v`, `r.v` (v of the row r) or `t.r.v`.
        """
        match = match_of(column)
        if match is not None:
            rows = self.columns(match.this)
            known = rows.find(column.name)
            return [known] if known else [] if rows.complete else None
        return self._names.meant(names_of(column) or [], column, select)

    def own(self, column: exp.Expr, select: exp.Select) -> bool:
        """True if a name means a column of the query's own inputs, and not of a query around it."""
        return self._names.is_own(names_of(column) or [], column, select)


def _key(name: str) -> tuple[str, ...]:
    """The parts of a table's name: `a.b`, or with backticks as in a statement."""
    parts = name.casefold().split(".")
    if "`" in name:
        with suppress(TokenError):
            tokens = _SPARK.tokenize(name)
            parts = [token.text.casefold() for token in tokens[::2]]
            if len(tokens) != 2 * len(parts) - 1 or {dot.token_type for dot in tokens[1::2]} - {TokenType.DOT}:
                parts = []
    if not parts or not all(parts) or "`" in parts[0][:1]:
        raise ArgumentError(f"schema: {name!r} is no name of a table")
    return tuple(parts)
