"""Scope of a query's names: the relations in its FROM, and their columns, rows and fields."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import takewhile

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.literals import quoted
from dbt.adapters.sparkstream.sql.core.names.paths import is_called
from dbt.adapters.sparkstream.sql.core.nested import field, fields
from dbt.adapters.sparkstream.sql.core.nodes import Opaque, enclosing, enclosing_such, once


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
    """Columns of a relation; `complete` is True if the relation has no others."""

    items: tuple[Column, ...] = ()
    complete: bool = True

    def find(self, name: str) -> Column | None:
        """The column of a name, in any case."""
        return next(iter(self.named.get(name.casefold(), ())), None)

    @cached_property
    def named(self) -> dict[str, list[Column]]:
        """Name in lower case -> its first column, in a list of one."""
        return {column.name.casefold(): [column] for column in reversed(self.items)}

    @cached_property
    def with_fields(self) -> dict[str, list[Column]]:
        """`named`, and for other names the fields of rows that are the fewest levels down."""
        found = self.named
        level = [c for c in self.items if c.type and c.type.startswith("struct")]
        while level:
            level = [Column(*inner, rows=(*c.rows, c.name)) for c in level for inner in fields(c.type) or ()]
            below: dict[str, list[Column]] = {}
            for column in level:
                below.setdefault(column.name.casefold(), []).append(column)
            found = {**below, **found}
        return found

    def renamed(self, names: list[str]) -> Columns:
        """The same columns under the names of an alias' column list."""
        if not names:
            return self
        if not self.complete or len(names) != len(self.items):
            return Columns(tuple(Column(n) for n in names))
        return Columns(tuple(replace(c, name=n) for c, n in zip(self.items, names, strict=True)))

    def __add__(self, other: Columns) -> Columns:
        return Columns(self.items + other.items, self.complete and other.complete)


_LATER = (exp.Unnest, exp.Lateral)
_Known = tuple[dict[str, list[Column]], bool]
"""Name in lower case -> columns of a relation, or fields, that it means; and whether the relation has no others."""


class _Inputs:
    """Relations in FROM and joins of a query, found by name and by column: there may be thousands of both."""

    def __init__(self, relations: Sequence[exp.Expr], known: Callable[[exp.Expr], _Known]) -> None:
        self.relations = relations
        self._known = known
        self.places = {id(relation): place for place, relation in enumerate(relations)}
        self.by_name: dict[str, list[exp.Expr]] = {}
        for relation in relations:
            self.by_name.setdefault(relation.alias_or_name.casefold(), []).append(relation)
        self._has_later = any(isinstance(relation, _LATER) for relation in relations)
        self.read = 0
        self.reading = False
        self._columns: dict[str, list[tuple[int, list[Column]]]] = {}
        self._first_incomplete = len(relations)

    def seen_from(self, place: exp.Expr) -> int:
        """The number of relations that a name at a place can mean: in UNNEST and LATERAL, only those before it."""
        around: exp.Expr | None = None
        if self._has_later:
            around = place if isinstance(place, _LATER) else enclosing(place, *_LATER)
        while around is not None:
            if id(around) in self.places:
                return self.places[id(around)]
            around = enclosing(around, *_LATER)
        return len(self.relations)

    def columns(self, name: str, count: int) -> tuple[list[Column], bool]:
        """The columns of a name in the first `count` relations, and whether these have no others."""
        if self.read < count:
            self.reading = True
            for place in range(self.read, count):
                known, complete = self._known(self.relations[place])
                for each, found in known.items():
                    self._columns.setdefault(each, []).append((place, found))
                if not complete:
                    self._first_incomplete = min(place, self._first_incomplete)
                self.read = place + 1
            self.reading = False
        named = takewhile(lambda each: each[0] < count, self._columns.get(name.casefold(), ()))
        return [column for _, found in named for column in found], self._first_incomplete >= count


class DottedNames:
    """Resolver of the dotted names in a query, such as `v`, `t.v`, `r.v` (v of the row r) or `t.r.v`.

    Args:
        columns: gives the columns of a relation.
        bare_fields: True if a field may be named without the row that it is in.
    """

    def __init__(self, columns: Callable[[exp.Expr], Columns], bare_fields: bool) -> None:
        self._columns = columns
        self._bare_fields = bare_fields
        self._inputs_of: dict[int, tuple[exp.Select, _Inputs]] = {}

    def _inputs(self, select: exp.Select, place: exp.Expr) -> tuple[_Inputs, int]:
        """The inputs of a query, and how many of them a name at a place in it can mean."""
        if id(select) not in self._inputs_of:
            self._inputs_of[id(select)] = select, _Inputs(sources(select), self._known)
        inputs = self._inputs_of[id(select)][1]
        count = inputs.seen_from(place)
        if inputs.reading and inputs.read < count:  # a name within one of the inputs, whose columns are being read
            inputs = _Inputs(inputs.relations, self._known)
        return inputs, count

    def _known(self, relation: exp.Expr) -> _Known:
        columns = self._columns(relation)
        return columns.with_fields if self._bare_fields else columns.named, columns.complete

    def is_own(self, names: list[str], place: exp.Expr, select: exp.Select) -> bool:
        """True if a name means a column of the query's own inputs, and not of a query around it."""
        inputs, count = self._inputs(select, place)
        return bool(self._qualified(names, inputs, count) or self._bare(names, inputs, count))

    def meant(self, names: list[str], place: exp.Expr, select: exp.Select) -> list[Column] | None:
        """Columns, or fields of rows, that a name at a place of a query may mean; None where columns are unknown."""
        unsure = False
        scope: exp.Select | None = select
        while scope is not None:
            if isinstance(scope, Opaque):
                return None
            inputs, count = self._inputs(scope, place)
            found = self._qualified(names, inputs, count)
            if found is None or found:
                return found
            if not unsure:
                found = self._bare(names, inputs, count)
                if found:
                    return found
                unsure = found is None or bool(scope.args.get("laterals"))
                if unsure and len(names) == 1:
                    return None  # a dotted name may still begin with an input of a query around
            scope = enclosing(scope, exp.Select)
        return None if unsure else []

    def _qualified(self, names: list[str], inputs: _Inputs, count: int) -> list[Column] | None:
        """Columns or fields that a name means if it begins with an input; None where columns are unknown."""
        for first in range(len(names) - 1, 0, -1):
            called = [s for s in inputs.by_name.get(names[first - 1].casefold(), ()) if is_called(s, names[:first])]
            known = [self._known(s) for s in called if inputs.places[id(s)] < count]
            owners = [c for named, _ in known for c in named.get(names[first].casefold(), ())]
            found = _inner(owners, names[first + 1 :], all(complete for _, complete in known))
            if found is None or found:
                return found
        return []

    def _bare(self, names: list[str], inputs: _Inputs, count: int) -> list[Column] | None:
        """Columns or fields that a name means if it begins with an input's column; None where columns are unknown.

        An input without a column of that name has the field of a row instead, where fields may be named alone.
        """
        owners, complete = inputs.columns(names[0], count)
        return _inner(owners, names[1:], complete)


def _inner(owners: list[Column], names: list[str], complete: bool) -> list[Column] | None:
    """The fields that a path leads to in some columns; None where there is none and columns may be unknown."""
    found = [inner for column in owners for inner in _within(column, names)]
    return found or ([] if complete else None)


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


def from_item(select: exp.Expr) -> exp.Expr | None:
    """First relation in a query's FROM; None without FROM."""
    from_ = select.args.get("from_")
    return from_.this if from_ else None


def relations(select: exp.Expr) -> list[exp.Expr]:
    """Relations in a query's FROM and joins; a join in parentheses is one of them."""
    first = from_item(select)
    return [*([first] if first else []), *(join.this for join in select.args.get("joins") or [])]


@once
def sources(select: exp.Select) -> list[exp.Expr]:
    """Relations in a query's FROM and joins, also in parentheses: `t JOIN (s JOIN n ON ...) ON ...`."""
    return [inner for relation in relations(select) for inner in joined(relation)]


def joined(relation: exp.Expr) -> list[exp.Expr]:
    """A relation and the relations of its own joins; a join in parentheses counts as the relations in it."""
    inner = joined(relation.this) if _is_join(relation) else [relation]
    return inner + [r for join in relation.args.get("joins") or [] for r in joined(join.this)]


def _is_join(relation: exp.Expr) -> bool:
    """True if a relation is a join in parentheses, and no query."""
    if not isinstance(relation, exp.Subquery) or relation.alias:
        return False
    inner = relation.this
    return _is_join(inner) or (not isinstance(inner, (exp.Select, exp.SetOperation)) and bool(inner.args.get("joins")))


def joins_of(node: exp.Expr) -> list[exp.Join]:
    """The joins of a query's FROM, also those within parentheses."""
    found: list[exp.Join] = list(node.args.get("joins") or [])
    around = [*relations(node), *([node.this] if _is_join(node) else [])]
    return found + [join for relation in around if not isinstance(relation, exp.Select) for join in joins_of(relation)]


@once
def merged_names(select: exp.Select) -> set[str]:
    """The names, in lower case, of the columns that joins with USING make of two."""
    return {name.name.casefold() for join in joins_of(select) for name in join.args.get("using") or []}


def name_of(relation: exp.Expr) -> str | None:
    """Name by which a SELECT knows a relation; an unnamed subquery goes by its only table (OpenMLDB). Else None."""
    if relation.alias_or_name:
        return quoted(relation.alias_or_name)
    if isinstance(relation, exp.Subquery) and isinstance(relation.this, exp.Select):
        inner = sources(relation.this)
        if len(inner) == 1:
            return name_of(inner[0])
    return None


def conjuncts(condition: exp.Expr | None) -> list[exp.Expr]:
    """Terms that AND joins into a condition, or WHERE or HAVING, without the parentheses around them; none for None."""
    if condition is None:
        return []
    bare = (condition.this if isinstance(condition, (exp.Where, exp.Having)) else condition).unnest()
    if not isinstance(bare, exp.And):
        return [bare]
    parts = bare.flatten(unnest=False)  # not by recursion: a long condition is as deep as it is long
    return [term for part in parts for term in (conjuncts(part) if isinstance(part, exp.Paren) else [part])]


@once
def find_cte(relation: exp.Expr) -> exp.CTE | None:
    """The CTE that a name in FROM means, the nearest one in scope; None for what is no name, or has a schema."""
    if not isinstance(relation, exp.Table) or relation.args.get("db"):
        return None
    name = relation.name.casefold()
    left: exp.Expr | None = None
    node = enclosing_such(relation, _brings_names)
    while node is not None:
        with_ = node.parent if isinstance(node, exp.CTE) else node.args.get("with_")
        found = _first_of(with_).get(name) if isinstance(with_, exp.With) and with_ is not left else None
        # Within a CTE only the CTEs before it are in scope.
        if found is not None and not (isinstance(node, exp.CTE) and (found.index or 0) >= (node.index or 0)):
            return found
        left = with_
        node = enclosing_such(node, _brings_names)
    return None


def _brings_names(node: exp.Expr) -> bool:
    """True if a node has names of CTEs in scope by itself: it is a CTE of a WITH, or a query that has a WITH."""
    return isinstance(node.parent, exp.With) if isinstance(node, exp.CTE) else node.args.get("with_") is not None


@once
def _first_of(with_: exp.With) -> dict[str, exp.CTE]:
    """Name of a CTE -> the first one of that name."""
    return {cte.alias.casefold(): cte for cte in reversed(with_.expressions)}
