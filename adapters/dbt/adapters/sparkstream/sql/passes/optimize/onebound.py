"""Joins and groups of windows by one bound: with one size, equal starts have equal ends.

Windows of one size end together where they begin together, so `L.window_start = R.window_start` says all that
`L.window_end = R.window_end` would say. Spark doesn't know it, takes the sides for larger than they are, and doesn't
broadcast the small one. Windows of CUMULATE that end together begin together, if the longest of them do.

GROUP BY window_start, window_end has one key too many for the same reason: a group's end is its start and the size.

Bounds of type TIMESTAMP keep both: where the clock skips an hour, one window may begin with another and end before it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.tokens import TokenType

from dbt.adapters.sparkstream.sql.core.aggregates import aggregate_name
from dbt.adapters.sparkstream.sql.core.interval import Interval
from dbt.adapters.sparkstream.sql.core.names.columns import Resolver
from dbt.adapters.sparkstream.sql.core.names.scope import conjuncts, find_cte, joins_of, sources
from dbt.adapters.sparkstream.sql.core.source import Edit, Source, Span
from dbt.adapters.sparkstream.sql.core.tree import find
from dbt.adapters.sparkstream.sql.core.types import NTZ
from dbt.adapters.sparkstream.sql.core.windows import BOUNDS, Cumulate, Hop, Tumble, WindowFunction, window_functions
from dbt.adapters.sparkstream.sql.grammar.specs import LastJoin
from dbt.adapters.sparkstream.sql.passes.optimize.grouping import plain_keys
from dbt.adapters.sparkstream.sql.passes.optimize.highest import by_rank


@dataclass(frozen=True)
class _Side:
    """The bounds of a window in each row of a relation.

    Attributes:
        names: the bounds' names in the relation, in lower case.
        windows: the same for all windows of which one bound tells the other.
        needed: the bound that tells the other.
    """

    names: tuple[str, ...]
    windows: tuple[type, Interval, Interval]
    needed: str = BOUNDS[0]


class OneBound:
    """Edits conditions that say of two relations that both bounds of their windows are equal, and GROUP BY of both."""

    def __init__(self, source: Source, resolver: Resolver) -> None:
        self._source = source
        self._resolver = resolver
        self._known: dict[int, _Side | None] = {}

    def edits(self, tree: exp.Expr, skipped: Collection[int] = ()) -> Iterator[Edit]:
        """Conditions and groups without what follows from the rest of them, but for SELECTs of which an id is given."""
        for select in find(tree, exp.Select) if window_functions(tree) else ():
            relations = {} if id(select) in skipped else {r.alias_or_name.casefold(): r for r in sources(select)}
            if len(relations) < len(sources(select)):
                continue  # two of one name
            yield from self._grouped(select, relations)
            if len(relations) < 2:
                continue
            ranked = by_rank(self._source, self._resolver, select, self._follows)
            if ranked:
                yield from ranked
            elif sum(self._bounds(relation) is not None for relation in relations.values()) > 1:
                sides = {name: self._side(relation) for name, relation in relations.items()}
                joins = [join.args.get("on") for join in joins_of(select) if not isinstance(join, LastJoin)]
                where = select.args.get("where")
                for condition in (*joins, where.this if where else None):
                    yield from self._needless(conjuncts(condition), sides)

    def _grouped(self, select: exp.Select, relations: dict[str, exp.Expr]) -> Iterator[Edit]:
        """The edits that take the end of windows out of GROUP BY, if it stands elsewhere as a column alone."""
        keys = plain_keys(select)
        if keys is None or any(select.args.get(k) for k in ("laterals", "pivots")):
            return
        columns = [key for key in keys if isinstance(key, exp.Column)]
        for name, relation in relations.items():
            side = self._side(relation)
            its = ("", name) if len(relations) == 1 else (name,)
            start, end = (
                [key for key in columns if side and key.name.casefold() == bound and key.table.casefold() in its]
                for bound in (side.names if side else BOUNDS)
            )
            if side is None or side.needed != BOUNDS[0] or not start or len(end) != 1:
                continue
            gone = self._with_comma(keys, next(place for place, key in enumerate(keys) if key is end[0]))
            items = self._alone(select, side.names[1], its)
            if gone is None or items is None:
                continue
            yield Edit(gone, lambda: "")
            length = side.windows[1].sql()
            for item in items:
                named = f" AS {self._source.written(item.this)}" if item.parent is select else ""
                text = f"{self._source.written(start[0])} + {length}{named}"
                yield Edit(self._source.span(item), lambda text=text: text)  # type: ignore[misc]

    def _with_comma(self, keys: list[exp.Expr], place: int) -> Span | None:
        """Span of a key of GROUP BY and of the comma before or behind it; None if there is a comment between."""
        spans = [self._source.span(key) for key in keys]
        first, last = (place - 1, place) if place else (0, 1)
        if last == len(keys) or self._source.text[spans[first][1] : spans[last][0]].strip() != ",":
            return None
        return (spans[first][1], spans[last][1]) if place else (spans[first][0], spans[last][0])

    def _alone(self, select: exp.Select, name: str, its: Collection[str]) -> list[exp.Column] | None:
        """The items of SELECT that are a column; None if what comes after grouping reads the column elsewhere."""
        named = {id(c): c for c in (i.unalias() for i in select.expressions) if isinstance(c, exp.Column)}
        items = {i: c for i, c in named.items() if c.name.casefold() == name and c.table.casefold() in its}
        is_given = any(c.parent is select or c.parent.alias.casefold() == name for c in items.values() if c.parent)
        before = [select.args.get(clause) for clause in ("with_", "from_", "where", "group")]
        for node in select.iter_expressions():
            if any(node is each for each in before) or isinstance(node, exp.Join):
                continue
            for found in node.find_all(exp.Column, exp.Star):
                if isinstance(found, exp.Column):
                    ordered = is_given and isinstance(found.parent, exp.Ordered) and not found.table
                    known = found.name.casefold() != name or id(found) in items or ordered
                else:
                    known = found.parent is not None and aggregate_name(found.parent) is not None
                if not known:
                    return None
        return list(items.values())

    def _follows(self, relation: exp.Expr) -> dict[str, str]:
        """Bound of a relation's windows -> the bound that tells it."""
        side = self._side(relation)
        told = dict(zip(BOUNDS, side.names, strict=True)) if side else {}
        return {name: told[side.needed] for bound, name in told.items() if side and bound != side.needed}

    def _needless(self, terms: list[exp.Expr], sides: dict[str, _Side | None]) -> Iterator[Edit]:
        """The edits that take away the terms that follow from others."""
        equal: dict[tuple[frozenset[str], str], int] = {}
        for place, term in enumerate(terms):
            found = _equal(term, sides)
            if found:
                equal.setdefault(found, place)
        gone = set()
        for (names, bound), place in equal.items():
            side = sides[min(names)]
            if side and bound != side.needed and (names, side.needed) in equal:
                gone.add(place)
        for place in gone:
            span = self._with_and(terms, place, gone)
            yield Edit(span or self._source.span(terms[place]), lambda text="" if span else "TRUE": text)  # type: ignore[misc]

    def _with_and(self, terms: list[exp.Expr], place: int, gone: Collection[int]) -> Span | None:
        """Span of a term with the AND before the term (behind the first one); None among other operators."""
        spans = [self._source.span(term) for term in terms[max(0, place - 1) : place + 2]]
        if not place and (len(terms) == 1 or 1 in gone):
            return None
        (_, before), (behind, _) = spans[:2]
        between = self._source.tokens_in((before, behind))
        if [token.token_type for token in between] != [TokenType.AND]:
            return None
        if not place:
            return spans[0][0], behind
        start = between[0].start
        return start if self._source.text[before:start].strip() else before, spans[1][1]

    def _side(self, relation: exp.Expr) -> _Side | None:
        """The bounds in each row of what is in FROM, if they are TIMESTAMP_NTZ and tell each other."""
        found = self._bounds(relation)
        columns = self._resolver.columns(relation)
        types = [columns.find(name) for name in found.names] if found else []
        return found if all(column and column.type == NTZ for column in types) else None

    def _bounds(self, relation: exp.Expr) -> _Side | None:
        if id(relation) not in self._known:
            self._known[id(relation)] = None  # ends a recursive CTE
            self._known[id(relation)] = self._read(relation)
        return self._known[id(relation)]

    def _read(self, relation: exp.Expr) -> _Side | None:
        if isinstance(relation, WindowFunction):
            return _told(relation)
        if isinstance(relation, exp.Select):
            return self._selected(relation)
        if relation.args.get("pivots") or getattr(relation, "alias_column_names", None):
            return None
        if isinstance(relation, exp.Table) and isinstance(relation.this, WindowFunction):
            return self._bounds(relation.this)
        if isinstance(relation, exp.Subquery) and not relation.args.get("joins"):
            return self._bounds(relation.this)
        cte = find_cte(relation) if isinstance(relation, exp.Table) and not relation.args.get("db") else None
        return self._bounds(cte.this) if cte and not cte.alias_column_names else None

    def _selected(self, select: exp.Select) -> _Side | None:
        """The bounds in each row of a query of one relation, which it passes on as they are."""
        more = select.args.get("group") and plain_keys(select) is None
        if more or len(sources(select)) != 1 or any(select.args.get(k) for k in ("laterals", "pivots", "kind")):
            return None
        [relation] = sources(select)
        inner = self._bounds(relation)
        if inner is None:
            return None
        names: dict[str, str] = {}
        for item in select.expressions:
            column = item.unalias()
            if isinstance(item, exp.Star):
                names.update({name: name for name in inner.names if not any(item.args.values())})
            elif isinstance(column, exp.Column) and column.table.casefold() in ("", relation.alias_or_name.casefold()):
                names.setdefault(column.name.casefold(), item.alias_or_name.casefold())
        if not set(inner.names) <= set(names):
            return None
        return _Side(tuple(names[name] for name in inner.names), inner.windows, inner.needed)


def _told(function: WindowFunction) -> _Side | None:
    window = function.window
    if isinstance(window, Cumulate):
        return _Side(BOUNDS, (Cumulate, window.size, window.offset % window.size), BOUNDS[1])
    return _Side(BOUNDS, (Tumble, window.size, Interval(0))) if isinstance(window, Tumble | Hop) else None


def _equal(term: exp.Expr, sides: dict[str, _Side | None]) -> tuple[frozenset[str], str] | None:
    """The two relations of which a term says that a bound of their windows is equal, and which bound."""
    both = [term.this, term.expression] if isinstance(term, exp.EQ) else []
    columns = [c for c in both if isinstance(c, exp.Column) and len(c.parts) == 2]
    names = frozenset(c.table.casefold() for c in columns)
    found = [sides.get(c.table.casefold()) for c in columns]
    if len(names) != 2 or found[0] is None or found[1] is None or found[0].windows != found[1].windows:
        return None
    named = zip(BOUNDS, found[0].names, found[1].names, strict=True)
    pair = tuple(c.name.casefold() for c in columns)
    return next(((names, bound) for bound, *each in named if tuple(each) == pair), None)
