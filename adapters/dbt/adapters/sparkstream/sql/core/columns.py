"""Which columns a relation has, as far as the statement and the schema tell."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp
from sqlglot.errors import SqlglotError

from dbt.adapters.sparkstream.sql.core.errors import ArgumentError
from dbt.adapters.sparkstream.sql.core.literals import quoted
from dbt.adapters.sparkstream.sql.core.matching import ROWTIME, MatchRecognize, match_of
from dbt.adapters.sparkstream.sql.core.opaque import Opaque
from dbt.adapters.sparkstream.sql.core.schema import Schema
from dbt.adapters.sparkstream.sql.core.source import Source, Span
from dbt.adapters.sparkstream.sql.core.types import NTZ, TIMES, plain_type
from dbt.adapters.sparkstream.sql.core.typing import SPARK, TypeRules
from dbt.adapters.sparkstream.sql.core.windows import AUXILIARY, BOUNDS, WINDOW_COLUMNS, WindowFunction


@dataclass(frozen=True)
class Column:
    """A column of a relation.

    Attributes:
        name: its name as written.
        type: its Spark type (`timestamp_ntz`, `decimal(10,2)`), or None when unknown.
        origin: `window_start`, `window_end` or `window_time` of a window in the same statement, `proctime`, or None.
    """

    name: str
    type: str | None = None
    origin: str | None = None


@dataclass(frozen=True)
class Columns:
    """Columns of a relation; `complete` says whether the relation has no others."""

    items: tuple[Column, ...] = ()
    complete: bool = True

    def find(self, name: str) -> Column | None:
        """The column of a name, in any case."""
        key = name.casefold()
        return next((c for c in self.items if c.name.casefold() == key), None)

    def renamed(self, names: list[str]) -> Columns:
        """The same columns under the names of an alias' column list."""
        if not names:
            return self
        if not self.complete or len(names) != len(self.items):
            return Columns(tuple(Column(n) for n in names))
        return Columns(tuple(replace(c, name=n) for c, n in zip(self.items, names, strict=True)))

    def __add__(self, other: Columns) -> Columns:
        return Columns(self.items + other.items, self.complete and other.complete)


UNKNOWN = Columns(complete=False)
NO_SELECT = exp.Select()
"""Stands for the query around an expression that is in none."""


class Resolver:
    """Finds the columns of relations, through CTEs, subqueries and window functions, and the types of expressions.

    Attributes:
        wall_bounds: whether window_start and window_end are TIMESTAMP_NTZ whatever the time column is, as in Flink;
            else they have its type, as window_time always does.
    """

    def __init__(self, schema: Schema | None, rules: TypeRules = SPARK, *, wall_bounds: bool = False) -> None:
        self.wall_bounds = wall_bounds
        self._rules = rules
        self._tables = {_key(name): columns for name, columns in (schema or {}).items()}
        self._known: dict[int, Columns] = {}
        self._read: dict[tuple[int, int], tuple[exp.Expr, Column]] = {}

    def columns(self, relation: exp.Expr) -> Columns:
        """The columns of what stands in FROM, or of a query."""
        key = id(relation)
        if key not in self._known:
            self._known[key] = UNKNOWN  # ends a recursive CTE
            self._known[key] = self._columns(relation)
        return self._known[key]

    def _columns(self, relation: exp.Expr) -> Columns:
        if relation.args.get("pivots") or isinstance(relation, Opaque):
            return UNKNOWN
        if isinstance(relation, exp.Subquery):
            return self.columns(relation.this).renamed(relation.alias_column_names)
        if isinstance(relation, exp.Table):
            return self._table(relation).renamed(relation.alias_column_names)
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
        return UNKNOWN

    def _values(self, values: exp.Values) -> Columns:
        rows = [row.expressions if isinstance(row, exp.Tuple) else [row] for row in values.expressions]
        names = values.alias_column_names
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

    def _table(self, table: exp.Table) -> Columns:
        if isinstance(table.this, WindowFunction):
            return self.columns(table.this)
        if not table.args.get("db"):
            cte = find_cte(table)
            if cte:
                return self.columns(cte.this).renamed(cte.alias_column_names)
        known = self._tables.get(_parts(table))
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
                found += starred.items
                complete = complete and starred.complete
            elif projection.is_star or isinstance(projection, (exp.Aliases, exp.QueryTransform)):
                complete = False
            else:
                column = self.expression(projection.unalias(), select)
                named = isinstance(projection, (exp.Alias, exp.Column))
                name = projection.output_name if named else self._rules.unnamed.format(position=len(found))
                if name:
                    found.append(Column(name, column.type, column.origin))
                else:
                    complete = False
        return Columns(tuple(found), complete)

    def _star(self, select: exp.Select, star: exp.Expr) -> Columns:
        excluded = star.args.get("except_") or star.args.get("except")
        if isinstance(star, exp.Column):
            excluded = star.this.args.get("except_") or star.this.args.get("except")
            rows = next((self.columns(s) for s in sources(select) if s.alias_or_name == star.table), UNKNOWN)
        else:
            rows = Columns()
            for source in sources(select):
                rows += self.columns(source)
            joins = select.args.get("joins") or []
            if any(j.args.get("using") or j.method == "NATURAL" or j.kind in ("SEMI", "ANTI") for j in joins):
                rows = replace(rows, complete=False)
            if select.args.get("laterals"):
                rows = replace(rows, complete=False)
        if excluded:
            gone = {e.name.casefold() for e in excluded}
            rows = Columns(tuple(c for c in rows.items if c.name.casefold() not in gone), rows.complete)
        return rows

    def type(self, node: exp.Expr | None, select: exp.Select) -> str | None:
        """The Spark type of an expression in a query, or None where it isn't known."""
        return self.expression(node, select).type if isinstance(node, exp.Expr) else None

    def expression(self, node: exp.Expr, select: exp.Select) -> Column:
        """What is known of an expression in a query: its type and whether it is a window's column."""
        key = id(node), id(select)
        if key not in self._read:  # else each level of a long expression would ask for all below it again
            self._read[key] = node, self._expression(node, select)
        return self._read[key][1]

    def _expression(self, node: exp.Expr, select: exp.Select) -> Column:
        if isinstance(node, exp.Paren):
            return self.expression(node.this, select)
        if isinstance(node, exp.Subquery):
            return Column("", self._scalar(node))
        known: Column | None = None
        if isinstance(node, exp.Column):
            known = self.find(node, select) or Column(node.name)
        elif isinstance(node, exp.Anonymous):
            known = self._call(node, select)
        if known and known.type is not None:
            return known
        type_ = self._rules.type_of(node, lambda operand: self.type(operand, select))
        return replace(known, type=type_) if known and type_ else known or Column("", type_)

    def _scalar(self, query: exp.Subquery) -> str | None:
        """The type of the one value that a query in an expression gives."""
        inner = query.unnest()
        if isinstance(inner, exp.Select) and len(inner.expressions) == 1 and not inner.expressions[0].is_star:
            return self.type(inner.expressions[0], inner)
        columns = self.columns(query)
        return columns.items[0].type if len(columns.items) == 1 else None

    def _call(self, node: exp.Anonymous, select: exp.Select) -> Column | None:
        """What PROCTIME() and an auxiliary function such as TUMBLE_START(ts, ...) are; None for other calls."""
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

    def find(self, column: exp.Column, select: exp.Select) -> Column | None:
        """The column that a reference means, where exactly one can be meant: of FROM, or of a query around."""
        found = self.candidates(column, select)
        return found[0] if found is not None and len(found) == 1 else None

    def candidates(self, column: exp.Column, select: exp.Select) -> list[Column] | None:
        """The columns that a reference may mean; None where nobody knows all columns in scope."""
        if isinstance(select, Opaque):
            return None
        table = column.table.casefold()
        match = match_of(column)
        if match is not None:
            rows = self.columns(match.this)
            known = rows.find(column.name)
            return [known] if known else [] if rows.complete else None
        scope = [s for s in sources(select) if not table or s.alias_or_name.casefold() == table]
        columns = [self.columns(s) for s in scope]
        found = [c for c in (known.find(column.name) for known in columns) if c]
        if not all(known.complete for known in columns) or select.args.get("laterals"):
            return found or None
        if found:
            return found
        outer = select.find_ancestor(exp.Select)
        return self.candidates(column, outer) if outer else []


def sources(select: exp.Select) -> list[exp.Expr]:
    """What stands in a query's FROM and joins."""
    from_ = select.args.get("from_") or select.args.get("from")
    found = [from_.this] if from_ else []
    for relation in list(found):
        found += [j.this for j in relation.args.get("joins") or []]
    return found + [j.this for j in select.args.get("joins") or []]


def name_of(relation: exp.Expr) -> str | None:
    """By which name a SELECT knows a relation; an unnamed subquery goes by its only table (OpenMLDB)."""
    if relation.alias_or_name:
        return quoted(relation.alias_or_name)
    if isinstance(relation, exp.Subquery) and isinstance(relation.this, exp.Select):
        inner = sources(relation.this)
        if len(inner) == 1:
            return name_of(inner[0])
    return None


def conjuncts(condition: exp.Expr | None) -> list[exp.Expr]:
    """What a condition is made of with AND, without parentheses."""
    if condition is None:
        return []
    bare = condition.unnest()
    if not isinstance(bare, exp.And):
        return [bare]
    parts = bare.flatten(unnest=False)  # not by recursion: a long condition is as deep as it is long
    return [term for part in parts for term in (conjuncts(part) if isinstance(part, exp.Paren) else [part])]


def find_cte(table: exp.Table) -> exp.CTE | None:
    """The CTE that an unqualified name in FROM means: the nearest one that is in scope."""
    name = table.name.casefold()
    node: exp.Expr = table
    while node.parent:
        parent = node.parent
        with_ = node if isinstance(node, exp.With) else (parent.args.get("with_") or parent.args.get("with"))
        if isinstance(node, exp.CTE) and isinstance(parent, exp.With):
            # Within a CTE only the CTEs before it are in scope.
            before = parent.expressions[: next(i for i, c in enumerate(parent.expressions) if c is node)]
            found = next((c for c in before if c.alias.casefold() == name), None)
            if found:
                return found
        elif isinstance(with_, exp.With) and node is not with_:
            found = next((c for c in with_.expressions if c.alias.casefold() == name), None)
            if found and found is not node:
                return found
        node = parent
    return None


def _parts(table: exp.Table) -> tuple[str, ...]:
    return tuple(part.name.casefold() for part in table.parts)


def _key(name: str) -> tuple[str, ...]:
    try:
        return _parts(exp.to_table(name, dialect="spark"))
    except SqlglotError as error:
        raise ArgumentError(f"schema: {name!r} is no name of a table") from error


def check_time(source: Source, span: Span, name: str, type_: str | None, origin: str | None) -> None:
    """Refuses a time column that is no time attribute.

    `window_start` and `window_end` are regular columns (Flink: Cascading Window Aggregation).
    """
    if origin in BOUNDS:
        raise source.error(
            span,
            f"{name} is a window's {origin}, and no time to window by: a bound falls into the next window",
            "group by window_time as well, and use it as the time column",
        )
    if origin == "proctime":
        raise source.error(
            span,
            f"{name} is PROCTIME(), which has no meaning in batch",
            "use a column that holds when the event happened",
        )
    if type_ is not None and type_ not in TIMES:
        raise source.error(
            span,
            f"the time column {name} is of type {type_}, not a timestamp",
            f"cast it in a subquery: (SELECT *, CAST({name} AS TIMESTAMP) AS event_time FROM ...)",
        )
