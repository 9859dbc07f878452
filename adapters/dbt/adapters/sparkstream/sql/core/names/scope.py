"""Scope of a query's names: the relations in its FROM, and their columns, rows and fields."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.literals import quoted
from dbt.adapters.sparkstream.sql.core.names.paths import in_sight, is_called
from dbt.adapters.sparkstream.sql.core.nested import field, fields
from dbt.adapters.sparkstream.sql.core.nodes import Opaque
from dbt.adapters.sparkstream.sql.core.tree import enclosing, enclosing_such, once


@dataclass(frozen=True)
class Column:
    """A column of a relation.

    Attributes:
        name: its name as written.
        type: its Spark type (`timestamp_ntz`, `decimal(10,2)`), or None when unknown.
        origin: `window_start`, `window_end` or `window_time` of a window in the same statement, `proctime`, or None.
        rows: the row, and rows within it, that a field is in which is named without them.
    """

    name: str
    type: str | None = None
    origin: str | None = None
    rows: tuple[str, ...] = ()


@dataclass(frozen=True)
class Columns:
    """Columns of a relation; `complete` says whether the relation has no others."""

    items: tuple[Column, ...] = ()
    complete: bool = True

    def find(self, name: str) -> Column | None:
        """The column of a name, in any case."""
        return self._by_name.get(name.casefold())

    @cached_property
    def _by_name(self) -> dict[str, Column]:
        return {column.name.casefold(): column for column in reversed(self.items)}

    def renamed(self, names: list[str]) -> Columns:
        """The same columns under the names of an alias' column list."""
        if not names:
            return self
        if not self.complete or len(names) != len(self.items):
            return Columns(tuple(Column(n) for n in names))
        return Columns(tuple(replace(c, name=n) for c, n in zip(self.items, names, strict=True)))

    def __add__(self, other: Columns) -> Columns:
        return Columns(self.items + other.items, self.complete and other.complete)


class _Inputs:
    """What stands in FROM and joins of a query, as far as a name can mean it."""

    def __init__(self, relations: Sequence[exp.Expr]) -> None:
        self.relations = relations

    @cached_property
    def by_name(self) -> dict[str, list[exp.Expr]]:
        """Name in lower case -> the relations of that name: a query may have hundreds, and as many columns of each."""
        found: dict[str, list[exp.Expr]] = {}
        for relation in self.relations:
            found.setdefault(relation.alias_or_name.casefold(), []).append(relation)
        return found


class DottedNames:
    """What a name such as `v`, `t.v`, `r.v` (v of the row r) or `t.r.v` means.

    Args:
        columns: gives the columns of a relation.
        bare_fields: whether a field may be named without the row that it is in.
    """

    def __init__(self, columns: Callable[[exp.Expr], Columns], bare_fields: bool) -> None:
        self._columns = columns
        self._bare_fields = bare_fields
        self._inputs_of: dict[int, tuple[exp.Select, _Inputs]] = {}

    def _inputs(self, select: exp.Select, place: exp.Expr) -> _Inputs:
        """The inputs of a query that a name at a place in it can mean."""
        if id(select) not in self._inputs_of:
            self._inputs_of[id(select)] = select, _Inputs(sources(select))
        every = self._inputs_of[id(select)][1]
        seen = in_sight(every.relations, place)
        return every if seen is every.relations else _Inputs(seen)

    def is_own(self, names: list[str], place: exp.Expr, select: exp.Select) -> bool:
        """Whether a name means a column of the query's own inputs, and not of a query around it."""
        inputs = self._inputs(select, place)
        return bool(self._qualified(names, inputs) or self._bare(names, inputs.relations))

    def meant(self, names: list[str], place: exp.Expr, select: exp.Select) -> list[Column] | None:
        """What a dotted name at a place of a query may mean; None where nobody knows."""
        unsure = False
        scope: exp.Select | None = select
        while scope is not None:
            if isinstance(scope, Opaque):
                return None
            inputs = self._inputs(scope, place)
            found = self._qualified(names, inputs)
            if found is None or found:
                return found
            if not unsure:
                found = self._bare(names, inputs.relations)
                if found:
                    return found
                unsure = found is None or bool(scope.args.get("laterals"))
                if unsure and len(names) == 1:
                    return None  # a dotted name may still begin with an input of a query around
            scope = enclosing(scope, exp.Select)
        return None if unsure else []

    def _qualified(self, names: list[str], inputs: _Inputs) -> list[Column] | None:
        """The columns, and fields of rows, that a name means which begins with one of the inputs."""
        for first in range(len(names) - 1, 0, -1):
            owners = [s for s in inputs.by_name.get(names[first - 1].casefold(), ()) if is_called(s, names[:first])]
            found = self._bare(names[first:], owners) if owners else []
            if found is None or found:
                return found
        return []

    def _bare(self, names: list[str], inputs: Sequence[exp.Expr]) -> list[Column] | None:
        """The columns, and fields of rows, that a name means which begins with a column of one of the inputs.

        An input without a column of that name has the field of a row instead, where fields may be named alone.
        """
        columns = [self._columns(s) for s in inputs]
        owners = [column for known in columns for column in self._called(known, names[0])]
        found = [inner for c in owners for inner in _within(c, names[1:])]
        return found or ([] if all(c.complete for c in columns) else None)

    def _called(self, known: Columns, name: str) -> list[Column]:
        """The column of a name, or the fields of rows of that name that are the fewest levels down."""
        column = known.find(name)
        if column is not None or not self._bare_fields:
            return [column] if column else []
        level = [c for c in known.items if c.type and c.type.startswith("struct")]
        found: list[Column] = []
        while level and not found:
            level = [Column(*inner, rows=(*c.rows, c.name)) for c in level for inner in fields(c.type) or ()]
            found = [c for c in level if c.name.casefold() == name.casefold()]
        return found


def _within(column: Column, names: list[str]) -> list[Column]:
    """The field that a path such as `r.v` leads to, in a list of one; an empty list if a row has no such field."""
    bare = bool(column.rows)
    for name in names:
        if column.type is None:
            return [Column(names[-1])]
        found = field(column.type, name)
        if found is None:
            return []
        column = Column(*found, rows=(*column.rows, column.name) if bare else ())
    return [column]


@once
def sources(select: exp.Select) -> list[exp.Expr]:
    """What stands in a query's FROM and joins, also in parentheses: `t JOIN (s JOIN n ON ...) ON ...`."""
    from_ = select.args.get("from_") or select.args.get("from")
    found = [from_.this] if from_ else []
    found += [j.this for j in select.args.get("joins") or []]
    return [inner for relation in found for inner in joined(relation)]


def joined(relation: exp.Expr) -> list[exp.Expr]:
    """A relation and those that are joined to it before all of them is joined; parentheses around a join are none."""
    inner = joined(relation.this) if _is_join(relation) else [relation]
    return inner + [r for join in relation.args.get("joins") or [] for r in joined(join.this)]


def _is_join(relation: exp.Expr) -> bool:
    """Whether a relation is a join in parentheses, and no query."""
    if not isinstance(relation, exp.Subquery) or relation.alias:
        return False
    inner = relation.this
    return _is_join(inner) or (not isinstance(inner, (exp.Select, exp.SetOperation)) and bool(inner.args.get("joins")))


def joins_of(node: exp.Expr) -> list[exp.Join]:
    """The joins of a query's FROM, also those within parentheses."""
    from_ = node.args.get("from_") or node.args.get("from")
    found: list[exp.Join] = list(node.args.get("joins") or [])
    around = [*([from_.this] if from_ else []), *(join.this for join in found)]
    around += [node.this] if _is_join(node) else []
    return found + [join for relation in around if not isinstance(relation, exp.Select) for join in joins_of(relation)]


@once
def merged_names(select: exp.Select) -> set[str]:
    """The names, in lower case, of the columns that joins with USING make of two."""
    return {name.name.casefold() for join in joins_of(select) for name in join.args.get("using") or []}


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


@once
def find_cte(table: exp.Table) -> exp.CTE | None:
    """The CTE that an unqualified name in FROM means: the nearest one that is in scope."""
    name = table.name.casefold()
    left: exp.Expr | None = None
    node = enclosing_such(table, _brings_names)
    while node is not None:
        with_ = node.parent if isinstance(node, exp.CTE) else _with(node)
        found = _first_of(with_).get(name) if isinstance(with_, exp.With) and with_ is not left else None
        # Within a CTE only the CTEs before it are in scope.
        if found is not None and not (isinstance(node, exp.CTE) and (found.index or 0) >= (node.index or 0)):
            return found
        left = with_
        node = enclosing_such(node, _brings_names)
    return None


def _brings_names(node: exp.Expr) -> bool:
    """Whether names of CTEs mean something in a node: it is a CTE behind others, or a query with some."""
    return isinstance(node.parent, exp.With) if isinstance(node, exp.CTE) else _with(node) is not None


def _with(node: exp.Expr) -> exp.Expr | None:
    return node.args.get("with_") or node.args.get("with")


@once
def _first_of(with_: exp.With) -> dict[str, exp.CTE]:
    """Name of a CTE -> the first one of that name."""
    return {cte.alias.casefold(): cte for cte in reversed(with_.expressions)}
